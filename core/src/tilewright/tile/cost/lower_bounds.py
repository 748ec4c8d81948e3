"""Knows lower bounds of what a step, or tiles of some sizes, cost, and what the search weighs bytes with.
Does not know what they really cost.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tilewright.ir.machines.platform import CopyPath
from tilewright.tile.cost.copy_queues import queues_of
from tilewright.tile.cost.kernel_costs import least_cycles
from tilewright.tile.space.grid import extents_to_try, tile_counts
from tilewright.tile.space.split_reductions import accumulator_bytes
from tilewright.tile.space.tiling_space import CopiedOperand, TilingSpace, WindowTable, bound_bytes, touched_bytes

if TYPE_CHECKING:
    import numpy.typing as npt

    Numbers = npt.NDArray[np.float64]
    Integers = npt.NDArray[np.int64]
    Flags = npt.NDArray[np.bool_]

TRAFFIC = 0.4  # what moving as much again as must be moved is worth, as a part of the time
MOST_TRAFFIC = 5.0  # times what must be moved: beyond, only time counts
MUCH_TRAFFIC = 1.1  # times what must be moved: beyond, windows are looked at that keep rows
NEAR_THE_LEAST = 1.15  # of what a step takes at least: reductions are not cut to come nearer
WORTH = 0.02  # of time and traffic: what split reductions must gain: no model prices moves of accumulators
ROUNDED = 1 - 1e-9  # sums of the same numbers in another order
_LONG_BYTES = 4096  # of a transfer that takes as long for each byte as any does


def least_score(space: TilingSpace) -> float:
    """What no tiling of a step goes below, bytes weighed as the search weighs them."""
    bound = max(bound_bytes(space), 1)
    return least_cycles_of(space) * (1 + TRAFFIC * (bound - space.spared_bytes) / bound)


def least_cycles_of(space: TilingSpace) -> float:
    """What no tiling of a step goes below in time: its computation in one call, or all that it moves at once."""
    copying, table = 0.0, WindowTable(space)
    for item in space.copied:
        windows = table.windows(item, {})
        each = [(item.transfers(extents, windows.capacity), count) for extents, count in windows.classes]
        visits = sum(count for _, count in each)
        copying += sum(transfers.cycles(item.path) * count for transfers, count in each) / visits
    return max(least_cycles(space) + space.engine.call_cycles, copying / queues_of(space.copied))


@dataclass(frozen=True, slots=True)
class LeastCopies:
    """What the copies of many tile sizes do not go below, by point: bytes that are moved, and cycles of moving them."""

    moved: Numbers
    cycles: Numbers

    def at(self, chosen: Integers | Flags | slice) -> LeastCopies:
        """Of some points."""
        return LeastCopies(self.moved[chosen], self.cycles[chosen])

    def scored(self, space: TilingSpace, cycles: Numbers) -> Numbers:
        """The score that no tiling goes below, where everything else takes so many cycles."""
        times = np.minimum(self.moved / max(bound_bytes(space), 1), MOST_TRAFFIC)
        result: Numbers = np.maximum(cycles, self.cycles) * (1 + TRAFFIC * times)
        return result


def score_bounds(space: TilingSpace, points: Integers, copies: LeastCopies) -> Numbers:
    """For each of many tile sizes, [points, loops that may be cut], the score that no tiling goes below."""
    cycles = least_cycles(space) + space.engine.call_cycles * tile_counts(space, points).astype(np.float64)
    return copies.scored(space, cycles)


def least_copies(space: TilingSpace, points: Integers, table: WindowTable) -> LeastCopies:
    """Of each of many tile sizes. Where no reduction may be cut, everything once, and cycles are not looked at."""
    if space.sums is None:
        once = np.full(len(points), float(max(bound_bytes(space), 1) - space.spared_bytes))
        return LeastCopies(once, np.zeros(len(points)))
    names = [loop.name for loop in space.cuts]
    columns = {item.name: [names.index(name) for name in item.loops] for item in space.copied}
    rooms = {item.name: table.rooms(item, points[:, columns[item.name]]) for item in space.copied}
    left = np.full(
        len(points), np.iinfo(np.int64).max if space.available_bytes is None else space.available_bytes, np.int64
    )
    left = left - sum(rooms.values()) - accumulator_bytes(space, points, table)
    moved, copying = np.zeros(len(points)), np.zeros(len(points))
    for item in space.copied:
        moved_here = _least_moved(space, item, points, table, left + rooms[item.name])
        moved, copying = moved + moved_here, copying + moved_here * cycles_each_byte(item.path)
    return LeastCopies(moved, copying / queues_of(space.copied))


def _least_moved(
    space: TilingSpace, item: CopiedOperand, points: Integers, table: WindowTable, left: Integers
) -> Integers:
    """Bytes of an operand that are copied at least, for each point; `left` is the room that all others leave it.

    Reductions stand inside all other loops. So what they move is copied for every tile, unless it has room for all
    that a whole reduction reads.
    """
    once = np.full(len(points), touched_bytes(space.access, item.name, item.item_bytes))
    names = [loop.name for loop in space.cuts]
    columns = [names.index(name) for name in item.loops]
    reductions = [at for at, loop in enumerate(space.cuts) if loop.kind == "reduce" and at in columns]
    if not reductions or not table.is_separable(item):
        return once
    whole = points.copy()
    whole[:, reductions] = [space.extents[names[at]] for at in reductions]
    cut = (points[:, reductions] < whole[:, reductions]).any(axis=1)
    trips = extents_to_try(space, points)
    around = [at for at, loop in enumerate(space.cuts) if loop.kind != "reduce" and at not in columns]
    again = np.prod(trips[:, around], axis=1, dtype=np.int64)
    moved = item.item_bytes * table.moved(item, points[:, columns]) * again
    result: Integers = np.where(cut & (table.rooms(item, whole[:, columns]) > left), np.maximum(moved, once), once)
    return result


def cycles_each_byte(path: CopyPath) -> float:
    """What a byte of a long transfer takes."""
    return (path.cycles(2 * _LONG_BYTES, 1) - path.cycles(_LONG_BYTES, 1)) / _LONG_BYTES
