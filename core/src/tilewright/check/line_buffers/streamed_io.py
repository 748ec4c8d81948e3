"""Knows what ends that pass in rows demand of a plan: their bytes are nowhere, so one step alone reads or writes them.
Does not know how rows are computed further: that is `replay`.
"""

from __future__ import annotations

from collections.abc import Iterator

from tilewright.ir.graphs.graph import Node
from tilewright.ir.plans.decisions import STREAMED
from tilewright.ir.plans.stages import Allocated
from tilewright.ir.tensors.layout import same_bytes

_PORTS = {"push": ("input", "Arrival", "read"), "pull": ("output", "Departure", "written")}


def streamed_io_faults(allocated: Allocated) -> Iterator[str]:
    """Of every such end: it has no place; an Arrival alone reads it, or a Departure writes it, as it is stored."""
    for name, whose in allocated.decisions.io.items():
        if whose in STREAMED:
            yield from _faults(allocated, name, *_PORTS[whose])


def _faults(allocated: Allocated, name: str, end: str, op: str, done: str) -> Iterator[str]:
    scheduled = allocated.tiled.scheduled
    graph, layouts = scheduled.bound.graph, scheduled.bound.layouts
    buffer = scheduled.storage[name].buffer
    if buffer in allocated.placements:
        yield f"{end} '{name}' passes in rows, and has a place of its own"
    inside = {value for value, storage in scheduled.storage.items() if storage.buffer == buffer}
    touching = list(_touching(allocated, inside))
    ports = [node for node in touching if not inside.isdisjoint(node.inputs if end == "input" else node.outputs)]
    if len(touching) != 1 or [port.op for port in ports] != [op]:
        yield f"{end} '{name}' passes in rows, and is {done} by {', '.join(node.name for node in touching)}"
        return
    (source,), (target,) = ports[0].inputs, ports[0].outputs
    outside = source if end == "input" else target
    whole = graph.tensors[outside].size_bytes == graph.tensors[name].size_bytes
    if not whole or not same_bytes(graph.tensors[source].shape, layouts[source], layouts[target]):
        yield f"{end} '{name}' passes otherwise than '{target if end == 'input' else source}' is stored"


def _touching(allocated: Allocated, values: set[str]) -> Iterator[Node]:
    """The nodes of steps that read or write any of the values."""
    scheduled = allocated.tiled.scheduled
    nodes = {node.name: node for node in scheduled.bound.graph.nodes}
    for step in scheduled.steps:
        node = nodes[step.name]
        if not values.isdisjoint((*node.inputs, *node.outputs)):
            yield node
