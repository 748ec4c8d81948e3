"""Knows which windows a copy can move that takes only multiples of some bytes, from and to multiples of them, so that
other lengths are padded. Does not know which tiles are chosen, nor what a transfer takes.

A fetch may read more than its window where that is the operand's own, or padding of its buffer. A store may write more
only where padding follows: behind the operand's last byte.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from tilewright.ir.access.index import mentions
from tilewright.ir.access.index_map import MapAccess
from tilewright.ir.rounding import align_up
from tilewright.ir.tensors.layout import strides
from tilewright.tile.space.spans import rows_of, spans, unique_rows

if TYPE_CHECKING:
    import numpy.typing as npt

    from tilewright.tile.space.tiling_space import CopiedOperand, WindowTable

    Integers = npt.NDArray[np.int64]
    Ends = tuple[Integers, Integers]  # the first position of windows along an axis, and the one behind the last

# along an axis: bytes to the first position, less what is aligned; the extent; whether all of the operand ends there
Place = tuple[int, int, int]


def misfit(table: WindowTable, item: CopiedOperand, cuts: Mapping[str, int]) -> str:
    """Why the path of an operand cannot move the windows of all tiles of these sizes; "" where it can."""
    fault = _operand_fault(item)
    if fault or item.any_window:
        return fault
    room = table.windows(item, cuts).capacity
    if table.is_entire(item, cuts):
        return _fault(item, [(0, extent, 1) for extent in item.shape], room, ())
    groups = list(_apart(table, item, cuts))
    varying = [axis for axes, windows in groups for axis in _varying(axes, windows)]
    parts = [_places(item, axes, windows) for axes, windows in groups]
    for chosen in product(*parts):
        places = dict(pair for part in chosen for pair in part)
        fault = _fault(item, [places[axis] for axis in range(len(item.shape))], room, varying)
        if fault:
            return fault
    return ""


def misfit_of(item: CopiedOperand, windows: Sequence[Ends], room: Sequence[int], *, held: bool) -> str:
    """The same of windows by axis, in arrays that broadcast. `held`: the buffer is that of a value which a region
    keeps, and a window may begin inside it.
    """
    fault = _operand_fault(item)
    if fault or item.any_window:
        return fault
    axes = range(len(item.shape))
    varying = _varying(axes, windows)
    for chosen in _places(item, axes, windows):
        places = [place for _, place in chosen]
        inside = held and any(place[1] != extent for place, extent in zip(places, room, strict=True))
        fault = f"a part of a tile of {item.name} is stored" if inside else _fault(item, places, room, varying)
        if fault:
            return fault
    return ""


def _operand_fault(item: CopiedOperand) -> str:
    if item.aligned_offset:
        return ""
    return f"{item.name} begins at no multiple of {item.path.align} bytes"


def _apart(
    table: WindowTable, item: CopiedOperand, cuts: Mapping[str, int]
) -> Iterator[tuple[Sequence[int], Sequence[Ends]]]:
    """Groups of axes that move independently of each other, and the windows of all tiles along them."""
    access = table.space.access
    whole = {loop.name: (0, loop.extent) for loop in access.loops}
    if not isinstance(access, MapAccess):
        window = access.window(item.name, whole)
        yield range(len(window)), [(np.array(span.low), np.array(span.low + span.extent)) for span in window]
        return
    axes, sizes = access.axes[item.name], {**{name: table.space.extents[name] for name in table.around}, **cuts}
    moving = [[name for name in table.moving(item) if mentions(axis.index, name)] for axis in axes]
    joint = len({name for names in moving for name in names}) != sum(map(len, moving))
    groups = [list(range(len(axes)))] if joint else [[position] for position in range(len(axes))]
    for group in groups:
        names = sorted({name for position in group for name in moving[position]})
        tiles = {name: table.tiles(name, sizes.get(name, table.space.extents[name])) for name in names}
        counts = np.ix_(*(range(len(tiles[name][0])) for name in names))
        ranges = {name: (tiles[name][0][at], tiles[name][1][at]) for name, at in zip(names, counts, strict=True)}
        yield group, [spans(axes[position], whole, ranges)[:2] for position in group]


def _places(item: CopiedOperand, axes: Sequence[int], windows: Sequence[Ends]) -> list[tuple[tuple[int, Place], ...]]:
    """The different windows along some axes together, those without elements left out: each axis with its place."""
    columns: list[Integers] = []
    steps = strides(item.shape, item.layout)
    for axis, (low, high) in zip(axes, windows, strict=True):
        extents = np.maximum(high - low, 0)
        ends = extents if item.in_tile else high
        columns += [low * (steps[axis] * item.item_bytes) % item.path.align, extents, ends == item.shape[axis]]
    shape = np.broadcast_shapes(*(column.shape for column in columns))
    rows, _ = unique_rows(rows_of(columns, shape))
    every = (list(zip(row[::3], row[1::3], row[2::3], strict=True)) for row in rows.tolist())
    return [tuple(zip(axes, row, strict=True)) for row in every if all(extent for _, extent, _ in row)]


def _varying(axes: Sequence[int], windows: Sequence[Ends]) -> list[int]:
    """The axes along which some windows are longer than others: what is around these is not joined with them in C."""
    extents = [np.maximum(high - low, 0) for low, high in windows]
    return [axis for axis, lengths in zip(axes, extents, strict=True) if lengths.min() != lengths.max()]


def _fault(item: CopiedOperand, places: Sequence[Place], room: Sequence[int], varying: Sequence[int]) -> str:
    """Of one window."""
    align, item_bytes = item.path.align, item.item_bytes
    if sum(start for start, _, _ in places) % align:
        return f"a tile of {item.name} begins at no multiple of {align} bytes"
    sides = [[step * item_bytes for step in strides(shape, item.layout)] for shape in (item.shape, room)]
    loops: list[tuple[int, list[int]]] = []
    for axis in item.layout:
        extent, moves = places[axis][1], [side[axis] for side in sides]
        if loops and axis not in varying and loops[-1][1] == [move * extent for move in moves]:
            loops[-1] = loops[-1][0] * extent, moves
        elif extent > 1 or axis in varying:
            loops.append((extent, moves))
    run = item_bytes * (loops.pop()[0] if loops and loops[-1][1] == [item_bytes] * 2 else 1)
    pitches = sorted(move for extent, moves in loops for move in moves if extent > 1)
    odd = [pitch for pitch in pitches if pitch % align]
    if odd:
        return f"rows of a tile of {item.name} are {odd[0]} bytes apart"
    if not run % align:
        return ""
    if item.written and (pitches or not all(ends for _, _, ends in places)):
        return f"{run} bytes of {item.name} are stored at once, and {align_up(run, align)} would be written"
    if not item.padded and item_bytes * prod(item.shape) % align:
        return f"behind the last byte of {item.name} is nothing that a copy may move, too"
    return ""
