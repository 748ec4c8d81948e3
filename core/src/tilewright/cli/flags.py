"""Knows the flags that several commands share.
Does not know the commands.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from functools import reduce
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from tilewright.cli.completing import offered
from tilewright.cli.memory_flags import memory_flags
from tilewright.cli.option import option
from tilewright.cli.verbose import verbose_flag

_NETWORK = (
    option("-n", "--name", default="", metavar="PREFIX", help="C prefix of every symbol. Default: the file's name."),
    option(
        "--bind",
        "bound",
        multiple=True,
        metavar="NAME=VALUE",
        help="An input that is always the same: a number for every element, or FILE.npy.",
    ),
    option(
        "--dim",
        "dims",
        multiple=True,
        metavar="NAME=VALUE",
        help="Extent of a symbolic dimension. A first one that inputs share is 1 unless given.",
    ),
    option(
        "--io-type",
        "io_types",
        multiple=True,
        metavar="TYPE|NAME=TYPE",
        help="Inputs and outputs are handed over as the integers they are quantised to (int8, uint8, int16, "
        "uint16); or one of them is. Default: as in the model.",
    ),
)
_SEARCH = (
    option(
        "--allocator",
        default="auto",
        show_default=True,
        metavar="NAME",
        help="Who places buffers.",
        shell_complete=offered("allocator"),
    ),
    option(
        "--tiler",
        default="auto",
        show_default=True,
        metavar="NAME",
        help="Who cuts layers into tiles.",
        shell_complete=offered("tiler"),
    ),
    option(
        "--buffering",
        type=click.Choice(["single", "double", "auto"]),
        default="auto",
        show_default=True,
        help="Tile buffers of a tensor copied more than once; auto doubles where it pays.",
    ),
    option(
        "--groups",
        type=click.IntRange(min=1),
        default=None,
        metavar="N",
        help="Longest chain of steps joined by values that stay in the scratchpad; 1 is layer by layer. "
        "Default: any length.",
    ),
    option(
        "--optimize",
        type=click.Choice(["speed", "balanced", "ram"]),
        default="speed",
        show_default=True,
        help="On machines with one memory: ram computes layers row by row for the least memory that this gives, "
        "balanced at most 10 % slower, speed to fit or at most 1 % slower.",
    ),
    option(
        "--recompute",
        type=click.FloatRange(min=1.0),
        default=1.0,
        show_default=True,
        metavar="TIMES",
        help="Columns of an image may be computed again, where that saves memory: at most so many times the "
        "multiply-accumulates, as 1.2.",
    ),
    option(
        "--effort",
        type=click.IntRange(min=1),
        default=200_000,
        show_default=True,
        help="Work units the allocator may spend: the same plan on every machine.",
    ),
    option("--seed", type=int, default=0, show_default=True, help="Seed of randomised strategies."),
)
_PROGRAM = (
    option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="A setting of the target."),
    option(
        "--code-pass",
        "code_passes",
        multiple=True,
        metavar="NAME[:KEY=VALUE,...]",
        help="Also change the generated code: lifetimes, profile, print-tensors, passthrough, or a plugin's pass.",
    ),
    option(
        "--clock",
        default="",
        metavar="FREQUENCY",
        help="Clock of the processor, as 80MHz: estimated cycles are shown as milliseconds, too.",
    ),
)
limit_flag = option(
    "--limit",
    "limits",
    multiple=True,
    metavar="NAME=AMOUNT",
    help="Let the file ask for more, or less: tensor, constants, folded and file (bytes, as 1G), nodes, initializers.",
)
external_flag = option(
    "--allow-external/--no-external",
    default=None,
    help="Read files with tensors in folders below the model's, too; or none at all. Default: those beside the model.",
)
_READING = (
    limit_flag,
    external_flag,
    option("--strict", is_flag=True, help="Treat warnings as errors."),
)


def layout_flag(command: Callable[..., Any]) -> Callable[..., Any]:
    """`--layout`: into how many files C is written."""
    return option(
        "--layout",
        type=click.Choice(["single", "split"]),
        default="single",
        show_default=True,
        help="Kernels in the network's own file, or in a header beside it.",
    )(command)


def model_flags(command: Callable[..., Any]) -> Callable[..., Any]:
    """MODEL, --target and everything that changes what is planned."""
    return _what(required=True)(plan_flags(command))


def model_or_group_flags(command: Callable[..., Any]) -> Callable[..., Any]:
    """The same, where a group file may stand for MODEL and --target."""
    group = option(
        "--group",
        type=click.Path(path_type=Path),
        metavar="FILE.toml",
        help="Several models in one program, sharing memory, instead of MODEL and --target.",
    )
    return _what(required=False)(group(plan_flags(command)))


def _what(*, required: bool) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def add(command: Callable[..., Any]) -> Callable[..., Any]:
        target = option(
            "-t",
            "--target",
            required=required,
            metavar="NAME",
            help="Target to compile for (`tilewright targets`).",
            shell_complete=offered("platform"),
        )
        return click.argument("model", type=click.Path(path_type=Path), required=required)(target(command))

    return add


def plan_flags(command: Callable[..., Any]) -> Callable[..., Any]:
    """Everything that changes what is planned."""
    flags = (*_NETWORK, memory_flags, *_SEARCH, *_PROGRAM, *_READING, verbose_flag)
    return reduce(lambda made, flag: flag(made), reversed(flags), command)


def program_typed(context: click.Context) -> str:
    """`tilewright`, with the flag that stood before the command's name: without it a project's file would speak."""
    whole = context.find_root()
    return "tilewright --no-project" if whole.params.get("no_project") else "tilewright"


def typed_again(context: click.Context, leave_out: Sequence[str]) -> str:
    """What the user typed after the command's name, but for the parameters in `leave_out`: ready for a shell."""
    words: list[str] = []
    for parameter in context.command.params:
        name = parameter.name or ""
        mine = parameter.expose_value and name not in leave_out
        if not mine or context.get_parameter_source(name) is not ParameterSource.COMMANDLINE:
            continue
        value = context.params[name]
        flag = [max(parameter.opts, key=len)] if isinstance(parameter, click.Option) else []
        if isinstance(value, bool):
            words += flag if value else parameter.secondary_opts
            continue
        for item in value if isinstance(value, tuple) else (value,):
            words += [*flag, str(item)]
    return shlex.join(words)
