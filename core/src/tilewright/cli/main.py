"""Knows the list of commands, and how every error becomes text on stderr and an exit code.
Does not know what any command does; its module is imported when it is called.
"""

from __future__ import annotations

import gc
import importlib
import os
import sys
from typing import NoReturn

import click

from tilewright import __version__
from tilewright.cli.option import examples, option
from tilewright.errors import Exit, TilewrightError, typed, usage_error

# Objects made between two looks for cycles, of which values have none. Looks at every 700 took a tenth of it all, at
# every 200,000 a twenty-fifth, for 20 MB that a compilation of 1,000 layers leaves in cycles.
_OBJECTS = 2_000_000
_IN_VALIDATE = {"--place-io": "--io"}  # flag of `validate` -> what other commands call it
_UNSEEN = "mako.ext.pygmentplugin"  # colours of Mako's error pages, and with them half of a highlighter: 24 ms
COMMANDS = {
    "demo": "A trained network compiled, built, run and checked: ten seconds.",
    "check": "Will it compile, will it fit, what will it cost? Writes nothing.",
    "fit": "Which parts run it? The smallest ones, with what is left and how fast.",
    "sweep": "Plan with every combination of flags: tables, and the points that nothing beats.",
    "why": "Why is one step computed as it is? Candidates, costs, refusals, places.",
    "compile": "Generate the C library, its headers and the report.",
    "validate": "Run the generated code and compare every step with its reference.",
    "judge": "Say who is right where tilewright and another runtime differ.",
    "bench": "Run the generated code and count what it costs, step by step.",
    "quantize": "From a float network and samples to an int8 one, and what that costs.",
    "report": "Show a report.json again, as text, Markdown, CSV, a picture or a page.",
    "diff": "Compare two reports, and fail when a limit on growth is broken.",
    "plan": "Place the blocks of an allocation problem and compare allocators.",
    "targets": "List the installed targets, or describe one.",
    "boards": "List boards and parts by name, or describe one.",
    "ops": "List the operators, and the kernels of a target that compute them.",
    "plugins": "List the installed plugins, or examine their health.",
    "new-target": "Write a package with a target of your own, tests and CI, ready to be edited.",
    "new-plugin": "Write a package with an allocator, tiler, pass, runner, importer or exporter.",
    "explain": "Explain an error code at length.",
    "completion": "Print what bash, zsh or fish reads to complete commands, flags and names.",
    "doctor": "Say what is installed, what is missing and what to install.",
}
COMPLETION = "_TILEWRIGHT_COMPLETE"  # what `tilewright completion` tells shells to set
_TYPED = "tilewright.typed"  # where a context has all words of the command line
ALIASES = {"analyze": "check", "generate": "compile"}  # words that users of other tools type


