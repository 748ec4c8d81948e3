"""Knows the flags that several commands share, and the file that `--trace` writes. Does not know the commands."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.core import ParameterSource

from tilewright.cli.log_display import verbose_flag
from tilewright.cli.option import FiniteRange, offered, option
from tilewright.cli.output import progress

if TYPE_CHECKING:
    from tilewright.config.options import Options
    from tilewright.deployment import Deployment
    from tilewright.ir.programs.runner import RunResult

Command = TypeVar("Command", bound=Callable[..., Any])
bind_flag = option(
    "--bind",
    "bound",
    multiple=True,
    metavar="NAME=VALUE",
    help="An input that is always the same: a number for every element, or FILE.npy.",
)
dim_flag = option(
    "--dim",
    "dims",
    multiple=True,
    metavar="NAME=VALUE",
    help="Extent of a symbolic dimension. A first one that inputs share is 1 unless given.",
)
slide_flag = option(
    "--slide",
    default="",
    metavar="INPUT[AXIS]=HOP",
    help="A call gets HOP new elements of an input's axis, not the whole window; what is still right is kept.",
)
_NETWORK = (
    option("-n", "--name", default="", metavar="PREFIX", help="C prefix of every symbol. Default: the file's name."),
    bind_flag,
    dim_flag,
    option(
        "--io-type",
        "io_types",
        multiple=True,
        metavar="TYPE|NAME=TYPE",
        help="Inputs and outputs are handed over as the integers they are quantised to (int8, uint8, int16, "
        "uint16); or one of them is. Default: as in the model.",
    ),
    option(
        "--io-layout",
        "io_layouts",
        multiple=True,
        metavar="NAME=nhwc|nchw",
        help="An input or output is handed over channels last, where the model has [N, C, ...]. Default: as there.",
    ),
    slide_flag,
)
_MEMORIES = (
    option(
        "--board",
        type=click.Path(path_type=Path),
        metavar="FILE.toml|NAME",
        help="Memories of your board instead of the target's own, its clock, and its target where none is given: a "
        "file, or a board or part by name (`tilewright boards`).",
    ),
    option("--memory", multiple=True, metavar="NAME=BYTES", help="Hard limit of a memory, as 65536 or 64K."),
    option(
        "--pool",
        "pools",
        multiple=True,
        metavar="NAME:SIZE[,...]",
        help="A memory instead of the target's; the first is preferred. Further: ro (constants), soft (may be "
        "exceeded, with a warning), section=.NAME, base=0x..., ENGINE=rw|ro|none.",
    ),
)
_CONTENTS = (
    option(
        "--pin",
        "pins",
        multiple=True,
        metavar="PATTERN=POOL|FILE.json",
        help="Keep a tensor, layer or weight in a memory; or decisions that were exported.",
    ),
    option(
        "--stage",
        "stages",
        multiple=True,
        metavar="PATTERN=POOL[,when=init|use]|auto",
        help="Copy constants to a faster memory, once (init) or before each use; auto: where the costs favour it.",
    ),
    option(
        "--state",
        "states",
        multiple=True,
        metavar="OUT:IN[=VALUE]|auto",
        help="An output that is an input of the next run; VALUE (a number or FILE.npy) is what that is at first. "
        "auto: those that are recognised.",
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
        help="On machines with one memory: ram takes the least memory, row by row and with kernels of less scratch "
        "where these pay (--memory asks for slower ones; check --front shows them), balanced at most 10 % slower, "
        "speed to fit or at most 1 % slower.",
    ),
    option(
        "--recompute",
        type=FiniteRange(min=1.0),
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
        "--arithmetic",
        multiple=True,
        metavar="[PATTERN=]NAME",
        help="What integer layers compute: onnx, tflm, pulp-shift or one of the target's; PATTERN=... is about some. "
        "Default: what the file means.",
    ),
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
    help="Let the file ask for more, or less: tensor, constants, folded and file (bytes, as 1G), nodes, steps and "
    "initializers.",
)
network_flag = option(
    "--network",
    default="",
    metavar="NAME",
    help="Of a file that has several networks, such as the signatures of a .tflite, the one of this name. Default: the "
    "first.",
)
external_flag = option(
    "--allow-external/--no-external",
    default=None,
    help="Read files with tensors in folders below the model's, too; or none at all. Default: those beside the model.",
)
_READING = (
    network_flag,
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
    """MODEL, --target or --board, and everything that changes what is planned."""
    return _model_and_target(model_required=True)(plan_flags(command))


def model_or_group_flags(command: Callable[..., Any]) -> Callable[..., Any]:
    """The same, where a group file may stand for MODEL and --target."""
    group = option(
        "--group",
        type=click.Path(path_type=Path),
        metavar="FILE.toml",
        help="Several models in one program, sharing memory, instead of MODEL and --target.",
    )
    return _model_and_target(model_required=False)(group(plan_flags(command)))


def _model_and_target(*, model_required: bool) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def add(command: Callable[..., Any]) -> Callable[..., Any]:
        target = option(
            "-t",
            "--target",
            metavar="NAME",
            help="Target to compile for (`tilewright targets`); a board brings its own.",
            shell_complete=offered("platform"),
        )
        return click.argument("model", type=click.Path(path_type=Path), required=model_required)(target(command))

    return add


def target_of(flags: Mapping[str, Any], options: Options) -> str:
    """The target that was typed, else that of the board that was typed, else the project's, else its board's.
    click.MissingParameter where none is there.
    """
    context, target = click.get_current_context(), flags["target"]
    typed = [context.get_parameter_source(name) is ParameterSource.COMMANDLINE for name in ("target", "board")]
    boards = options.board.target if options.board else ""
    result: str = (typed == [False, True] and boards) or target or boards
    if not result:
        (parameter,) = (known for known in context.command.params if known.name == "target")
        raise click.MissingParameter(ctx=context, param=parameter)
    return result


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


def memory_flags(command: Callable[..., Any]) -> Callable[..., Any]:
    """Which memories there are, and what is in them."""
    return reduce(lambda made, flag: flag(made), reversed((*_MEMORIES, *_CONTENTS)), command)


def io_flag(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Where inputs and outputs live. `validate` needs --io for its vectors, and names this flag otherwise."""
    return option(
        *names,
        "io",
        multiple=True,
        metavar="pool|user|push|pull|NAME=...",
        help="Inputs and outputs live in the plan (pool, the default) or in the caller's memory (user), or inputs "
        "arrive in rows (push), or outputs are taken in rows (pull); NAME=... is about one of them.",
    )


def runner_flag(command: Command) -> Command:
    """`--on RUNNER`."""
    return option(
        "--on",
        "runner_name",
        default="",
        metavar="RUNNER",
        help="Where to run; default: the target's first.",
        shell_complete=offered("runner"),
    )(command)


def trace_flag(command: Command) -> Command:
    """`--trace FILE.json`."""
    return option(
        "--trace",
        "trace_file",
        type=click.Path(path_type=Path),
        metavar="FILE.json",
        help="Write a trace for ui.perfetto.dev: the plan's estimate, and what the runner measured if it has a clock.",
    )(command)


def write_trace(deployment: Deployment, result: RunResult, file: Path) -> None:
    """The estimate and the measurement in one file. TilewrightError (exit 2) when it cannot be written."""
    from tilewright.report.plain_text import json_text
    from tilewright.report.report_json import build_report
    from tilewright.report.trace import build_trace
    from tilewright.snapshot.atomic_folder import write_file

    if result.timeline is None:
        progress("the runner has no clock: the trace holds the plan's estimate only")
    trace = build_trace(build_report(deployment, artifacts=False), result.timeline, result.clock)
    write_file(file, json_text(trace).encode())
