"""`oribi completion`: the script that makes a shell complete commands, options and names."""

from __future__ import annotations

import click

from oribi.cli.flags import examples, global_options


@click.command(
    "completion",
    epilog=examples(
        "oribi completion bash >> ~/.bashrc",
        "oribi completion zsh >> ~/.zshrc",
        "oribi completion fish > ~/.config/fish/completions/oribi.fish",
    ),
)
@global_options()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> None:
    """Print the completion script of a shell."""
    from click.shell_completion import get_completion_class

    from oribi.cli.root import root

    kind = get_completion_class(shell)
    if kind is None:
        raise click.UsageError(f"no completion for {shell!r}", click.get_current_context())
    click.echo(kind(root, {}, "oribi", "_ORIBI_COMPLETE").source())
