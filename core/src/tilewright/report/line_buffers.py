"""Knows what a report says of line-buffered steps: which buffers have only some rows of a value, and which inputs and
outputs are streamed, with their rows and how many of them are buffered. Does not know how that is drawn.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tilewright.ir.access.index import bare_loop
from tilewright.ir.access.index_map import MapAccess
from tilewright.ir.plans.region import LineBuffers, Region
from tilewright.ir.plans.stages import Allocated
from tilewright.tile.cost.footprint import tile_buffer_name
from tilewright.tile.line_buffers.streamed_io import arrivals, departures


def line_buffer_rows(allocated: Allocated) -> dict[str, dict[str, Any]]:
    """By buffer; buffers of values whose rows are there all at once are left out."""
    return dict(_line_buffers(allocated))


def _line_buffers(allocated: Allocated) -> Iterator[tuple[str, dict[str, Any]]]:
    bound = allocated.tiled.scheduled.bound
    writers = {value: node for node in bound.graph.nodes for value in node.outputs}
    for region, schedule in allocated.tiled.line_buffered:
        for value in region.unmaterialised:
            node, internal = writers[value], region.internal_values[value]
            layer = bound.layers[node.name]
            output = layer.operator.outputs[0]
            loop = schedule.loops[region.steps.index(node.name)]
            axes = layer.access.axes[output] if isinstance(layer.access, MapAccess) else ()
            count = next((axis.extent for axis in axes if loop and bare_loop(axis) == loop), 0)
            if count:
                name = tile_buffer_name(node.name, output, internal.memory, 0)
                yield name, {"value": value, "buffered_rows": schedule.buffers[value].rows, "count": count}


def streamed_io(allocated: Allocated) -> dict[str, dict[str, Any]]:
    """By name of the streamed input or output. Several inputs have a `turn`: inputs of the same turn come together."""
    return dict(_streams(allocated))


def _streams(allocated: Allocated) -> Iterator[tuple[str, dict[str, Any]]]:
    scheduled, io = allocated.tiled.scheduled, allocated.decisions.io
    arriving, departing = arrivals(scheduled, io), departures(scheduled, io)
    turns = 0
    for region, schedule in allocated.tiled.line_buffered if arriving or departing else ():
        turns += any(step in arriving for step in region.steps)
        for index, step in enumerate(region.steps):
            if step in arriving:
                turn = {"turn": turns} if len(arriving) > 1 else {}
                yield arriving[step], {"direction": "push", **turn, **_row_counts(allocated, region, schedule, index)}
            if step in departing:
                yield departing[step], {"direction": "pull", **_row_counts(allocated, region, schedule, index)}


def _row_counts(allocated: Allocated, region: Region, schedule: LineBuffers, index: int) -> Mapping[str, int]:
    """Of the step at `index` of its region: rows and their bytes, rows of a call, and how many rows are buffered."""
    bound = allocated.tiled.scheduled.bound
    (node,) = (node for node in bound.graph.nodes if node.name == region.steps[index])
    extents = {axis.name: axis.extent for axis in bound.layers[node.name].access.loops}
    count = extents.get(schedule.loops[index], 1)
    row_bytes = bound.graph.tensors[node.outputs[0]].size_bytes // count
    buffer = schedule.buffers.get(node.outputs[0] if node.op == "Arrival" else node.inputs[0])
    buffered = buffer.rows if buffer and not buffer.aliases else count
    return {
        "count": count,
        "row_bytes": row_bytes,
        "rows_per_call": schedule.extents[index],
        "buffered_rows": buffered,
        "buffered_bytes": buffered * row_bytes,
    }
