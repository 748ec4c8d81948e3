"""Knows which buffers of a plan hold only some rows of a value: how many, of how many, of which value.
Does not know how that is drawn.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tilewright.ir.access.index import bare_loop
from tilewright.ir.access.index_map import MapAccess
from tilewright.ir.plans.stages import Allocated
from tilewright.tile.cost.footprint import tile_buffer_name


def line_buffer_rows(allocated: Allocated) -> dict[str, dict[str, Any]]:
    """By buffer; those of values whose rows are there all at once are left out."""
    return dict(_held(allocated))


def _held(allocated: Allocated) -> Iterator[tuple[str, dict[str, Any]]]:
    bound = allocated.tiled.scheduled.bound
    makers = {value: node for node in bound.graph.nodes for value in node.outputs}
    for region in allocated.tiled.regions:
        for value in region.unmaterialised if region.line_buffers else ():
            node, held = makers[value], region.internal_values[value]
            layer = bound.layers[node.name]
            output = layer.operator.outputs[0]
            loop = region.line_buffers.loops[region.steps.index(node.name)] if region.line_buffers else ""
            axes = layer.access.axes[output] if isinstance(layer.access, MapAccess) else ()
            extent = next((axis.extent for axis in axes if loop and bare_loop(axis) == loop), 0)
            if extent:
                name = tile_buffer_name(node.name, output, held.memory, 0)
                yield name, {"value": value, "held": held.rows, "of": extent}
