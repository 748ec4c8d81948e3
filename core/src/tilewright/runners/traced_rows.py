"""Knows how rows are seen as they are made: the header that has a program say so, and the values that they become.
Does not know how a program is built or run, nor what rows should be.

The harness writes, for every call of a step whose output is held in rows: set, step, first row, rows, and their bytes,
block by block. Rows that nobody reads are never computed: a value that lacks some is a masked array.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

from tilewright.ir.access import MapAccess
from tilewright.ir.graph import Tensor
from tilewright.ir.index import bare_loop
from tilewright.ir.layout import Layout
from tilewright.ir.stages import Allocated

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]

HEADER_NAME = "traced_rows.h"
FLAG = f'-DTW_ROWS_HEADER="{HEADER_NAME}"'
HEADER = """#include <stdint.h>
void tw_see_rows(uint32_t step, int32_t first, int32_t made, const uint8_t *bytes, int32_t blocks, int32_t capacity,
                 int32_t row_bytes);
#define TW_ROWS(step, rows, bytes, blocks, capacity, row_bytes) \\
    tw_see_rows((step), (rows)->first, (rows)->made, (bytes), (blocks), (capacity), (row_bytes))
"""
_HEAD = struct.Struct("<4I")


@dataclass(frozen=True, slots=True, kw_only=True)
class TracedRows:
    """A value that is held in rows. `axis` None: its rows are there together, once its step has made `trips`."""

    step: int
    value: str
    tensor: Tensor
    layout: Layout
    axis: int | None
    trips: int

    @property
    def count(self) -> int:
        """Rows in all."""
        return 1 if self.axis is None else self.tensor.shape[self.axis]

    @property
    def blocks(self) -> int:
        """How many pieces a row has."""
        outside = () if self.axis is None else self.layout[: self.layout.index(self.axis)]
        return prod(self.tensor.shape[axis] for axis in outside)


def traced_rows(plan: Allocated) -> tuple[TracedRows, ...]:
    """The values of a plan that are nowhere whole, because they are computed row by row."""
    return tuple(_of_regions(plan))


def _of_regions(plan: Allocated) -> Iterator[TracedRows]:
    bound = plan.tiled.scheduled.bound
    numbers = {step.name: number for number, step in enumerate(plan.tiled.scheduled.steps)}
    made = {value: node.name for node in bound.graph.nodes for value in node.outputs}
    for region in plan.tiled.regions:
        for value in region.inner if region.rows else ():
            step = made[value]
            loop = region.rows.loops[region.steps.index(step)] if region.rows else ""
            layer = bound.layers[step]
            extents = {one.name: one.extent for one in layer.access.loops}
            axes = layer.access.axes[layer.operator.outputs[0]] if isinstance(layer.access, MapAccess) else ()
            yield TracedRows(
                step=numbers[step],
                value=value,
                tensor=bound.graph.tensors[value],
                layout=bound.layouts[value],
                axis=next((at for at, axis in enumerate(axes) if loop and bare_loop(axis) == loop), None),
                trips=extents.get(loop, 1),
            )


def decode_rows(traced: tuple[TracedRows, ...], content: bytes, sets: int) -> tuple[Mapping[str, Array], ...]:
    """By set of inputs, every value of which rows were seen -> row-major array, masked where it lacks any."""
    stored = [{one.step: _Stored(one) for one in traced} for _ in range(sets)]
    at = 0
    while at < len(content):
        number, step, first, count = _HEAD.unpack_from(content, at)
        at += _HEAD.size
        at += stored[number][step].put(first, count, memoryview(content)[at:])
    return tuple({one.rows.value: one.array() for one in own.values() if one.seen.any()} for own in stored)


class _Stored:
    """A value as it is stored, and which of its rows were seen."""

    def __init__(self, rows: TracedRows) -> None:
        import numpy as np

        self.rows = rows
        each = rows.tensor.elements // (rows.blocks * rows.count)
        self.elements = np.zeros((rows.blocks, rows.count, each), rows.tensor.dtype.numpy)
        self.seen = np.zeros(rows.count, np.bool_)

    def put(self, first: int, count: int, content: memoryview) -> int:
        """Rows from the front of `content`; how many bytes they are."""
        import numpy as np

        shape = (self.rows.blocks, count, self.elements.shape[2])
        found = np.frombuffer(content, self.elements.dtype, prod(shape)).reshape(shape)
        self.elements[:, first : first + count] = found
        self.seen[first : first + count] = True
        return found.nbytes

    def array(self) -> Array:
        """In the shape of the graph."""
        import numpy as np

        found: Array = self.elements
        if not self.seen.all():
            mask = np.broadcast_to(~self.seen[None, :, None], self.elements.shape)
            found = np.ma.MaskedArray(self.elements, mask=mask)
        layout, shape = self.rows.layout, self.rows.tensor.shape
        ordered = found.reshape([shape[axis] for axis in layout])
        return ordered.transpose(np.argsort(layout)) if layout else ordered
