"""Knows positions of windows and ranges of trips, for many tiles at once. Does not know spaces, steps or memories."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from tilewright.ir.access.index import Axis, Index
from tilewright.ir.access.index_map import Box

if TYPE_CHECKING:
    import numpy.typing as npt

    Integers = npt.NDArray[np.int64]


_FEW = 16  # rows that are compared one by one: it takes less than to set up arrays
_FEW_NUMBERS = 64  # that are counted one by one


def spans(
    axis: Axis, box: Box, tiles: Mapping[str, tuple[Integers, Integers]]
) -> tuple[Integers, Integers, Integers, Integers]:
    """`Axis.span` for many tiles at once: low, high, before, after.

    `tiles` has for some loops the half-open ranges of their trips, in arrays that broadcast; `box` has the others.
    """
    if axis.index is None:
        zero = np.zeros((), np.int64)
        return zero, zero + axis.extent, zero, zero
    low, last = _range(axis.index, box, tiles)
    end = last + 1
    return (
        np.minimum(np.maximum(low, 0), axis.extent),
        np.minimum(np.maximum(end, 0), axis.extent),
        np.maximum(0, -low),
        np.maximum(0, end - axis.extent),
    )


def _range(index: Index, box: Box, tiles: Mapping[str, tuple[Integers, Integers]]) -> tuple[Integers, Integers]:
    low = high = np.asarray(index.offset, np.int64)
    for term in index.terms:
        if term.inner is None:
            first, end = tiles.get(term.loop) or box[term.loop]
            bottom, top = np.asarray(first), np.maximum(first, np.asarray(end) - 1)
        else:
            bottom, top = _applied(term.operation, term.by, *_range(term.inner, box, tiles))
        left, right = bottom * term.coefficient, top * term.coefficient
        low, high = low + np.minimum(left, right), high + np.maximum(left, right)
    return low, high


def _applied(operation: str, by: tuple[int, ...], low: Integers, high: Integers) -> tuple[Integers, Integers]:
    if operation == "//":
        return low // by[0], high // by[0]
    if operation == "%":
        together = low // by[0] == high // by[0]
        return np.where(together, low % by[0], 0), np.where(together, high % by[0], by[0] - 1)
    return np.clip(low, by[0], by[1]), np.clip(high, by[0], by[1])


def tile_ranges(extent: int, size: int) -> tuple[Integers, Integers]:
    """The half-open range of trips of every tile of a loop."""
    low = np.arange(0, extent, size, dtype=np.int64)
    return low, np.minimum(low + size, extent)


@lru_cache(maxsize=4096)
def ranges(extent: int, nested: tuple[int, ...]) -> tuple[Integers, Integers]:
    return nested_ranges(extent, nested)


def rows_of(columns: Sequence[Integers], shape: Sequence[int]) -> Integers:
    """A table of columns that broadcast to `shape`, a row for each element."""
    result = np.empty((*shape, len(columns)), np.int64)
    for at, column in enumerate(columns):
        result[..., at] = column
    return result.reshape(prod(shape), len(columns))


def unique_rows(rows: Integers) -> tuple[Integers, Integers]:
    """The different rows of a table, and for each row which of those it is; sorted as one number for each row."""
    if not rows.shape[1]:
        return rows[:1], np.zeros(len(rows), np.int64)
    if len(rows) <= _FEW:
        every = [tuple(row) for row in rows.tolist()]
        known = sorted(set(every))
        where = {row: at for at, row in enumerate(known)}
        shape = (len(known), rows.shape[1])
        return np.array(known, np.int64).reshape(shape), np.array([where[row] for row in every], np.int64)
    if rows.shape[1] == 1:
        apart, _, inverse = different(rows[:, 0])
        return apart[:, None], inverse
    low, high = rows.min(axis=0), rows.max(axis=0)
    span = [int(extent) for extent in high - low + 1]
    steps = [prod(span[position + 1 :]) for position in range(len(span))]
    if prod(span) > np.iinfo(np.int64).max:
        unique, inverse = np.unique(rows, axis=0, return_inverse=True)
        return unique, inverse.reshape(-1)
    keys = (rows - low) @ np.array(steps, np.int64)
    _, first, inverse = different(keys)
    return rows[first], inverse


def different(numbers: Integers) -> tuple[Integers, Integers, Integers]:
    """The different ones among some, rising; where each is first; and for each number which of those it is.

    `np.unique` gives the same, but imports masked arrays: more than a tenth of what the import of onnx takes.
    """
    order = np.argsort(numbers, kind="stable")
    rising = numbers[order]
    new = np.ones(len(rising), bool)
    np.not_equal(rising[1:], rising[:-1], out=new[1:])
    inverse = np.empty(len(rising), np.int64)
    inverse[order] = np.cumsum(new) - 1
    return rising[new], order[new], inverse


def counted(numbers: Integers) -> tuple[tuple[int, int], ...]:
    """The different ones among some, rising, and how often each is there."""
    if numbers.size <= _FEW_NUMBERS:
        return tuple(sorted(Counter(numbers.reshape(-1).tolist()).items()))
    result, _, inverse = different(numbers.reshape(-1))
    return tuple(zip(result.tolist(), np.bincount(inverse).tolist(), strict=True))


def nested_ranges(extent: int, nested: Sequence[int]) -> tuple[Integers, Integers]:
    """The ranges of the innermost of tiles inside tiles; `nested` has their extents, outermost first."""
    low, high = np.zeros(1, np.int64), np.full(1, extent, np.int64)
    for size in nested:
        parts = [np.arange(start, end, size, dtype=np.int64) for start, end in zip(low, high, strict=True)]
        ends = [np.minimum(part + size, end) for part, end in zip(parts, high, strict=True)]
        low, high = np.concatenate(parts), np.concatenate(ends)
    return low, high
