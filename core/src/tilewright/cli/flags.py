"""Knows the flags that several commands share, and how they become Options.
Does not know the commands.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from tilewright.boards import read_board
from tilewright.decisions import Decisions
from tilewright.errors import usage_error
from tilewright.options import Options

_UNITS = {"": 1, "B": 1, "K": 1 << 10, "KB": 1 << 10, "KIB": 1 << 10, "M": 1 << 20, "MB": 1 << 20, "MIB": 1 << 20}


def model_flags(command: Callable[..., Any]) -> Callable[..., Any]:
    """MODEL, --target and everything that changes what is planned."""
    return _what(required=True)(plan_flags(command))


def model_or_group_flags(command: Callable[..., Any]) -> Callable[..., Any]:
    """The same, where a group file may stand for MODEL and --target."""
    group = click.option(
        "--group",
        type=click.Path(path_type=Path),
        metavar="FILE.toml",
        help="Several models in one program, sharing memory, instead of MODEL and --target.",
    )
    return _what(required=False)(group(plan_flags(command)))


def _what(*, required: bool) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def add(command: Callable[..., Any]) -> Callable[..., Any]:
        target = click.option(
            "-t", "--target", required=required, metavar="NAME", help="Target to compile for (`tilewright targets`)."
        )
        return click.argument("model", type=click.Path(path_type=Path), required=required)(target(command))

    return add


def plan_flags(command: Callable[..., Any]) -> Callable[..., Any]:
    """Everything that changes what is planned."""
    flags = (
        click.option(
            "-n", "--name", default="", metavar="PREFIX", help="C prefix of every symbol. Default: the file's name."
        ),
        click.option("--dim", "dims", multiple=True, metavar="NAME=VALUE", help="Extent of a symbolic dimension."),
        click.option(
            "--board",
            type=click.Path(path_type=Path),
            metavar="FILE.toml|NAME",
            help="Memories of your board instead of the target's own: described in a file, or by an installed package.",
        ),
        click.option("--memory", multiple=True, metavar="NAME=BYTES", help="Hard limit of a memory, as 65536 or 64K."),
        click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="A setting of the target."),
        click.option("--allocator", default="auto", show_default=True, metavar="NAME", help="Who places buffers."),
        click.option("--tiler", default="auto", show_default=True, metavar="NAME", help="Who cuts layers into tiles."),
        click.option(
            "--buffering",
            type=click.Choice(["single", "double", "auto"]),
            default="auto",
            show_default=True,
            help="Tile buffers of a tensor that travels more than once; auto doubles where it pays.",
        ),
        click.option(
            "--code-pass",
            "code_passes",
            multiple=True,
            metavar="NAME[:KEY=VALUE,...]",
            help="Also change the generated code: lifetimes, profile, print-tensors, passthrough, or a plugin's pass.",
        ),
        click.option(
            "--effort",
            type=click.IntRange(min=1),
            default=200_000,
            show_default=True,
            help="Work units the allocator may spend: the same plan on every machine.",
        ),
        click.option("--seed", type=int, default=0, show_default=True, help="Seed of randomised strategies."),
        click.option(
            "--pin",
            "pins",
            type=click.Path(path_type=Path),
            metavar="FILE.json",
            help="Decisions that the planner must keep, as exported.",
        ),
        click.option("--allow-external", is_flag=True, help="Read external data files that the model refers to."),
        click.option("--strict", is_flag=True, help="Treat warnings as errors."),
    )
    for flag in reversed(flags):
        command = flag(command)
    return command


def io_flag(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Where inputs and outputs live. `validate` needs --io for its vectors, and names this flag otherwise."""
    return click.option(
        *names,
        "io",
        type=click.Choice(["pool", "user"]),
        default="pool",
        show_default=True,
        help="Inputs and outputs live in the plan, or in the caller's memory.",
    )


def options_from(flags: dict[str, Any]) -> Options:
    """The Options that `model_flags` describe. TilewrightError (exit 2) for what cannot be read."""
    board: Path | None = flags["board"]
    described = board is not None and (board.suffix == ".toml" or board.is_file())
    return Options(
        name=flags["name"],
        dims={name: _natural(name, value) for name, value in _pairs("--dim", flags["dims"])},
        board=read_board(board) if board and described else None,
        memory_hierarchy=str(board) if board and not described else "",
        memory={name: parse_bytes(value) for name, value in _pairs("--memory", flags["memory"])},
        settings=dict(_pairs("--set", flags["settings"])),
        io=flags["io"],
        allocator=flags["allocator"],
        tiler=flags["tiler"],
        buffering=flags["buffering"],
        code_passes=dict(_code_pass(text) for text in flags["code_passes"]),
        effort=flags["effort"],
        seed=flags["seed"],
        allow_external=flags["allow_external"],
        pins=_pins(flags["pins"]),
    )


def typed_again(context: click.Context, leave_out: Sequence[str]) -> str:
    """What the user typed after the command's name, but for the parameters in `leave_out`: ready for a shell."""
    words: list[str] = []
    for parameter in context.command.params:
        name = parameter.name or ""
        if name in leave_out or context.get_parameter_source(name) is not ParameterSource.COMMANDLINE:
            continue
        value = context.params[name]
        flag = [max(parameter.opts, key=len)] if isinstance(parameter, click.Option) else []
        if isinstance(value, bool):
            words += flag
            continue
        for item in value if isinstance(value, tuple) else (value,):
            words += [*flag, str(item)]
    return shlex.join(words)


def parse_bytes(text: str) -> int:
    """65536, 64K, 64KiB, 1M: bytes. TilewrightError TW1101 (exit 2) for anything else."""
    found = re.fullmatch(r"(\d+)\s*([A-Za-z]*)", text.strip())
    if not found or found[2].upper() not in _UNITS:
        raise usage_error("TW1101", f"'{text}' is no size in bytes", fix=("write 65536, 64K or 1M",))
    return int(found[1]) * _UNITS[found[2].upper()]


def _pairs(flag: str, texts: Sequence[str]) -> list[tuple[str, str]]:
    pairs = []
    for text in texts:
        name, equals, value = text.partition("=")
        if not name or not equals or not value:
            raise usage_error("TW1101", f"'{flag} {text}' cannot be read", fix=(f"write it as {flag} NAME=VALUE",))
        pairs.append((name, value))
    return pairs


def _code_pass(text: str) -> tuple[str, dict[str, str]]:
    """`NAME` or `NAME:KEY=VALUE,KEY=VALUE`."""
    name, _, rest = text.partition(":")
    pairs = [item.partition("=") for item in rest.split(",") if rest]
    if not name or any(not key or not equals for key, equals, _ in pairs):
        raise usage_error(
            "TW1101", f"'--code-pass {text}' cannot be read", fix=("write it as --code-pass NAME:KEY=VALUE,KEY=VALUE",)
        )
    return name, {key: value for key, _, value in pairs}


def _natural(name: str, text: str) -> int:
    if not text.isdecimal():
        raise usage_error(
            "TW1101", f"'--dim {name}={text}' cannot be read", fix=(f"--dim {name}=1     (a whole number, 0 or more)",)
        )
    return int(text)


def _pins(file: Path | None) -> Decisions:
    if file is None:
        return Decisions()
    from tilewright.state import decisions_from_json

    try:
        return decisions_from_json(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise usage_error(
            "TW1106",
            f"cannot read the pinned decisions: {error.strerror}",
            where=str(file),
            fix=("tilewright compile ... --export-state allocated=FOLDER     shows the form, under `decisions`",),
        ) from None
