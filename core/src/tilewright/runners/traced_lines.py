"""Knows how values that exist nowhere whole pass between a program and its `main`: the C that hands over and takes
lines of streamed inputs and outputs, one, two and three at a time in every other set; the header through which a
program shows the lines that it computes; and the values that these become. Does not know how a program is built or
run, nor what the lines should be.

The harness writes, for every call of a step whose output is line-buffered: set, step, first row, rows, stripe, and
their bytes, block by block. Rows and columns that nobody reads are never computed: a value that lacks some is a
masked array.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from math import prod
from typing import TYPE_CHECKING

from tilewright.c_text.templates import template
from tilewright.ir.access.index import bare_loop
from tilewright.ir.access.index_map import MapAccess
from tilewright.ir.graphs.graph import Tensor
from tilewright.ir.plans.stages import Allocated
from tilewright.ir.tensors.layout import Layout

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]
from tilewright.ir.programs.program import Port
from tilewright.ir.programs.runner import Job

HEADER_NAME = "traced_rows.h"
FLAG = f'-DTW_ROWS_HEADER="{HEADER_NAME}"'
HEADER = """#include <stdint.h>
void tw_see_rows(uint32_t step, int32_t first, int32_t made, const uint8_t *bytes, int32_t blocks, int32_t capacity,
                 int32_t row_bytes, int32_t stripe);
#define TW_ROWS(step, rows, bytes, blocks, capacity, row_bytes, stripe) \\
    tw_see_rows((step), (rows)->first, (rows)->made, (bytes), (blocks), (capacity), (row_bytes), (stripe))
"""
_HEAD = struct.Struct("<5I")


@dataclass(frozen=True, slots=True, kw_only=True)
class TracedRows:
    """A line-buffered value. `axis` None: its rows are complete together, once its step has computed `extents`."""

    step: int
    value: str
    tensor: Tensor
    layout: Layout
    axis: int | None
    extents: int
    column_axis: int | None = None  # where rows are of stripes
    stripes: tuple[tuple[int, int], ...] = ()  # the first column of each, and one after the last

    def stored(self, rows: int) -> tuple[int, ...]:
        """The shape of so many rows in their line buffer: axes in storage order, columns those of the widest stripe."""
        extents = list(self.tensor.shape)
        if self.axis is not None:
            extents[self.axis] = rows
        if self.column_axis is not None:
            extents[self.column_axis] = max(high - low for low, high in self.stripes)
        return tuple(extents[axis] for axis in self.layout)

    def part(self, first: int, rows: int, stripe: int) -> tuple[slice, ...]:
        """Where these rows of a stripe are in the value, axes as they are stored."""
        parts = [slice(0, extent) for extent in self.tensor.shape]
        if self.axis is not None:
            parts[self.axis] = slice(first, first + rows)
        if self.column_axis is not None:
            parts[self.column_axis] = slice(*self.stripes[stripe])
        return tuple(parts[axis] for axis in self.layout)


def traced_rows(plan: Allocated) -> tuple[TracedRows, ...]:
    """The values of a plan that are nowhere whole, because they are computed row by row."""
    return tuple(_of_regions(plan))


def see_rows(traced: Sequence[TracedRows], untraced: int = 0) -> str:
    """The C of `tw_see_rows` and of `see_no_rows(set)`, with which a set of inputs begins; "" where there are no such
    values. For a `main` that has `keep_rows(bytes, size)`, which appends to rows.bin. Of the first
    `untraced` sets nothing is written, and the next one is number 0 there.
    """
    return str(template(_text()).render(traced=traced, untraced=untraced)).strip("\n") if traced else ""


def _of_regions(plan: Allocated) -> Iterator[TracedRows]:
    bound = plan.tiled.scheduled.bound
    numbers = {step.name: number for number, step in enumerate(plan.tiled.scheduled.steps)}
    made = {value: node.name for node in bound.graph.nodes for value in node.outputs}
    for region, schedule in plan.tiled.line_buffered:
        for value in region.unmaterialised:
            place = region.steps.index(made[value])
            step, loop, stripes = region.steps[place], schedule.loops[place], schedule.stripes
            layer = bound.layers[step]
            extents = {axis_loop.name: axis_loop.extent for axis_loop in layer.access.loops}
            axes = layer.access.axes[layer.operator.outputs[0]] if isinstance(layer.access, MapAccess) else ()
            axis_of = {bare_loop(axis): at for at, axis in enumerate(axes) if bare_loop(axis)}
            yield TracedRows(
                step=numbers[step],
                value=value,
                tensor=bound.graph.tensors[value],
                layout=bound.layouts[value],
                axis=axis_of.get(loop),
                extents=extents.get(loop, 1),
                column_axis=axis_of.get(stripes.loops[place]) if stripes else None,
                stripes=tuple(own[place] for own in stripes.bounds) if stripes else (),
            )


def decode_rows(traced: tuple[TracedRows, ...], content: bytes, sets: int) -> tuple[Mapping[str, Array], ...]:
    """By set of inputs, every value of which rows were seen -> row-major array, masked where it lacks any."""
    stored = [{item.step: _Stored(item) for item in traced} for _ in range(sets)]
    at = 0
    while at < len(content):
        number, step, first, count, stripe = _HEAD.unpack_from(content, at)
        at += _HEAD.size
        at += stored[number][step].put(first, count, stripe, memoryview(content)[at:])
    return tuple({item.rows.value: item.array() for item in own.values() if item.seen.any()} for own in stored)


class _Stored:
    """A value as it is stored, and which elements of it were seen."""

    def __init__(self, rows: TracedRows) -> None:
        import numpy as np

        self.rows = rows
        shape = [rows.tensor.shape[axis] for axis in rows.layout]
        self.elements = np.zeros(shape, rows.tensor.dtype.numpy)
        self.seen = np.zeros(shape, np.bool_)

    def put(self, first: int, count: int, stripe: int, content: memoryview) -> int:
        """Rows of a stripe from the front of `content`; how many bytes they are."""
        import numpy as np

        shape = self.rows.stored(count)
        rows = np.frombuffer(content, self.elements.dtype, prod(shape)).reshape(shape)
        part = self.rows.part(first, count, stripe)
        self.elements[part] = rows[tuple(slice(span.stop - span.start) for span in part)]
        self.seen[part] = True
        return rows.nbytes

    def array(self) -> Array:
        """In the shape of the graph."""
        import numpy as np

        elements: Array = self.elements if self.seen.all() else np.ma.MaskedArray(self.elements, mask=~self.seen)
        return elements.transpose(np.argsort(self.rows.layout)) if self.rows.layout else elements


@cache
def _text() -> str:
    return (files("tilewright.runners") / "text" / "traced_rows.mako").read_text(encoding="utf-8")


def run_by_rows(job: Job, inputs: Sequence[Port], outputs: Sequence[Port]) -> str:
    """The function `run(set)`, for a `main` that has `ctx`, `inputs` and `outputs`; "" where nothing passes in rows."""
    io = job.plan.decisions.io
    arriving = [port for port in inputs if io.get(port.value) == "push"]
    leaving = [port for port in outputs if io.get(port.value) == "pull"]
    if not arriving and not leaving:
        return ""

    def port_macro(port: Port) -> str:
        return f"{job.prefix}_{'IN' if port in arriving else 'OUT'}_{port.member}".upper()

    names = {"arriving": arriving, "leaving": leaving, "port_macro": port_macro, "p": job.prefix}
    return str(template(_run_text()).render(**names)).strip("\n")


@cache
def _run_text() -> str:
    return (files("tilewright.runners") / "text" / "run_by_rows.mako").read_text(encoding="utf-8")
