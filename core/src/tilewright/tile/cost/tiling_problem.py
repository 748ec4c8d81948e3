"""Knows what tiles of every size take and cost, whatever their order: computation, buffers, scratch, and what every
window of an operand takes to move. Transfers are those of `memory_path`, for many tile sizes at once, in arrays.
Does not know orders of loops, copy levels, nor which sizes are chosen.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from math import prod
from operator import floordiv
from typing import TYPE_CHECKING

import numpy as np

from tilewright.ir.access.index import mentions
from tilewright.ir.access.index_map import MapAccess
from tilewright.ir.machines.kernel import TileShape
from tilewright.ir.machines.platform import CopyPath
from tilewright.ir.plans.tiler import Buffering
from tilewright.ir.rounding import align_up, ceil_div
from tilewright.ir.tensors.layout import strides
from tilewright.tile.cost.kernel_costs import TileCallCosts, scratch_bytes
from tilewright.tile.cost.traffic import MOVED_BYTES_PER_CYCLE
from tilewright.tile.memory_path import longest_run
from tilewright.tile.space.aligned_windows import misfit
from tilewright.tile.space.grid import grid
from tilewright.tile.space.spans import different, unique_rows
from tilewright.tile.space.split_reductions import accumulator_bytes
from tilewright.tile.space.tiling_space import CopiedOperand, TilingSpace, WindowTable, bound_bytes

if TYPE_CHECKING:
    import numpy.typing as npt

    Numbers = npt.NDArray[np.float64]
    Integers = npt.NDArray[np.int64]

_FEW = 6  # sizes that are priced one by one
_MOST_WINDOWS = 1 << 15  # that are priced together


class SpaceTables:
    """What is worked out once for all spaces of a step that differ in the operands that are copied and in the room."""

    def __init__(self, space: TilingSpace) -> None:
        self.windows = WindowTable(space)
        self.points = grid(space)
        self.rooms: dict[str, Integers] = {}  # operand -> bytes of a buffer, for each point
        self.prices: dict[tuple[str, str], WindowCosts] = {}  # of an operand, and a loop along which its rows stay
        self.computes: dict[tuple[int, ...], float] = {}
        self.exposed: dict[tuple[int, ...], float] = {}
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

    def exposed(self, points: Integers) -> Numbers:
        """What these take longer where jobs do not run beside what the cores finish of the jobs before."""
        if self.space.kernel.finish is None:
            return np.zeros(len(points))
        return np.array([self._exposed(tuple(row)) for row in points.tolist()])

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
        transferred then, and the cycles are the DMA core's and those in which the cores move what stays.
        """
        columns = self._columns(item)
        cut = np.array([[index in seen for index in columns] for seen, _ in wanted], bool)
        whole = np.array([self.space.extents[self.space.cuts[index].name] for index in columns], np.int64)
        windows = np.where(cut[:, None], points[:, columns], whole)
        priced = self._prices(item).at(windows.reshape(len(wanted) * len(points), len(columns)))
        costs: Numbers = priced.reshape(len(wanted), len(points), 4).swapaxes(1, 2)
        for at, (_, roll) in enumerate(wanted):
            if roll:
                buffer, moved, cycles, legal = self._prices(item, roll).at(windows[at]).T
                stay = (costs[at, 1] - moved) / MOVED_BYTES_PER_CYCLE / max(1, self.space.engine.cores)
                costs[at] = buffer, moved, cycles + stay, legal
        return costs

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
            self.tables.computes[key] = sum(count * self._call(trips) for trips, count in self._calls(key))
        return self.tables.computes[key]

    def _exposed(self, key: tuple[int, ...]) -> float:
        if key not in self.tables.exposed:
            names, costs = [loop.name for loop in self.space.cuts], self.tables.costs
            calls = ((dict(zip(names, trips, strict=True)), count) for trips, count in self._calls(key))
            self.tables.exposed[key] = sum(count * costs.exposed(cut) for cut, count in calls)
        return self.tables.exposed[key]

    def _calls(self, key: tuple[int, ...]) -> Iterator[tuple[tuple[int, ...], int]]:
        """Trips of the loops that are cut, and how many calls have them."""
        ends = []
        for loop, size in zip(self.space.cuts, key, strict=True):
            full, rest = divmod(self.space.extents[loop.name], size)
            ends.append([(size, full)] + ([(rest, 1)] if rest else []))
        for kinds in product(*ends):
            yield tuple(trips for trips, _ in kinds), prod(times for _, times in kinds)

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


