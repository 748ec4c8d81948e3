"""Knows what an input that arrives in rows demands of a plan: its bytes are nowhere, so only one step reads them.
Does not know how its rows are computed further: that is `row_replay`.
"""

from __future__ import annotations

from collections.abc import Iterator

from tilewright.ir.layout import same_bytes
from tilewright.ir.stages import Allocated


def arrival_faults(allocated: Allocated) -> Iterator[str]:
    """Of every such input: it has no place, and is read by one Arrival alone, which stores it as it arrives."""
    scheduled = allocated.tiled.scheduled
    graph, layouts = scheduled.bound.graph, scheduled.bound.layouts
    nodes = {node.name: node for node in graph.nodes}
    for name in (one for one, whose in allocated.decisions.io.items() if whose == "push"):
        buffer = scheduled.storage[name].buffer
        if buffer in allocated.placements:
            yield f"input '{name}' arrives in rows, and has a place of its own"
        inside = {value for value, storage in scheduled.storage.items() if storage.buffer == buffer}
        readers = [nodes[step.name] for step in scheduled.steps if not inside.isdisjoint(nodes[step.name].inputs)]
        if [reader.op for reader in readers] != ["Arrival"]:
            yield f"input '{name}' arrives in rows, and is read by {', '.join(reader.name for reader in readers)}"
            continue
        (source,), (target,) = readers[0].inputs, readers[0].outputs
        whole = graph.tensors[source].size_bytes == graph.tensors[name].size_bytes
        if not whole or not same_bytes(graph.tensors[source].shape, layouts[source], layouts[target]):
            yield f"input '{name}' arrives otherwise than '{target}' is stored"
