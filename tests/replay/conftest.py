"""The program, for the commands of replay."""

from tests.cli.conftest import program, warm

__all__ = ["program", "warm"]
