"""Knows how the window of an operand becomes transfers of a copy path, and what they cost.
Does not know which windows there are, nor when they travel.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tilewright.layout import Layout, merge_loops, strides
from tilewright.platform import CopyPath, Platform


@dataclass(frozen=True, slots=True, kw_only=True)
class Transfers:
    """`count` transfers, each of `rows` rows of `run_bytes` contiguous bytes."""

    run_bytes: int
    rows: int
    count: int

    @property
    def size_bytes(self) -> int:
        """All bytes together."""
        return self.run_bytes * self.rows * self.count

    def cycles(self, path: CopyPath) -> float:
        """The time of all of them, one after the other."""
        return self.count * path.cycles(self.run_bytes * self.rows, self.rows) if self.size_bytes else 0.0

    def legal(self, path: CopyPath) -> bool:
        """Whether the engine takes transfers of this size and length. Addresses are checked where they are known."""
        one = self.run_bytes * self.rows
        return (path.max_bytes is None or one <= path.max_bytes) and not self.run_bytes % path.align


def transfers(
    extents: Sequence[int],
    shape: Sequence[int],
    room: Sequence[int],
    layout: Layout,
    item_bytes: int,
    path: CopyPath,
) -> Transfers:
    """The transfers of one window.

    `extents` of the window, of the whole operand (`shape`) and of its tile buffer (`room`) are by axis. Neighbouring
    axes are one where neither side has a gap; the innermost is a run, the next one, where the path has two dimensions,
    its rows, and every further one repeats the transfer.
    """
    if 0 in extents:
        return Transfers(run_bytes=0, rows=0, count=0)
    far, near = strides(shape, layout), strides(room, layout)
    merged, steps = merge_loops(
        [extents[axis] for axis in layout], [[side[axis] for axis in layout] for side in (far, near)]
    )
    loops = list(merged)
    run = 1
    if loops and all(side[-1] in (0, 1) for side in steps):
        run = loops.pop()
    rows = loops.pop() if path.dimensions > 1 and loops else 1
    count = 1
    for extent in loops:
        count *= extent
    return Transfers(run_bytes=run * item_bytes, rows=rows, count=count)


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
