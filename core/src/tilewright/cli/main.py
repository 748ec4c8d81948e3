"""Knows the list of commands, and how every error becomes text on stderr and an exit code.
Does not know what any command does; its module is imported when it is called.
"""

from __future__ import annotations

import importlib
import sys
from typing import NoReturn

import click

from tilewright import __version__
from tilewright.errors import Exit, TilewrightError

COMMANDS = {
    "check": "Will it compile, will it fit, what will it cost? Writes nothing.",
    "compile": "Generate the C library, its headers and the report.",
    "validate": "Run the generated code and compare every step with its reference.",
    "report": "Show a report.json again, as text, Markdown or CSV.",
    "targets": "List the installed targets, or describe one.",
    "ops": "List the operators a target supports, with every constraint.",
    "plugins": "List the installed plugins, or examine their health.",
    "explain": "Explain an error code at length.",
    "doctor": "Say what is installed, what is missing and what to install.",
}
ALIASES = {"analyze": "check", "generate": "compile"}  # words that users of other tools type


class LazyGroup(click.Group):
    """Commands by name, imported from `tilewright.cli.NAME_command` only when needed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        name = ALIASES.get(cmd_name, cmd_name)
        if name not in COMMANDS:
            return None
        command = importlib.import_module(f"tilewright.cli.{name}_command").command
        return command if isinstance(command, click.Command) else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="tilewright")
def tilewright() -> None:
    """ONNX in, C out, for machines whose memory is placed by hand."""


def main() -> NoReturn:
    """Run the command line and exit with a documented code."""
    try:
        tilewright.main(standalone_mode=False)
        sys.exit(Exit.OK)
    except click.exceptions.Exit as request:
        sys.exit(request.exit_code)
    except click.ClickException as error:
        error.show()
        sys.exit(Exit.USAGE)
    except TilewrightError as error:
        click.echo(str(error), err=True)
        sys.exit(error.exit_code)
    except (KeyboardInterrupt, click.Abort):
        click.echo("interrupted: nothing was written", err=True)
        sys.exit(Exit.INTERRUPTED)
    except BrokenPipeError:
        sys.stderr.close()  # whoever read our output has left: not an error
        sys.exit(Exit.OK)
    except Exception as error:  # anything else is our bug
        click.echo(_bug_report(error), err=True)
        sys.exit(Exit.INTERNAL)


def _bug_report(error: Exception) -> str:
    import traceback

    frames = traceback.format_exception(error)
    return "".join(frames) + (
        f"error[TW9001]: internal error: {type(error).__name__}: {error}\n"
        "  This is a bug in tilewright, not in your model.\n"
        "  try:  report it with the text above, the model, and the output of `tilewright doctor`"
    )
