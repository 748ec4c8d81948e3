"""Knows the flags about memory that several commands share: pools, pins, copies, state, inputs and outputs.
Does not know the commands.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from pathlib import Path
from typing import Any

import click

from tilewright.cli.option import option

_MEMORIES = (
    option(
        "--board",
        type=click.Path(path_type=Path),
        metavar="FILE.toml|NAME",
        help="Memories of your board instead of the target's own: described in a file, or by an installed package.",
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
        metavar="OUT:IN[=VALUE]",
        help="An output that is an input of the next run; VALUE (a number or FILE.npy) is what that is at first.",
    ),
)


def memory_flags(command: Callable[..., Any]) -> Callable[..., Any]:
    """Which memories there are, and what is where."""
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
