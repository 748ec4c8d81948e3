"""Knows what every window of an operand takes to move, for many tile sizes at once: the same as `transfers`, in arrays.
Does not know orders of loops, copy levels, nor which sizes are chosen.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from tilewright.ir.access.index import mentions
from tilewright.ir.access.index_map import MapAccess
from tilewright.ir.machines.platform import CopyPath
from tilewright.ir.rounding import align_up, ceil_div
from tilewright.ir.tensors.layout import strides
from tilewright.tile.space.spans import different, unique_rows
from tilewright.tile.space.tiling_space import CopiedOperand, WindowTable

if TYPE_CHECKING:
    import numpy.typing as npt

    Numbers = npt.NDArray[np.float64]
    Integers = npt.NDArray[np.int64]

_FEW = 6  # sizes that are priced one by one
_MOST_WINDOWS = 1 << 15  # that are priced together


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
        self._pace = [prod(len(one) for one in sizes[at + 1 :]) for at in range(len(sizes))]
        count = prod(len(one) for one in sizes)
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
            self._known[new] = True
        found: Numbers = self._rows[places]
        return found

    def _priced(self, points: Integers) -> Numbers:
        access = self.table.space.access
        few = len(points) <= _FEW and self.roll is None
        if few or not isinstance(access, MapAccess) or self.table._is_joint(self.item):
            return np.array([self._one(tuple(row)) for row in points.tolist()], float)
        along = [self._classes(access, position, points) for position in range(len(self.item.shape))]
        room = [extents.max(axis=1) for extents, _ in along]
        if self.roll is not None:
            along[self.roll[1]] = self._new_rows(points)
        each = prod(extents.shape[1] for extents, _ in along)
        step = max(1, _MOST_WINDOWS // each)
        parts = [
            self._many(
                [(one[at : at + step], other[at : at + step]) for one, other in along],
                [one[at : at + step] for one in room],
            )
            for at in range(0, len(points), step)
        ]
        return np.concatenate(parts)

    def _one(self, sizes: tuple[int, ...]) -> tuple[int, float, float, bool]:
        windows = self.table.windows(self.item, dict(zip(self.item.loops, sizes, strict=True)))
        size, cycles, tiles, legal = 0, 0.0, 0, self.item.aligned_offset
        for extents, count in windows.classes:
            one = self.item.transfers(extents, windows.capacity)
            size += one.size_bytes * count
            cycles += one.cycles(self.item.path) * count
            tiles += count
            legal = legal and one.legal(self.item.path)
        room = self.item.item_bytes * prod(windows.capacity)
        return align_up(room, self.grain), size / tiles, cycles / tiles, legal

    def _classes(self, access: MapAccess, position: int, points: Integers) -> tuple[Integers, Integers]:
        """Along one axis the extents of windows, and how many tiles have each, [points, extents]: none fill up rows."""
        index = access.axes[self.item.name][position].index
        columns = [at for at, name in enumerate(self.item.loops) if mentions(index, name)]
        cut = [self.item.loops[at] for at in columns]
        names = [name for name in self.table.moving(self.item) if mentions(index, name)]
        held = {name: self.table.space.extents[name] for name in names}
        unique, inverse = unique_rows(points[:, columns])
        found = [
            self.table._along(self.item.name, position, names, {**held, **dict(zip(cut, row, strict=True))})
            for row in unique.tolist()
        ]
        return _filled(found, inverse)

    def _new_rows(self, points: Integers) -> tuple[Integers, Integers]:
        """The same along the axis of which rows stay, for what is new."""
        loop, position = self.roll or ("", 0)
        unique, _, inverse = different(points[:, self.item.loops.index(loop)])
        found = [self.table.new_rows(self.item.name, position, loop, size) for size in unique.tolist()]
        return _filled(found, inverse)

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
        rooms = [np.repeat(one, times.size // count) for one in room]
        size, cycles, legal = many_transfers(self.item, wide, rooms)
        weights = times.reshape(count, -1)
        tiles = weights.sum(axis=1)
        buffer = self.item.item_bytes * np.prod(np.stack([np.ones(count, np.int64), *room]), axis=0)
        fine = (legal.reshape(count, -1) | (weights == 0)).all(axis=1)
        return np.stack(
            [
                align_up(buffer, self.grain),
                (size.reshape(count, -1) * weights).sum(axis=1) / tiles,
                (cycles.reshape(count, -1) * weights).sum(axis=1) / tiles,
                fine & self.item.aligned_offset,
            ],
            axis=1,
        )


def _filled(found: Sequence[Sequence[tuple[int, int]]], inverse: Integers) -> tuple[Integers, Integers]:
    most = max(len(classes) for classes in found)
    filled = np.array([[*classes, *[(0, 0)] * (most - len(classes))] for classes in found], np.int64)
    return filled[inverse, :, 0], filled[inverse, :, 1]


def many_transfers(
    item: CopiedOperand, extents: Sequence[Integers], room: Sequence[Integers]
) -> tuple[Integers, Numbers, npt.NDArray[np.bool_]]:
    """Bytes, cycles and legality of many windows of an operand; `extents` and `room` by axis. See `transfers`."""
    count, path = len(extents[0]), item.path
    every = item.steps or (1,) * len(extents)
    far_steps = strides(item.shape, item.layout)
    near = np.ones(count, np.int64)
    groups = [np.ones(count, np.int64) for _ in range(2)]  # trips of the innermost loop, and of the one around it
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
    run_bytes = run * item.item_bytes
    pieces = _pieces(run_bytes, rows, path)
    one, lines = ceil_div(run_bytes * rows, pieces), ceil_div(rows, pieces)
    cycles = np.where(moved, total // (run * rows) * pieces * _cycles(one, lines, path), 0.0)
    return total * item.item_bytes, cycles, ~moved | (run_bytes % path.align == 0)


def _pieces(run_bytes: Integers, rows: Integers, path: CopyPath) -> Integers:
    """Transfers that each one is made of, where the path takes no more at once."""
    pieces = np.ones(len(rows), np.int64)
    if path.max_bytes is None:
        return pieces
    whole_rows = path.max_bytes // run_bytes
    by_row = ceil_div(rows, np.maximum(whole_rows, 1))
    cut = np.where(whole_rows > 0, by_row, rows * ceil_div(run_bytes, path.max_bytes))
    return np.where(run_bytes * rows > path.max_bytes, cut, pieces)


def _cycles(sizes: Integers, rows: Integers, path: CopyPath) -> Numbers:
    unique, inverse = unique_rows(np.stack([sizes, rows], axis=1))
    return np.array([path.cycles(size, lines) for size, lines in unique.tolist()], float)[inverse]
