"""Knows which rows of a value a call reads through a view of its bytes, element by element.
Does not know orders, nor which rows are there.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from tilewright.check.tiles.calls import CheckedStep
from tilewright.check.tiles.checked_plan import BackingOperand
from tilewright.ir.access.index_map import Box
from tilewright.ir.tensors.layout import strides

Integers = npt.NDArray[np.int64]


def rows_through(
    value: BackingOperand, axis: int, reader: CheckedStep, view: BackingOperand, boxes: Iterable[Box]
) -> tuple[int, ...]:
    """The rows along an axis of a value whose bytes are touched when a view of it is read."""
    step, rows = strides(value.shape, value.layout)[axis], value.shape[axis]
    result = (_places(reader, view, box) // step % rows for box in boxes)
    return tuple(sorted({row for rows in result for row in rows.reshape(-1).tolist()}))


def _places(reader: CheckedStep, view: BackingOperand, box: Box) -> Integers:
    """Where the elements that a call reads are, counted as they are stored."""
    result = np.zeros(1, np.int64)
    windows = reader.access.window(view.name, box)
    for span, by in zip(windows, strides(view.shape, view.layout), strict=True):
        result = np.add.outer(result, np.arange(span.low, span.high, dtype=np.int64) * by).reshape(-1)
    return result
