"""Knows how the tiles of one step are found: every size worth trying, every useful order of loops, depth and buffer.
Does not know which sizes and orders there are (`grid`), several steps, nor platforms.

Sizes are taken in the order of their number of tiles. What a size can cost at best, the whole step's computation and
the price of a call for each tile, is known at once, so most sizes are left out unseen. Costs here are sums over all
tiles of averages between the same loops; `cost` plays the chosen ones exactly.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from tilewright.kernel import TileShape
from tilewright.tile.cost import scratch_bytes, tile_cycles
from tilewright.tile.floors import WORTH, floors
from tilewright.tile.grid import grid, orders
from tilewright.tile.order import Found, Order
from tilewright.tile.prices import Prices
from tilewright.tile.space import Space, Traveller, WindowTable, bound_bytes
from tilewright.tile.sums import in_parts, sums_bytes_of
from tilewright.tile.tiler import Buffering

if TYPE_CHECKING:
    import numpy.typing as npt

    Numbers = npt.NDArray[np.float64]
    Integers = npt.NDArray[np.int64]

_MOST_IN_PARTS = 768  # sizes that cut reductions, those that might be best: floors are low where kernels dislike parts
_FIRST_CHUNK, _CHUNK = 8, 64  # sizes looked at together: few at first, they may be all that is needed


def _up(sizes_bytes: Integers, grain: int) -> Integers:
    rounded: Integers = -(-sizes_bytes // grain) * grain
    return rounded


class Tables:
    """What is worked out once for all spaces of a step that differ in the operands that travel and in the room."""

    def __init__(self, space: Space) -> None:
        self.windows = WindowTable(space)
        self.points = grid(space)
        self.rooms: dict[str, Integers] = {}  # operand -> bytes of a buffer, for each point
        self.prices: dict[str, Prices] = {}
        self.computes: dict[tuple[int, ...], float] = {}
        self.scratch: dict[tuple[int, ...], int] = {}


class Search:
    """The tilings of one space."""

    def __init__(self, space: Space, buffering: Buffering, tables: Tables | None = None) -> None:
        self.space, self.buffering = space, buffering
        self._tables = tables or Tables(space)
        self.table, self.points = self._tables.windows, self._tables.points
        self.bound = max(bound_bytes(space), 1)
        self._computes = self._tables.computes
        self._scratch = self._tables.scratch

    def best(self, beat: Found | None = None) -> Found | None:
        """The fastest tiling that fits, traffic counted a little. None: none fits.

        Where reductions may be cut, one that does; none that is not clearly better than `beat`, which cuts none.
        """
        fits = self._least_of_buffers() <= self.room
        if self.space.sums is not None:
            fits &= in_parts(self.space, self.points)
        if not fits.any():
            return None
        limit = float("inf") if beat is None else beat.score * (1 - WORTH)
        floor = floors(self.space, self.points[fits], self.table)
        order = np.argsort(floor, kind="stable")[: None if self.space.sums is None else _MOST_IN_PARTS]
        points, floor = self.points[fits][order], floor[order]
        best: Found | None = None
        start, count = 0, _FIRST_CHUNK
        while start < len(points) and floor[start] < limit:
            for found in self.candidates(points[start : start + count]):
                if found.score < limit:
                    best, limit = found, found.score
            start, count = start + count, min(2 * count, _CHUNK)
        return best

    def at(self, number: int) -> Found | None:
        """The fastest tiling with the sizes of one point of the grid; None where it does not fit."""
        best: Found | None = None
        for found in self.candidates(self.points[number : number + 1]):
            best = better(best, found)
        return best

    @property
    def room(self) -> float:
        """Bytes that buffers and scratch may take."""
        return float("inf") if self.space.room_bytes is None else float(self.space.room_bytes)

    def least_bytes(self) -> Numbers:
        """For each point, the bytes that no order, depth or buffering can go below."""
        total = self._least_of_buffers()
        if self.space.kernel.scratch_bytes(self._shape()):
            small = total <= self.room  # the others do not fit without scratch, either
            total[small] += [self._scratch_of(tuple(row)) for row in self.points[small].tolist()]
        return total

    def _least_of_buffers(self) -> Numbers:
        """The same without scratch, which is asked for point by point."""
        total: Numbers = _up(sums_bytes_of(self.space, self.points, self.table), self.space.grain).astype(np.float64)
        for item in self.space.travellers:
            total += (2 if self.buffering == "double" and item.loops else 1) * self._rooms(item)
        return total

    def _rooms(self, item: Traveller) -> Integers:
        """Bytes of a buffer, for each point."""
        rooms = self._tables.rooms
        if item.name not in rooms:
            rooms[item.name] = _up(self.table.rooms(item, self.points[:, self._columns(item)]), self.space.grain)
        return rooms[item.name]

    def _columns(self, item: Traveller) -> list[int]:
        """Where the loops that move an operand stand in a point."""
        return [at for at, loop in enumerate(self.space.cuts) if loop.name in item.loops]

    def candidates(self, points: Integers) -> Iterator[Found]:
        """The best tiling of `points` for each order of loops."""
        computes, scratch = self.computes(points), self.scratches(points)
        for order in orders(self.space):
            found = Order(self, order, points, computes, scratch).best()
            if found is not None:
                yield found

    def computes(self, points: Integers) -> Numbers:
        """Cycles of all calls together, of each point."""
        return np.array([self._compute(tuple(row)) for row in points.tolist()])

    def scratches(self, points: Integers) -> Numbers:
        """Bytes of scratch and of sums that are kept, of each point."""
        scratch = np.array([self._scratch_of(tuple(row)) for row in points.tolist()], np.int64)
        return (scratch + _up(sums_bytes_of(self.space, points, self.table), self.space.grain)).astype(np.float64)

    def tables(self, item: Traveller, seen: Sequence[int], points: Integers) -> tuple[Numbers, ...]:
        """Bytes of a buffer, average bytes and cycles of a transfer, legality, where the loops `seen` are cut."""
        columns = [
            points[:, index] if index in seen else np.full(len(points), self.space.extents[loop.name])
            for index, loop in enumerate(self.space.cuts)
            if loop.name in item.loops
        ]
        asked = np.stack(columns, axis=1) if columns else np.zeros((len(points), 0), np.int64)
        return tuple(self._prices(item).at(asked).T)

    def whole_bytes(self, item: Traveller) -> float:
        """Of a buffer that has all of an operand that any trip uses."""
        whole = [self.space.extents[name] for name in item.loops]
        return float(self._prices(item).at(np.array([whole], np.int64))[0, 0])

    def _prices(self, item: Traveller) -> Prices:
        known = self._tables.prices
        if item.name not in known:
            tried = [index for index, loop in enumerate(self.space.cuts) if loop.name in item.loops]
            sizes = [np.unique(self._tables.points[:, index]) for index in tried]
            known[item.name] = Prices(item, self.table, sizes, self.space.grain)
        return known[item.name]

    def _compute(self, key: tuple[int, ...]) -> float:
        """Cycles of all calls together."""
        if key not in self._computes:
            total = 0.0
            names = [loop.name for loop in self.space.cuts]
            ends = []
            for name, size in zip(names, key, strict=True):
                full, rest = divmod(self.space.extents[name], size)
                ends.append([(size, full)] + ([(rest, 1)] if rest else []))
            for kinds in product(*ends):
                count = 1
                for _, times in kinds:
                    count *= times
                extents = {**self.space.extents, **{n: trips for n, (trips, _) in zip(names, kinds, strict=True)}}
                total += count * tile_cycles(self.space, extents)
            self._computes[key] = total
        return self._computes[key]

    def _scratch_of(self, key: tuple[int, ...]) -> int:
        if key not in self._scratch:
            space = self.space
            extents = {**space.extents, **{loop.name: size for loop, size in zip(space.cuts, key, strict=True)}}
            _, size = scratch_bytes(space.kernel, space.site, space.access, extents, space.engine.cores)
            self._scratch[key] = -(-size // space.grain) * space.grain
        return self._scratch[key]

    def _shape(self) -> TileShape:
        box = {name: (0, trips) for name, trips in self.space.extents.items()}
        return TileShape(site=self.space.site, access=self.space.access, box=box)


def better(best: Found | None, found: Found) -> Found:
    """The one with the lower score; the first of equals."""
    return found if best is None or found.score < best.score else best
