"""Knows what tiles of every size take and cost, whatever their order: computation, buffers, transfers, scratch.
Does not know orders of loops, copy levels, nor which sizes are chosen.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import prod
from operator import floordiv
from typing import TYPE_CHECKING

import numpy as np

from tilewright.ir.machines.kernel import TileShape
from tilewright.ir.plans.tiler import Buffering
from tilewright.ir.rounding import align_up
from tilewright.tile.cost.kernel_costs import TileCallCosts, scratch_bytes
from tilewright.tile.cost.traffic import MOVED_BYTES_PER_CYCLE
from tilewright.tile.cost.window_costs import WindowCosts
from tilewright.tile.space.grid import grid
from tilewright.tile.space.spans import different
from tilewright.tile.space.split_reductions import accumulator_bytes
from tilewright.tile.space.tiling_space import CopiedOperand, TilingSpace, WindowTable, bound_bytes

if TYPE_CHECKING:
    import numpy.typing as npt

    Numbers = npt.NDArray[np.float64]
    Integers = npt.NDArray[np.int64]


class SpaceTables:
    """What is worked out once for all spaces of a step that differ in the operands that are copied and in the room."""

    def __init__(self, space: TilingSpace) -> None:
        self.windows = WindowTable(space)
        self.points = grid(space)
        self.rooms: dict[str, Integers] = {}  # operand -> bytes of a buffer, for each point
        self.prices: dict[tuple[str, str], WindowCosts] = {}  # of an operand, and a loop along which its rows stay
        self.computes: dict[tuple[int, ...], float] = {}
        self.calls: dict[tuple[int, ...], float] = {}  # by trips of the loops that are cut
        self.costs = TileCallCosts(space)
        self.scratch: dict[tuple[int, ...], int] = {}


class TilingProblem:
    """One space to search: what all its sizes and orders have in common."""

    def __init__(self, space: TilingSpace, buffering: Buffering, tables: SpaceTables | None = None) -> None:
        self.space, self.buffering = space, buffering
        self.tables = tables or SpaceTables(space)
        self.table, self.points = self.tables.windows, self.tables.points
        self.bound = max(bound_bytes(space), 1)
        self.options: dict[tuple[int, ...], dict[str, tuple[tuple[int, str], ...]]] = {}  # see `LoopOrders`, by order

    @property
    def available_bytes(self) -> float:
        """Bytes that buffers and scratch may take."""
        return float("inf") if self.space.available_bytes is None else float(self.space.available_bytes)

    def least_bytes(self) -> Numbers:
        """For each point, the bytes that no order, copy level or buffering can go below."""
        total = self.least_of_buffers()
        if self.space.kernel.scratch_bytes(self._shape()):
            small = total <= self.available_bytes  # the others do not fit without scratch, either
            total[small] += [self._scratch_of(tuple(row)) for row in self.points[small].tolist()]
        return total

    def least_of_buffers(self) -> Numbers:
        """The same without scratch, which is asked for point by point."""
        total: Numbers = _up(accumulator_bytes(self.space, self.points, self.table), self.space.grain).astype(
            np.float64
        )
        for item in self.space.copied:
            total += (2 if self.buffering == "double" and item.loops else 1) * self.rooms(item)
        return total

    def rooms(self, item: CopiedOperand) -> Integers:
        """Bytes of a buffer, for each point."""
        rooms = self.tables.rooms
        if item.name not in rooms:
            rooms[item.name] = _up(self.table.rooms(item, self.points[:, self._columns(item)]), self.space.grain)
        return rooms[item.name]

    def _columns(self, item: CopiedOperand) -> list[int]:
        """Where the loops that move an operand stand in a point."""
        return [at for at, loop in enumerate(self.space.cuts) if loop.name in item.loops]

    def computes(self, points: Integers) -> Numbers:
        """Cycles of all calls together, of each point."""
        return np.array([self._compute(tuple(row)) for row in points.tolist()])

    def whole_computes(self, points: Integers) -> Numbers:
        """The same of tiles that no end of a loop cuts off: one call tells what all of them take."""
        extents = [self.space.extents[loop.name] for loop in self.space.cuts]
        rows = map(tuple, points.tolist())
        return np.array([self._call(row) * prod(map(floordiv, extents, row)) for row in rows])

    def scratches(self, points: Integers) -> Numbers:
        """Bytes of scratch and of accumulators, of each point."""
        scratch = np.array([self._scratch_of(tuple(row)) for row in points.tolist()], np.int64)
        return (scratch + _up(accumulator_bytes(self.space, points, self.table), self.space.grain)).astype(np.float64)

    def transfers(self, item: CopiedOperand, wanted: Sequence[tuple[frozenset[int], str]], points: Integers) -> Numbers:
        """[wanted, 4, points]: bytes of a buffer, average bytes and cycles of a transfer, legality (0 or 1).

        What is wanted is a set of loops that are cut, and one of them along which rows stay, or "": only what is new is
        transferred then, and the cycles are the mover's and those in which the cores move what stays.
        """
        columns = self._columns(item)
        cut = np.array([[index in seen for index in columns] for seen, _ in wanted], bool)
        whole = np.array([self.space.extents[self.space.cuts[index].name] for index in columns], np.int64)
        asked = np.where(cut[:, None], points[:, columns], whole)
        priced = self._prices(item).at(asked.reshape(len(wanted) * len(points), len(columns)))
        found: Numbers = priced.reshape(len(wanted), len(points), 4).swapaxes(1, 2)
        for at, (_, roll) in enumerate(wanted):
            if roll:
                buffer, moved, cycles, legal = self._prices(item, roll).at(asked[at]).T
                stay = (found[at, 1] - moved) / MOVED_BYTES_PER_CYCLE / max(1, self.space.engine.cores)
                found[at] = buffer, moved, cycles + stay, legal
        return found

    def whole_bytes(self, item: CopiedOperand) -> float:
        """Of a buffer that has all of an operand that any trip uses."""
        whole = [self.space.extents[name] for name in item.loops]
        return float(self._prices(item).at(np.array([whole], np.int64))[0, 0])

    def _prices(self, item: CopiedOperand, roll: str = "") -> WindowCosts:
        known = self.tables.prices
        if (item.name, roll) not in known:
            sizes = [different(self.points[:, index])[0] for index in self._columns(item)]
            along = (roll, self.space.rolls[item.name][roll]) if roll else None
            known[item.name, roll] = WindowCosts(item, self.table, sizes, self.space.grain, along)
        return known[item.name, roll]

    def _compute(self, key: tuple[int, ...]) -> float:
        """Cycles of all calls together."""
        if key not in self.tables.computes:
            total = 0.0
            ends = []
            for loop, size in zip(self.space.cuts, key, strict=True):
                full, rest = divmod(self.space.extents[loop.name], size)
                ends.append([(size, full)] + ([(rest, 1)] if rest else []))
            for kinds in product(*ends):
                count = prod(times for _, times in kinds)
                total += count * self._call(tuple(trips for trips, _ in kinds))
            self.tables.computes[key] = total
        return self.tables.computes[key]

    def _call(self, trips: tuple[int, ...]) -> float:
        """Cycles of one call with these trips of the loops that are cut; tiles of many sizes end with the same rest."""
        if trips not in self.tables.calls:
            cut = {loop.name: extent for loop, extent in zip(self.space.cuts, trips, strict=True)}
            self.tables.calls[trips] = self.tables.costs.of(cut)
        return self.tables.calls[trips]

    def _scratch_of(self, key: tuple[int, ...]) -> int:
        if key not in self.tables.scratch:
            space = self.space
            cuts = {loop.name: size for loop, size in zip(space.cuts, key, strict=True)}
            rests = {name for name, size in cuts.items() if space.extents[name] % size}
            fewer = {*rests, *(name for name, _ in space.around)}
            extents = {**space.extents, **cuts}
            _, size = scratch_bytes(space.kernel, space.site, space.access, extents, space.engine.cores, fewer)
            self.tables.scratch[key] = align_up(size, space.grain)
        return self.tables.scratch[key]

    def _shape(self) -> TileShape:
        box = {name: (0, trips) for name, trips in self.space.extents.items()}
        return TileShape(site=self.space.site, access=self.space.access, box=box)


def _up(sizes_bytes: Integers, grain: int) -> Integers:
    rounded: Integers = align_up(sizes_bytes, grain)
    return rounded
