"""Knows which inputs arrive and which outputs leave by rows: how many there are, how many a call takes, what is held.
Does not know how that is shown.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tilewright.ir.plans.region import Region
from tilewright.ir.plans.stages import Allocated
from tilewright.tile.line_buffers.streamed_io import arrivals, departures


def streamed_io(allocated: Allocated) -> dict[str, dict[str, Any]]:
    """By name of the input or output. Several inputs have a `turn`: those of the same come together."""
    return dict(_ports(allocated))


def _ports(allocated: Allocated) -> Iterator[tuple[str, dict[str, Any]]]:
    scheduled, io = allocated.tiled.scheduled, allocated.decisions.io
    taking, giving = arrivals(scheduled, io), departures(scheduled, io)
    turns = 0
    for region in allocated.tiled.regions if taking or giving else ():
        turns += any(step in taking for step in region.steps)
        for at, step in enumerate(region.steps if region.line_buffers else ()):
            if step in taking:
                turn = {"turn": turns} if len(taking) > 1 else {}
                yield taking[step], {"way": "push", **turn, **_figures(allocated, region, at)}
            if step in giving:
                yield giving[step], {"way": "pull", **_figures(allocated, region, at)}


def _figures(allocated: Allocated, region: Region, at: int) -> Mapping[str, int]:
    """Of the step at a place of its region: rows and their bytes, rows of a call, and how many of them memory has."""
    bound = allocated.tiled.scheduled.bound
    (node,) = (one for one in bound.graph.nodes if one.name == region.steps[at])
    loop, trips = (region.line_buffers.loops[at], region.line_buffers.extents[at]) if region.line_buffers else ("", 1)
    extents = {one.name: one.extent for one in bound.layers[node.name].access.loops}
    count = extents.get(loop, 1)
    row_bytes = bound.graph.tensors[node.outputs[0]].size_bytes // count
    kept = region.internal_values.get(node.outputs[0] if node.op == "Arrival" else node.inputs[0])
    held = kept.rows if kept and not kept.live_out else count
    return {"count": count, "row_bytes": row_bytes, "at_once": trips, "held": held, "held_bytes": held * row_bytes}