class LazyGroup(click.Group):
    """Commands by name, imported when called: `tilewright.cli.commands.NAME_command`, or what a plugin loads."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.meta[_TYPED] = tuple(args)
        return super().parse_args(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*COMMANDS, *_plugin_commands()]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        name = ALIASES.get(cmd_name, cmd_name)
        if name in COMMANDS:
            module = f"tilewright.cli.commands.{name.replace('-', '_')}_command"
            command: click.Command = importlib.import_module(module).command
            return command
        if name not in _plugin_commands():
            return None
        from tilewright.plugins import load_named

        return load_named(("command", name)).commands[name].load()

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        known = args[0] in COMMANDS or args[0] in ALIASES or args[0].startswith("-")
        if not known and args[0] not in self.list_commands(ctx):
            from tilewright.errors.suggestions import did_you_mean

            similar = "".join(f": {line}" for line in did_you_mean(args[0], self.list_commands(ctx)))
            raise click.UsageError(f"there is no command '{args[0]}'{similar}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))
        added = _plugin_commands()
        if added:
            with formatter.section("Commands of plugins"):
                formatter.write_dl([(name, f"from {package}") for name, package in added.items()])


def _plugin_commands() -> dict[str, str]:
    """Names of commands that installed packages announce, and the package of each. Imports none of them."""
    from tilewright.plugins.kinds import announced_names

    if COMMANDS.keys() >= set(announced_names("command")):
        return {}
    from tilewright.plugins.catalogue import discover

    return {
        offer.name: f"{package.name} {package.version}"
        for package in discover().packages
        for offer in package.offers
        if offer.kind == "command" and offer.name not in COMMANDS
    }


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    epilog=examples(
        "check model.onnx --target cortex-m4",
        "compile model.onnx --target cortex-m4 -o model",
        "validate model.onnx --target generic",
        "compile --help",
    ),
)
@click.version_option(__version__, prog_name="tilewright")
@option("--no-project", is_flag=True, help="Leave the project's tilewright.toml or pyproject.toml alone.")
@click.pass_context
def tilewright(context: click.Context, no_project: bool) -> None:
    """ONNX in, C out, for machines whose memory is placed by hand."""
    from pathlib import Path

    from tilewright.cli.project_file import project_defaults

    name = context.invoked_subcommand
    if name and not no_project and isinstance(context.command, click.Group):
        known = ALIASES.get(name, name)
        context.default_map = {
            name: project_defaults(context, context.command, known, Path.cwd(), context.meta[_TYPED])
        }


def main() -> NoReturn:
    """Run the command line and exit with a documented code; or answer a shell that completes a line."""
    if instruction := os.environ.get(COMPLETION):
        from click.shell_completion import shell_complete

        sys.exit(shell_complete(tilewright, {}, "tilewright", COMPLETION, instruction))
    gc.set_threshold(_OBJECTS)
    sys.modules[_UNSEEN] = None  # type: ignore[assignment]  # how Python says that a module is not to be had
    code = _run(sys.argv[1:])
    gc.freeze()  # what there is, nobody has to look through for cycles before the process ends
    sys.exit(code)


def _run(arguments: list[str]) -> int:
    """The exit code. All that a user sees of an error is written here."""
    try:
        with tilewright.make_context("tilewright", arguments) as context:
            tilewright.invoke(context)
    except click.exceptions.Exit as request:
        return request.exit_code
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        return Exit.USAGE
    except click.ClickException as error:
        _complain(_usage(error))
        return Exit.USAGE
    except TilewrightError as error:
        _complain(error)
        return error.exit_code
    except (KeyboardInterrupt, click.Abort):
        click.echo("interrupted: nothing was written", err=True)
        return Exit.INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # whoever read our output has left
        return Exit.OK
    except Exception as error:  # whatever it is, the user gets a code and a sentence
        return _unexpected(error)
    return Exit.OK


def _complain(error: TilewrightError) -> None:
    from tilewright.cli.output import complain

    complain(error)


def _unexpected(error: Exception) -> int:
    """The exit code of what no command foresees: output that goes nowhere, a plugin that fails, or a bug of ours."""
    known = _lost_output(error) or _plugin_failure(error)
    if known:
        _complain(known)
        return known.exit_code
    click.echo(_bug_report(error), err=True)
    return Exit.INTERNAL


def _lost_output(error: Exception) -> TilewrightError | None:
    """TW1107 (exit 2) where `click.echo`, through which everything is said, could not write: a full disk, mostly."""
    import traceback

    from tilewright.snapshot.atomic_folder import unwritable

    *_, (frame, _) = traceback.walk_tb(error.__traceback__)
    if not isinstance(error, OSError) or frame.f_code is not click.echo.__code__:
        return None
    name, stream = ("standard error", sys.stderr) if frame.f_locals["err"] else ("standard output", sys.stdout)
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())  # Python flushes it once more at its end
    return unwritable(name, error)


def _plugin_failure(error: Exception) -> TilewrightError | None:
    from tilewright.plugins.catalogue import discover
    from tilewright.plugins.host import plugin_failure

    return plugin_failure(error, discover().packages)


def _usage(error: click.ClickException) -> TilewrightError:
    """What click says about a command line, in the form of every other error."""
    context = error.ctx if isinstance(error, click.UsageError) else None
    message = " ".join(error.format_message().split()).rstrip(".")
    fix = typed(*(context.command_path if context else "tilewright").split(), "--help")
    return usage_error("TW1100", message, details=(*_named_otherwise(error), *_meant(error)), fix=(fix,))


def _meant(error: click.ClickException) -> tuple[str, ...]:
    """The value of a flag that looks most like what was typed."""
    from tilewright.errors.suggestions import did_you_mean

    choice = getattr(getattr(error, "param", None), "type", None)
    if not isinstance(error, click.BadParameter) or not isinstance(choice, click.Choice):
        return ()
    return did_you_mean(error.message.partition(" is not one of ")[0].strip("'"), choice.choices)


def _named_otherwise(error: click.ClickException) -> tuple[str, ...]:
    """What this command calls an option that `validate` has under another name."""
    if isinstance(error, click.NoSuchOption) and error.ctx is not None:
        name = _IN_VALIDATE.get(error.option_name, "")
        if any(name in parameter.opts for parameter in error.ctx.command.params):
            return (f"{error.option_name} is the name in `validate`; here it is {name}",)
    return ()


def _bug_report(error: Exception) -> str:
    import traceback

    frames = traceback.format_exception(error)
    return "".join(frames) + (
        f"error[TW9001]: internal error: {type(error).__name__}: {error}\n"
        "  This is a bug in tilewright, not in your model.\n"
        "  try:  report it with the text above, the model, and the output of `tilewright doctor`"
    )
