"""Knows how the tiles of one step are found: every size worth trying, every useful order of loops, depth and buffer.
Does not know which sizes and orders there are (`grid`), several steps, nor platforms.

Sizes are taken in the order of their number of tiles. What a size can cost at best, the whole step's computation and
the price of a call for each tile, is known at once, so most sizes are left out unseen. Costs here are sums over all
tiles of averages between the same loops; `cost` plays the chosen ones exactly.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from tilewright.decisions import HopTile, TileCopy
from tilewright.kernel import TileShape
from tilewright.tile.cost import least_cycles, scratch_bytes, tile_cycles
from tilewright.tile.grid import grid, orders, tile_counts, trip_counts
from tilewright.tile.prices import Prices
from tilewright.tile.space import Space, Traveller, WindowTable, bound_bytes
from tilewright.tile.sums import sums_bytes
from tilewright.tile.tiler import Buffering

if TYPE_CHECKING:
    import numpy.typing as npt

    Numbers = npt.NDArray[np.float64]
    Integers = npt.NDArray[np.int64]

_FIRST_CHUNK, _CHUNK = 8, 64  # sizes looked at together: few at first, they may be all that is needed
_MOST_COMBINATIONS = 256  # of depths, for one order of loops
_TRAFFIC = 0.4  # what moving as much again as must be moved is worth, as a part of the time
_MOST_TRAFFIC = 2.0  # times what must be moved: beyond, only time counts


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A tiling and what the search believes of it."""

    nest: tuple[tuple[str, int], ...]
    copies: Mapping[str, TileCopy]
    cycles: float
    moved_bytes: float
    score: float  # cycles, a little dearer the more is moved

    def on(self, far: str, near: str) -> HopTile:
        """The same as a decision."""
        return HopTile(far=far, near=near, nest=self.nest, copies=self.copies)


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

    def best(self) -> Found | None:
        """The fastest tiling that fits, traffic counted a little. None: none fits."""
        floor = least_cycles(self.space) + self.space.engine.call_cycles * tile_counts(self.space, self.points)
        floor = floor * (1 + _TRAFFIC * (self.bound - self.space.spared_bytes) / self.bound)
        best: Found | None = None
        fits = self.least_bytes() <= self.room
        points, floor = self.points[fits], floor[fits]
        start, count = 0, _FIRST_CHUNK
        while start < len(points):
            if best is not None and floor[start] >= best.score:
                break
            for found in self.candidates(points[start : start + count]):
                best = better(best, found)
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
        total = np.zeros(len(self.points))
        for item in self.space.travellers:
            total += (2 if self.buffering == "double" and item.loops else 1) * self._rooms(item)
        if self.space.sums or self.space.kernel.scratch_bytes(self._shape()):
            total += np.array([self._scratch_of(tuple(row)) for row in self.points.tolist()], float)
        return total

    def _rooms(self, item: Traveller) -> Integers:
        """Bytes of a buffer, for each point."""
        rooms = self._tables.rooms
        if item.name not in rooms:
            positions = [index for index, loop in enumerate(self.space.cuts) if loop.name in item.loops]
            rooms[item.name] = _up(self.table.rooms(item, self.points[:, positions]), self.space.grain)
        return rooms[item.name]

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
        return np.array([self._scratch_of(tuple(row)) for row in points.tolist()], float)

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
            cuts = {loop.name: size for loop, size in zip(space.cuts, key, strict=True)}
            both = size, sums_bytes(space, cuts, self.table)
            self._scratch[key] = sum(-(-size // space.grain) * space.grain for size in both)
        return self._scratch[key]

    def _shape(self) -> TileShape:
        box = {name: (0, trips) for name, trips in self.space.extents.items()}
        return TileShape(site=self.space.site, access=self.space.access, box=box)


@dataclass(frozen=True, slots=True)
class _Choice:
    """One operand: for each depth worth trying an entry along the operand's own axis of the arrays."""

    item: Traveller
    depths: tuple[int, ...]
    buffer: Numbers  # bytes of one buffer
    moved: Numbers  # bytes of all transfers
    each: Numbers  # average cycles of one transfer
    fetches: Numbers  # how many
    legal: Numbers


class Order:
    """All depths and buffers for one order of the loops, over some points: arrays [depth of each operand..., point]."""

    def __init__(
        self, search: Search, order: tuple[int, ...], points: Integers, computes: Numbers, scratch: Numbers
    ) -> None:
        self.search, self.order, self.points = search, order, points
        self.computes, self.scratch = computes, scratch
        trips = trip_counts(search.space, points)[:, list(order)]
        ones = np.ones((len(points), 1), np.int64)
        self.above = np.cumprod(np.concatenate([ones, trips], axis=1), axis=1, dtype=float)  # [point, depth]
        self.trips = trips
        self.choices = self._choices()

    def best(self) -> Found | None:
        """The best of them; None where nothing fits."""
        doubled, used = self._buffers()
        legal = self.legal(used + self.scratch)
        if self.search.buffering == "double":
            for choice, twice in zip(self.choices, doubled, strict=True):
                legal = legal & (twice | (choice.fetches <= 1))
        if not legal.any():
            return None
        cycles = np.where(legal, self.cycles(doubled), np.inf)
        moved = np.broadcast_to(total_of([choice.moved for choice in self.choices]), cycles.shape)
        score = cycles * (1 + _TRAFFIC * np.minimum(moved / self.search.bound, _MOST_TRAFFIC))
        at = np.unravel_index(np.argmin(score), score.shape)
        return self.found(at, doubled, (float(cycles[at]), float(moved[at]), float(score[at])))

    def _choices(self) -> list[_Choice]:
        space = self.search.space
        depths = {item.name: self._depths(item) for item in space.travellers}
        by_size = sorted(space.travellers, key=self.search.whole_bytes)
        for item in by_size:  # too many combinations: the smallest operands are resident, or as deep as they can be
            if np.prod([len(options) for options in depths.values()]) <= _MOST_COMBINATIONS:
                break
            depths[item.name] = (0, depths[item.name][-1])[: len(depths[item.name])]
        count = len(space.travellers)
        return [
            self._choice(item, depths[item.name], position, count) for position, item in enumerate(space.travellers)
        ]

    def _depths(self, item: Traveller) -> tuple[int, ...]:
        """Resident, or just inside a loop that moves the window."""
        names = [self.search.space.cuts[index].name for index in self.order]
        inside = [depth + 1 for depth, name in enumerate(names) if name in item.loops]
        if item.name in self.search.space.once:
            inside = [depth for depth in inside if all(name in item.loops for name in names[:depth])]
        return (0, *inside)

    def _choice(self, item: Traveller, depths: Sequence[int], position: int, count: int) -> _Choice:
        rows = []
        for depth in depths:
            seen = [index for index in self.order[:depth] if self.search.space.cuts[index].name in item.loops]
            buffer, moved, cycles, legal = self.search.tables(item, seen, self.points)
            fetches = self.above[:, depth]
            rows.append((buffer, moved * fetches, cycles, fetches, legal))
        axes = [1] * count + [len(self.points)]
        axes[position] = len(depths)
        stacked = [np.stack(column).reshape(axes) for column in zip(*rows, strict=True)]
        return _Choice(item, tuple(depths), *stacked)

    def legal(self, used: Numbers) -> npt.NDArray[np.bool_]:
        """Where everything fits and every transfer can be done."""
        legal = used <= self.search.room
        for choice in self.choices:
            legal = legal & (choice.legal > 0)
        return legal

    def doublings(self) -> Iterator[tuple[list[npt.NDArray[np.bool_]], Numbers]]:
        """Sets of operands with two buffers, and the bytes of all buffers: those that gain most, one left out or none.

        Where a set would hold an operand that gains nothing, that one keeps one buffer.
        """
        used = total_of([choice.buffer for choice in self.choices])
        none = [np.zeros(used.shape, bool) for _ in self.choices]
        if self.search.buffering != "double":
            yield none, used
        if self.search.buffering == "single" or not self.choices:
            return
        gains, bytes_each = self._gains(used.shape)
        ranks = np.argsort(np.argsort(-gains, axis=0, kind="stable"), axis=0, kind="stable")
        count = len(self.choices)
        if self.search.buffering == "double":
            doubled = gains > 0
            yield list(doubled), used + np.where(doubled, bytes_each, 0).sum(axis=0)
            return
        for most in range(1, count + 1):
            for hole in range(most):  # a hole at the end is the shorter prefix
                without = hole if hole < most - 1 else count
                doubled = (gains > 0) & (ranks < most) & (ranks != without)
                yield list(doubled), used + np.where(doubled, bytes_each, 0).sum(axis=0)

    def _gains(self, shape: tuple[int, ...]) -> tuple[Numbers, Numbers]:
        """Of every operand, what a second buffer gains per byte, and what it takes."""
        gains = [
            np.broadcast_to((choice.fetches - 1) * choice.each / np.maximum(choice.buffer, 1), shape)
            for choice in self.choices
        ]
        return np.stack(gains), np.stack([np.broadcast_to(choice.buffer, shape) for choice in self.choices])

    def _buffers(self) -> tuple[list[npt.NDArray[np.bool_]], Numbers]:
        """Which operands have two buffers, best gain per byte first while there is room; and the bytes of all."""
        used = total_of([choice.buffer for choice in self.choices])
        shape = used.shape
        if self.search.buffering == "single" or not self.choices:
            return [np.zeros(shape, bool) for _ in self.choices], used
        gains, bytes_each = self._gains(shape)
        doubled = np.zeros(gains.shape, bool)
        left = self.search.room - used - self.scratch
        for rank in np.argsort(-gains, axis=0, kind="stable"):
            at = rank[None]
            wanted = np.take_along_axis(bytes_each, at, 0)[0]
            take = (np.take_along_axis(gains, at, 0)[0] > 0) & (wanted <= left)
            np.put_along_axis(doubled, at, take[None], 0)
            extra = np.where(take, wanted, 0)
            left, used = left - extra, used + extra
        return list(doubled), used

    def cycles(self, doubled: Sequence[npt.NDArray[np.bool_]]) -> Numbers:
        """Prologue, every change of tile with what travels meanwhile, epilogue."""
        tiles = self.above[:, -1]
        compute = self.computes / tiles
        total: Numbers = total_of([choice.each for choice in self.choices]) + compute
        for level in range(1, len(self.order) + 1):
            changes = self.above[:, level] - self.above[:, level - 1]
            hidden = exposed = np.zeros(1)
            for choice, twice in zip(self.choices, doubled, strict=True):
                depths = np.array(choice.depths).reshape([-1 if n > 1 else 1 for n in choice.each.shape[:-1]] + [1])
                moving = choice.each * (depths >= level)
                hidden = hidden + np.where(twice, moving, 0.0)
                exposed = exposed + np.where(twice, 0.0, moving)
            total = total + changes * (np.maximum(compute, hidden) + exposed)
        return total

    def found(
        self, at: Sequence[np.intp | int], doubled: Sequence[npt.NDArray[np.bool_]], costs: tuple[float, float, float]
    ) -> Found:
        point = self.points[at[-1]]
        cut = [(place, index) for place, index in enumerate(self.order) if self.trips[at[-1], place] > 1]
        nest = tuple((self.search.space.cuts[index].name, int(point[index])) for _, index in cut)
        copies = {}
        for choice, twice, option in zip(self.choices, doubled, at, strict=False):
            depth = choice.depths[option]
            kept = sum(place < depth for place, _ in cut)
            while kept and nest[kept - 1][0] not in choice.item.loops:
                kept -= 1
            fetches = float(np.broadcast_to(choice.fetches, choice.fetches.shape)[_own(at, choice.fetches)])
            copies[choice.item.name] = TileCopy(depth=kept, buffers=2 if bool(twice[tuple(at)]) and fetches > 1 else 1)
        cycles, moved, score = costs
        return Found(nest=nest, copies=copies, cycles=cycles, moved_bytes=moved, score=score)


def _own(at: Sequence[np.intp | int], array: Numbers) -> tuple[np.intp | int, ...]:
    """The place of one combination in an array that has only some of the axes."""
    return tuple(index if extent > 1 else 0 for index, extent in zip(at, array.shape, strict=True))


def total_of(terms: Sequence[Numbers]) -> Numbers:
    total: Numbers = np.sum(np.broadcast_arrays(np.zeros(1), *terms), axis=0)
    return total


def better(best: Found | None, found: Found) -> Found:
    """The one with the lower score; the first of equals."""
    return found if best is None or found.score < best.score else best
