"""Knows the flags about memory that several commands share: pools, pins, copies, state, inputs and outputs.
Does not know the commands.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal, cast

import click

from tilewright.config.boards import Board
from tilewright.config.copied_constants import AUTO, CopyRule, parse_copy
from tilewright.config.io_types import FLOAT, TYPES
from tilewright.config.memory_pools import PoolSpec, parse_names, parse_pool, with_details
from tilewright.errors import typed, usage_error
from tilewright.ir.decisions import Decisions

Io = Literal["pool", "user"]


def memory_flags(command: Callable[..., Any]) -> Callable[..., Any]:
    """Which memories there are, and what is where."""
    flags = (
        click.option(
            "--board",
            type=click.Path(path_type=Path),
            metavar="FILE.toml|NAME",
            help="Memories of your board instead of the target's own: described in a file, or by an installed package.",
        ),
        click.option("--memory", multiple=True, metavar="NAME=BYTES", help="Hard limit of a memory, as 65536 or 64K."),
        click.option(
            "--pool",
            "pools",
            multiple=True,
            metavar="NAME:SIZE[,...]",
            help="A memory instead of the target's; the first is preferred. Further: ro (constants), soft (may be "
            "exceeded, with a warning), section=.NAME, base=0x..., ENGINE=rw|ro|none.",
        ),
        click.option(
            "--workspace-pools",
            "--usmp-workspace-pools",
            default="",
            metavar="A,B",
            help="--pool A --pool B, as in TVM.",
        ),
        click.option(
            "--parameter-pools",
            "--usmp-parameter-pools",
            default="",
            metavar="A,B",
            help="--pool A,ro --pool B,ro, as in TVM.",
        ),
        click.option(
            "--pool-detail",
            "pool_details",
            multiple=True,
            hidden=True,
            help="What --workspace-pool-NAME says, as in TVM.",
        ),
        click.option(
            "--pin",
            "pins",
            multiple=True,
            metavar="PATTERN=POOL|FILE.json",
            help="Keep a tensor, layer or weight in a memory; or decisions that were exported.",
        ),
        click.option(
            "--stage",
            "stages",
            multiple=True,
            metavar="PATTERN=POOL[,when=init|use]|auto",
            help="Copy constants to a faster memory, once (init) or before each use; auto: where the costs favour it.",
        ),
        click.option(
            "--state",
            "states",
            multiple=True,
            metavar="OUT:IN[=VALUE]",
            help="An output that is an input of the next run; VALUE (a number or FILE.npy) is what that is at first.",
        ),
    )
    for flag in reversed(flags):
        command = flag(command)
    return command


def io_flag(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Where inputs and outputs live. `validate` needs --io for its vectors, and names this flag otherwise."""
    return click.option(
        *names,
        "io",
        multiple=True,
        metavar="pool|user|NAME=pool|user",
        help="Inputs and outputs live in the plan (pool, the default) or in the caller's memory; or one of them does.",
    )


def pools_from(flags: dict[str, Any]) -> tuple[PoolSpec, ...]:
    """The pools of all flags, those of `--pool` first. TilewrightError TW1101 (exit 2) for what cannot be read."""
    named = [
        *(parse_names(flags["workspace_pools"], "ram") if flags["workspace_pools"] else ()),
        *(parse_names(flags["parameter_pools"], "const") if flags["parameter_pools"] else ()),
    ]
    details = [pair_of("--workspace-pool-NAME", text) for text in flags["pool_details"]]
    return (*(parse_pool(text) for text in flags["pools"]), *with_details(named, details))


def io_from(texts: Sequence[str]) -> tuple[Io, dict[str, Io]]:
    """What holds for all tensors, and what for those that were named. The last word of each counts."""
    rest: Io = "pool"
    named: dict[str, Io] = {}
    for text in texts:
        name, equals, whose = text.rpartition("=")
        if whose not in ("pool", "user") or (equals and not name):
            raise usage_error(
                "TW1101",
                f"'--io {text}' cannot be read",
                fix=(typed("--io", "user"), "write it as --io NAME=user for one input or output"),
            )
        if name:
            named[name] = cast(Io, whose)
        else:
            rest = cast(Io, whose)
    return rest, named


def io_types_from(texts: Sequence[str]) -> tuple[str, dict[str, str]]:
    """What holds for all inputs and outputs, and what for those that were named. The last word of each counts."""
    rest, named = FLOAT, dict[str, str]()
    for text in texts:
        name, equals, word = text.rpartition("=")
        if word not in (*TYPES, FLOAT) or (equals and not name):
            raise usage_error(
                "TW1101",
                f"'--io-type {text}' cannot be read",
                details=(f"TYPE is one of {', '.join((*TYPES, FLOAT))}",),
                fix=("write it as --io-type TYPE, or --io-type NAME=TYPE for one input or output",),
            )
        if name:
            named[name] = word
        else:
            rest = word
    return rest, named


def memory_pins_from(texts: Sequence[str], board: Board | None) -> tuple[tuple[str, str], ...]:
    """The patterns of a board, then those of `--pin`: later ones overrule."""
    typed = [pair_of("--pin", text) for text in texts if not is_file(text)]
    return (*(board.pins if board else ()), *typed)


def copies_from(texts: Sequence[str], board: Board | None) -> tuple[CopyRule, ...]:
    """The copies of a board, then those of `--stage`: later ones overrule. `auto` is none of them."""
    asked = [f"{pattern}={pool}" for pattern, pool in (board.constant_copies if board else ())]
    return tuple(parse_copy(text) for text in (*asked, *texts) if text != AUTO)


def decisions_from(texts: Sequence[str]) -> Decisions:
    """What the files given with `--pin` decide, later ones overruling. TilewrightError TW1106 (exit 2)."""
    decisions = Decisions()
    for text in texts:
        if is_file(text):
            decisions = decisions.pinned_by(_decisions(Path(text)))
    return decisions


def is_file(text: str) -> bool:
    """Whether a `--pin` names a file: PATTERN=POOL has an equals sign."""
    return "=" not in text or text.endswith(".json")


def pair_of(flag: str, text: str) -> tuple[str, str]:
    """`NAME=VALUE`, split at the last equals sign of a name that may have several. TW1101 (exit 2)."""
    name, equals, value = text.partition("=") if flag.startswith("--workspace") else text.rpartition("=")
    if not name or not equals or not value:
        raise usage_error("TW1101", f"'{flag} {text}' cannot be read", fix=(f"write it as {flag} NAME=VALUE",))
    return name, value


def _decisions(file: Path) -> Decisions:
    from tilewright.snapshot.saved_stage import PINS_FORM, decisions_from_json

    try:
        return decisions_from_json(file.read_text(encoding="utf-8"))
    except OSError as error:
        reason = error.strerror or str(error)
    except UnicodeDecodeError:
        reason = "it is no UTF-8 text"
    raise usage_error(
        "TW1106",
        f"cannot read the pinned decisions: {reason}",
        where=str(file),
        fix=("write --pin PATTERN=POOL to keep a tensor or layer in a memory", PINS_FORM),
    )
