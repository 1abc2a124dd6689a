"""`oribi record`: a session as a regression test file for a user's own agents."""

from __future__ import annotations

import click

from oribi.cli.flags import Flags, examples, global_options


@click.command("record", epilog=examples("oribi record k3jf", "oribi record k3jf --to tests/refund.json"))
@global_options()
@click.argument("session", required=False)
@click.option("--to", "target", metavar="FILE", help="Where to. [default: tests/SESSION.json in the workspace]")
@click.pass_obj
def command(flags: Flags, *, session: str | None, target: str | None) -> None:
    """Make a session into a regression test file.

    The file holds all that was said and done, in one piece; "oribi test" compares it with the agent as it is then. An
    existing file is not overwritten. Its path is put on stdout.
    """
    from pathlib import Path

    from oribi.cli.find import find_session
    from oribi.cli.looking import open_to_look, print_text
    from oribi.core.errors import ConfigError
    from oribi.replay.cassette import write_cassette

    with open_to_look(flags) as app:
        found = find_session(app, session)
        content = write_cassette(app.records(found))
        file = Path(target) if target is not None else app.workspace.home / "tests" / f"{found}.json"
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("xb") as opened:
            opened.write(content)
    except FileExistsError as error:
        raise ConfigError(f"{str(file)!r} is there already; name another file, or remove it to record anew") from error
    except OSError as error:
        raise ConfigError(f"{str(file)!r} cannot be written ({error.strerror})") from error
    print_text(f"{file}\n")
