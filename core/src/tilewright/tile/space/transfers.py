"""Knows how the window of an operand becomes transfers of a copy path, and what they cost.
Does not know which windows there are, nor when they are copied.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tilewright.ir.access.index_map import Window
from tilewright.ir.machines.platform import CopyPath, Platform
from tilewright.ir.rounding import ceil_div
from tilewright.ir.tensors.layout import Layout, merge_loops, strides

_LONG_ROW_BYTES = 64  # leaving out less than this costs more than it saves


@dataclass(frozen=True, slots=True, kw_only=True)
class Transfers:
    """`count` transfers, each of `rows` rows of `run_bytes` contiguous bytes."""

    run_bytes: int
    rows: int
    count: int
    pieces: int = 1  # of each, where the path takes no more at once

    @property
    def size_bytes(self) -> int:
        """All bytes together."""
        return self.run_bytes * self.rows * self.count

    def cycles(self, path: CopyPath) -> float:
        """The time of all of them, one after the other."""
        if not self.size_bytes:
            return 0.0
        one = self.run_bytes * self.rows
        return self.count * self.pieces * path.cycles(ceil_div(one, self.pieces), ceil_div(self.rows, self.pieces))

    def legal(self, path: CopyPath) -> bool:
        """Whether the engine takes runs of this length. Addresses are checked where they are known."""
        return not self.run_bytes % path.align


def transfers(
    extents: Sequence[int],
    shape: Sequence[int],
    room: Sequence[int],
    layout: Layout,
    item_bytes: int,
    path: CopyPath,
    steps: Sequence[int] = (),
) -> Transfers:
    """The transfers of one window; along an axis only every `steps`-th position is copied.

    `extents` of the window, of the whole operand (`shape`) and of its tile buffer (`room`) are by axis. Neighbouring
    axes are one where neither side has a gap; the innermost is a run, the next one, where the path has two dimensions,
    its rows, and every further one repeats the transfer.
    """
    if 0 in extents:
        return Transfers(run_bytes=0, rows=0, count=0)
    far, near = strides(shape, layout), strides(room, layout)
    every = steps or (1,) * len(extents)
    merged, moves = merge_loops(
        [ceil_div(extents[axis], every[axis]) for axis in layout],
        [[side[axis] * every[axis] for axis in layout] for side in (far, near)],
    )
    loops = list(merged)
    run = 1
    if loops and all(side[-1] in (0, 1) for side in moves):
        run = loops.pop()
    rows = loops.pop() if path.dimensions > 1 and loops else 1
    count = 1
    for extent in loops:
        count *= extent
    run_bytes, pieces = run * item_bytes, 1
    if path.max_bytes is not None and run_bytes * rows > path.max_bytes:
        whole_rows = path.max_bytes // run_bytes
        pieces = ceil_div(rows, whole_rows) if whole_rows else rows * ceil_div(run_bytes, path.max_bytes)
    return Transfers(run_bytes=run_bytes, rows=rows, count=count, pieces=pieces)


def strided_copy(window: Window, shape: Sequence[int], layout: Layout, item_bytes: int) -> tuple[int, ...]:
    """Along each axis, which positions of an operand are ever copied: all, or those of a strided access.

    `window` is that of all loops. A convolution of stride 2 with a single tap reads every second row: the others are
    left out where that leaves out rows of some length, along the outermost such axis.
    """
    found = [1] * len(shape)
    gaps = strides(shape, layout)
    for axis in layout:
        if window[axis].step > 1 and gaps[axis] * item_bytes >= _LONG_ROW_BYTES:
            found[axis] = window[axis].step
            break
    return tuple(found)


def path_between(platform: Platform, source: str, target: str) -> CopyPath | None:
    """The copy path from one memory to a neighbour."""
    return next((path for path in platform.copies if (path.source, path.target) == (source, target)), None)


def route(platform: Platform, source: str, target: str) -> tuple[CopyPath, ...] | None:
    """The fewest copies that lead from one memory to another; None where nothing does."""
    reached: dict[str, tuple[CopyPath, ...]] = {source: ()}
    waiting = [source]
    for memory in waiting:
        for path in platform.copies:
            if path.source == memory and path.target not in reached:
                reached[path.target] = (*reached[memory], path)
                waiting.append(path.target)
    return reached.get(target)