class WindowCosts:
    """One operand's: for each combination of tile sizes of its loops the bytes of a buffer, the average bytes and
    cycles of the transfers of a window, and whether the path takes them all. Each is worked out once.
    """

    def __init__(
        self,
        item: CopiedOperand,
        table: WindowTable,
        sizes: Sequence[Integers],
        grain: int,
        roll: tuple[str, int] | None = None,
    ) -> None:
        self.item, self.table, self.grain = item, table, grain
        self.roll = roll  # the loop along which rows stay, and their axis
        self._sizes = sizes  # of each loop, rising
        self._pace = [prod(len(size) for size in sizes[at + 1 :]) for at in range(len(sizes))]
        count = prod(len(size) for size in sizes)
        self._known = np.zeros(count, bool)
        self._rows = np.empty((count, 4))

    def at(self, points: Integers) -> Numbers:
        """[points, 4] for `points`, [points, loops of the operand]."""
        places = np.zeros(len(points), np.int64)
        for at, (sizes, pace) in enumerate(zip(self._sizes, self._pace, strict=True)):
            places += np.searchsorted(sizes, points[:, at]) * pace
        known = self._known[places]
        if not known.all():
            new, first, _ = different(places[~known])
            self._rows[new] = self._priced(points[~known][first])
            if not self.item.any_window:
                self._rows[new, 3] = [self._is_legal(row) for row in points[~known][first].tolist()]
            self._known[new] = True
        result: Numbers = self._rows[places]
        return result

    def _is_legal(self, sizes: Sequence[int]) -> bool:
        """Whether the path takes the windows of tiles of these sizes."""
        return self.roll is None and not misfit(self.table, self.item, dict(zip(self.item.loops, sizes, strict=True)))

    def _priced(self, points: Integers) -> Numbers:
        access = self.table.space.access
        is_small = self.item.whole or (len(points) <= _FEW and self.roll is None)
        if is_small or not isinstance(access, MapAccess) or self.table._is_joint(self.item):
            return np.array([self._one(tuple(row)) for row in points.tolist()], float)
        along = [self._classes(access, position, points) for position in range(len(self.item.shape))]
        room = [extents.max(axis=1) for extents, _ in along]
        if self.roll is not None:
            along[self.roll[1]] = self._new_rows(points)
        each = prod(extents.shape[1] for extents, _ in along)
        step = max(1, _MOST_WINDOWS // each)
        parts = [
            self._many(
                [(bytes_left[at : at + step], other[at : at + step]) for bytes_left, other in along],
                [bytes_left[at : at + step] for bytes_left in room],
            )
            for at in range(0, len(points), step)
        ]
        return np.concatenate(parts)

    def _one(self, sizes: tuple[int, ...]) -> tuple[int, float, float, bool]:
        windows = self.table.windows(self.item, dict(zip(self.item.loops, sizes, strict=True)))
        size, cycles, tiles = 0, 0.0, 0
        for extents, count in windows.classes:
            one = self.item.transfers(extents, windows.capacity)
            size += one.size_bytes * count
            cycles += one.cycles(self.item.path) * count
            tiles += count
        room = self.item.item_bytes * prod(windows.capacity)
        return align_up(room, self.grain), size / tiles, cycles / tiles, True

    def _classes(self, access: MapAccess, position: int, points: Integers) -> tuple[Integers, Integers]:
        """Along one axis the extents of windows, and how many tiles have each, [points, extents]: none fill up rows."""
        index = access.axes[self.item.name][position].index
        columns = [at for at, name in enumerate(self.item.loops) if mentions(index, name)]
        cut = [self.item.loops[at] for at in columns]
        names = [name for name in self.table.moving(self.item) if mentions(index, name)]
        held = {name: self.table.space.extents[name] for name in names}
        unique, inverse = unique_rows(points[:, columns])
        groups = [
            self.table._along(self.item.name, position, names, {**held, **dict(zip(cut, row, strict=True))})
            for row in unique.tolist()
        ]
        return _filled(groups, inverse)

    def _new_rows(self, points: Integers) -> tuple[Integers, Integers]:
        """The same along the axis of which rows stay, for what is new."""
        loop, position = self.roll or ("", 0)
        unique, _, inverse = different(points[:, self.item.loops.index(loop)])
        groups = [self.table.new_rows(self.item.name, position, loop, size) for size in unique.tolist()]
        return _filled(groups, inverse)

    def _many(self, along: Sequence[tuple[Integers, Integers]], room: Sequence[Integers]) -> Numbers:
        """Every combination of extents along the axes, and their averages; buffers have `room`."""
        count = len(along[0][0]) if along else 1
        rank, columns, times = len(along), [], np.ones((count, *[1] * len(along)), np.int64)
        for position, (extents, often) in enumerate(along):
            shape = [count, *[1] * rank]
            shape[position + 1] = extents.shape[1]
            columns.append(extents.reshape(shape))
            times = times * often.reshape(shape)
        wide = [np.broadcast_to(column, times.shape).reshape(-1) for column in columns]
        rooms = [np.repeat(bytes_left, times.size // count) for bytes_left in room]
        size, cycles = many_transfers(self.item, wide, rooms)
        weights = times.reshape(count, -1)
        tiles = weights.sum(axis=1)
        buffer = self.item.item_bytes * np.prod(np.stack([np.ones(count, np.int64), *room]), axis=0)
        return np.stack(
            [
                align_up(buffer, self.grain),
                (size.reshape(count, -1) * weights).sum(axis=1) / tiles,
                (cycles.reshape(count, -1) * weights).sum(axis=1) / tiles,
                np.ones(count),
            ],
            axis=1,
        )


def _filled(groups: Sequence[Sequence[tuple[int, int]]], inverse: Integers) -> tuple[Integers, Integers]:
    most = max(len(classes) for classes in groups)
    filled = np.array([[*classes, *[(0, 0)] * (most - len(classes))] for classes in groups], np.int64)
    return filled[inverse, :, 0], filled[inverse, :, 1]


def many_transfers(
    item: CopiedOperand, extents: Sequence[Integers], room: Sequence[Integers]
) -> tuple[Integers, Numbers]:
    """Bytes and cycles of many windows of an operand; `extents` and `room` by axis. See `transfers`."""
    count, path = len(extents[0]), item.path
    every = item.steps or (1,) * len(extents)
    far_steps = strides(item.shape, item.layout)
    near = np.ones(count, np.int64)
    groups = [np.ones(count, np.int64) for _ in range(3)]  # trips of the innermost loop, and of those around it
    number = np.full(count, -1)
    total, flat = np.ones(count, np.int64), np.ones(count, bool)
    far_end, near_end = np.zeros(count, np.int64), np.zeros(count, np.int64)
    for axis in reversed(item.layout):
        trips, far_step, near_step = (
            ceil_div(extents[axis], every[axis]),
            far_steps[axis] * every[axis],
            near * every[axis],
        )
        runs = trips != 1
        flat &= ~(runs & (number < 0)) | ((far_step <= 1) & (near_step <= 1))
        number += runs & ((number < 0) | (far_end != far_step) | (near_end != near_step))
        groups = [group * np.where(number == place, trips, 1) for place, group in enumerate(groups)]
        total *= trips
        far_end = np.where(runs, far_step * trips, far_end)
        near_end = np.where(runs, near_step * trips, near_end)
        near = near * room[axis]
    run = np.where(flat, groups[0], 1)
    rows = np.where(flat, groups[1], groups[0]) if path.dimensions > 1 else np.ones(count, np.int64)
    moved = total > 0
    run, rows = np.where(moved, run, 1), np.where(moved, rows, 1)
    run_bytes = align_up(run * item.item_bytes, path.align)
    if path.dimensions > 2:
        planes = np.where(moved, np.where(flat, groups[2], groups[1]), 1)
        most = np.iinfo(np.int64).max if path.max_bytes is None else path.max_bytes
        rows = rows * np.where(run_bytes * rows * planes <= most, planes, 1)
    pieces = _pieces(run_bytes, rows, path)
    piece_bytes, lines = ceil_div(run_bytes * rows, pieces), ceil_div(rows, pieces)
    cycles = np.where(moved, total // (run * rows) * pieces * _cycles(piece_bytes, lines, path), 0.0)
    return total // run * run_bytes, cycles


def _pieces(run_bytes: Integers, rows: Integers, path: CopyPath) -> Integers:
    """Transfers that each one is made of, where the path takes no more at once."""
    pieces = np.ones(len(rows), np.int64)
    if path.max_bytes is None:
        return pieces
    whole_rows = path.max_bytes // run_bytes
    by_row = ceil_div(rows, np.maximum(whole_rows, 1))
    cut = np.where(whole_rows > 0, by_row, rows * ceil_div(run_bytes, longest_run(path)))
    return np.where(run_bytes * rows > path.max_bytes, cut, pieces)


def _cycles(sizes: Integers, rows: Integers, path: CopyPath) -> Numbers:
    unique, inverse = unique_rows(np.stack([sizes, rows], axis=1))
    return np.array([path.cycles(size, lines) for size, lines in unique.tolist()], float)[inverse]
