"""`python -m oribi`: the command line."""

from __future__ import annotations

from oribi.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
