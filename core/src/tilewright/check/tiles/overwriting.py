"""Knows whether bytes are read after others have taken them, in the buffers where values live.
Does not know buffers' sizes or transfers.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

import numpy as np
import numpy.typing as npt

from tilewright.check.tiles.calls import Bounds, Calls, Integers
from tilewright.check.tiles.checked_plan import BackingOperand
from tilewright.check.tiles.copies import Copies
from tilewright.ir.plans.region import key_of
from tilewright.ir.tensors.layout import strides

_NEVER = np.iinfo(np.int64).max


def overwriting_faults(copies: Copies) -> Iterator[str]:
    """What is read where something has been stored already."""
    for left, item in copies.outside:
        for right, output in copies.outside:
            if (
                output.written
                and not item.written
                and _overlap(item, output)
                and _late(copies, (left, item), (right, output))
            ):
                yield f"{item.name} is read where {output.name} has been stored"


def _overlap(item_a: BackingOperand, item_b: BackingOperand) -> bool:
    ends = [part.offset_bytes + part.item_bytes * prod(part.shape) for part in (item_a, item_b)]
    return item_a.buffer == item_b.buffer and item_a.offset_bytes < ends[1] and item_b.offset_bytes < ends[0]


def _late(copies: Copies, reader: tuple[Calls, BackingOperand], writer: tuple[Calls, BackingOperand]) -> bool:
    """Whether a byte is fetched in a later tile than that in which it was first stored to."""
    size = max(item.offset_bytes + item.item_bytes * prod(item.shape) for _, item in (reader, writer))
    fetched, stored = np.full(size, -1, np.int64), np.full(size, _NEVER, np.int64)
    for tile, places in _visits(copies, *reader):
        fetched[places] = np.maximum(fetched[places], tile)
    for tile, places in _visits(copies, *writer):
        stored[places] = np.minimum(stored[places], tile)
    return bool((fetched > stored).any())


def _visits(copies: Copies, call: Calls, item: BackingOperand) -> Iterator[tuple[int, npt.NDArray[np.int64]]]:
    """Every time that an operand's bytes in the backing memory are read, or written: the tile, and where they are.

    A fetch is in the first tile that shares it, a store in the last. Where the same is fetched again, the last time
    counts; what is not copied is read in every tile.
    """
    windows, copy_level = call.touched(item), len(copies.extents)
    for at, hop in enumerate(copies.region.hops):
        copy = hop.copies.get(key_of(call.step.name, item.name))
        if copy is not None:
            windows, copy_level = copies.copied_windows(call, item, at)[1], copies.level(at, copy)
            break
        if not item.written and copies.crossing(hop, item.value):
            return  # brought under another operand
    ends = [ends.clipped(extent) for ends, extent in zip(windows, item.shape, strict=True)]
    tiles = _tiles(copies.extents, copy_level, ends, written=item.written)
    for numbers in np.stack(
        [ends_of_axis.reshape(-1) for ends_of_axis in np.broadcast_arrays(tiles, *_flat(ends))], axis=1
    ).tolist():
        yield numbers[0], _bytes_of(item, numbers[1::2], numbers[2::2])


def _flat(ends: list[Bounds]) -> Iterator[Integers]:
    yield from (side for bounds in ends for side in bounds)


def _tiles(shape: tuple[int, ...], copy_level: int, windows: list[Bounds], *, written: bool) -> Integers:
    """Numbers of tiles, in the order in which they run, over the cuts that move the windows."""
    moved = {cut for ends in windows for cut in ends.moved_by()}
    number = np.array(0)
    for cut, extent in enumerate(shape):
        weight = prod(shape[cut + 1 :])
        if cut in moved and cut < copy_level:
            number = number + weight * np.arange(extent).reshape([-1 if at == cut else 1 for at in range(len(shape))])
        elif (cut < copy_level) or written:
            number = number + weight * (extent - 1)
    return number


def _bytes_of(item: BackingOperand, lows: list[int], highs: list[int]) -> npt.NDArray[np.int64]:
    """Where a window's bytes are in the operand's buffer."""
    place = np.zeros((), np.int64)
    for low, high, step in zip(lows, highs, strides(item.shape, item.layout), strict=True):
        place = np.add.outer(place, np.arange(low, high) * step)
    return np.add.outer(place * item.item_bytes + item.offset_bytes, np.arange(item.item_bytes)).reshape(-1)
