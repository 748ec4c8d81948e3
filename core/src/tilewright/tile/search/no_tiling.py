"""Knows why a step does not fit the scratchpad: what it needs at least, and which loops hold it together.
Does not know how tiles are searched; it asks with other limits.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from tilewright.errors import TilewrightError, amended, memory_error, typed
from tilewright.ir.access.index_map import MapAccess
from tilewright.ir.plans.stages import Step
from tilewright.tile.machine import ScheduledMachine
from tilewright.tile.search.step_tilings import HopWithoutTiling
from tilewright.tile.search.tiling_search import TilingSearch, at_least, smallest_bytes
from tilewright.tile.space.aligned_windows import misfit
from tilewright.tile.space.tiling_space import TilingSpace, WindowTable

if TYPE_CHECKING:
    import numpy.typing as npt

_MOST_NEEDS = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Needs:
    """Why a step has no tiling: in `memory`, one of these sets of buffers must have room, and none has."""

    memory: str
    available_bytes: int  # what the step may use: the memory's size less the runtime and what is pinned there
    smallest: tuple[Mapping[str, int], ...]  # operand or "scratch" -> bytes; none larger than another in all of them
    windows: Mapping[str, tuple[int, ...]]  # operand -> extents of its tile in the first of them
    uncut: Mapping[str, str]  # loop -> why it cannot be cut


def needs_of(blocked: HopWithoutTiling) -> Needs | None:
    """What would do for a step; None where no tiling of it is legal."""
    space = blocked.space
    search = TilingSearch(replace(space, available_bytes=None), "single")
    columns = [*map(search.rooms, space.copied), search.scratches(search.points).astype(np.int64)]
    rows, names = np.stack(columns, axis=1), [*(item.name for item in space.copied), "scratch"]
    least = list(_least_points(search, rows))
    if not least:
        return None
    sizes = {loop.name: int(size) for loop, size in zip(space.cuts, search.points[least[0]], strict=True)}
    return Needs(
        memory=blocked.memories.inner,
        available_bytes=space.available_bytes or 0,
        smallest=tuple(dict(zip(names, rows[number].tolist(), strict=True)) for number in least),
        windows={item.name: search.table.windows(item, sizes).capacity for item in space.copied},
        uncut=space.refused,
    )


def _least_points(search: TilingSearch, rows: npt.NDArray[np.int64]) -> Iterator[int]:
    """Legal points, none larger than another in all operands; the least in all first."""
    left = np.argsort(rows.sum(axis=1), kind="stable")
    covered = 0
    while len(left) and covered < _MOST_NEEDS:
        number, row = int(left[0]), rows[left[0]]
        if at_least(search, number, int(row.sum())) is None:
            left = left[1:]
            continue
        covered += 1
        yield number
        left = left[(rows[left] < row).any(axis=1)]


def does_not_fit(machine: ScheduledMachine, step: Step, space: TilingSpace, near: str) -> TilewrightError:
    """TW5101 (exit 5): the step, the bytes it needs, the memory that would do for it, and what to change.

    `space` has all that may be cut, reductions included where the kernel accumulates.
    """
    node = machine.nodes[step.name]
    limit = machine.platform.memory(near).size_bytes or 0
    reserved = limit - (space.available_bytes or 0)
    needed = smallest_bytes(space, "single")
    pinned = (machine.platform.plan_bytes(near) or 0) - (space.available_bytes or 0)
    least = machine.platform.size_for(near, pinned + needed)
    origin = f", onnx {' + '.join(node.origin)}" if node.origin else ""
    text = f"its smallest tile needs {needed:,} B" if needed else "no tile of it is legal for the copy engine"
    error = memory_error(
        "TW5101",
        f"a step does not fit memory '{near}': {text}, there are {max(space.available_bytes or 0, 0):,} B",
        where=f"step '{step.name}' ({node.op}{origin})",
        details=(
            f"memory '{near}' has {limit:,} B, of which {reserved:,} B are the runtime's or pinned tensors",
            *(f"loop '{name}' cannot be cut: {reason}" for name, reason in space.refused.items()),
            *_whole_axes(space, node.op),
            *_rules(space),
            *([f"cut already: {', '.join(loop.name for loop in space.cuts)}"] if space.cuts else []),
        ),
        fix=(typed("--memory", f"{near}={least}", gives="is the least that does for this step"),)
        if needed
        else _ways_out(space),
    )
    return amended(error, subject=step.name, needs=(near, least) if needed else None)


def _rules(space: TilingSpace) -> Iterator[str]:
    """The operands whose copies do not take every window: the path, its rule, and what is against it."""
    table = WindowTable(space)
    smallest = {loop.name: space.kernel.multiples.get(loop.name, 1) for loop in space.cuts}
    for item in space.copied:
        if item.any_window:
            continue
        whole = misfit(table, item, {})
        reason = whole or misfit(table, item, {name: smallest[name] for name in item.loops})
        tiles = "in no tile" if whole else "in not every tile"
        if reason:
            yield (
                f"{item.name} crosses from '{item.path.source}' to '{item.path.target}' {tiles}: that copy moves "
                f"multiples of {item.path.align} bytes, from and to multiples of them, and {reason}"
            )


def _ways_out(space: TilingSpace) -> tuple[str, ...]:
    """What to change where the copy engine takes no tile."""
    if all(item.padded for item in space.copied):
        return ()
    return (
        typed("--io", "pool", gives="keeps inputs and outputs in the plan, which has room for padding behind them"),
    )


def _whole_axes(space: TilingSpace, op: str) -> Iterator[str]:
    """The axes that no loop runs over, such as the rows of a softmax."""
    if not isinstance(space.access, MapAccess):
        return
    for operand in space.copied:
        for position, axis in enumerate(space.access.axes[operand.name]):
            if axis.index is None and axis.extent > 1:
                yield f"axis {position} of {operand.name}, {axis.extent:,} elements, cannot be cut: {op} takes it whole"
