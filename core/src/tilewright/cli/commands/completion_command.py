"""Knows `tilewright completion`: what a shell reads to complete commands, flags, and names of installed targets."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from tilewright.cli.option import examples
from tilewright.cli.output import hand_over

SHELLS = ("bash", "zsh", "fish")


@click.command("completion", epilog=examples("completion bash"))
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def command(context: click.Context, shell: str) -> None:
    """Print what SHELL reads to complete tilewright's commands, flags and names.

    Add to ~/.bashrc or ~/.zshrc: eval "$(tilewright completion bash)". For fish, once:
    tilewright completion fish > ~/.config/fish/completions/tilewright.fish
    """
    made = get_completion_class(shell)
    if made is None:
        raise RuntimeError(f"click completes nothing for {shell}")
    group = context.find_root().command
    hand_over(made(group, {}, "tilewright", "_TILEWRIGHT_COMPLETE").source().rstrip("\n"))
