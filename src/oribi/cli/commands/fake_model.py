"""`oribi fake-model`: a scripted model behind the real wires."""

from __future__ import annotations

import click

from oribi.cli.flags import examples, global_options


@click.command("fake-model", epilog=examples("oribi fake-model --port 8123 --script replies.yaml"))
@global_options()
@click.option(
    "--port", default=0, show_default=True, type=click.IntRange(0, 65_535), help="Where; 0 means any free one."
)
@click.option("--script", required=True, metavar="FILE", help="What it answers, in YAML or JSON.")
def command(port: int, script: str) -> None:
    """Serve a scripted model on this machine, for tests.

    It speaks the OpenAI and the Anthropic wire, strictly, on 127.0.0.1, and prints its address once it listens. Ctrl-C
    ends it. What a script can say is described in oribi.testing.script_reader.
    """
    from pathlib import Path

    from oribi.testing.fake_server import serve

    serve(port, Path(script))
