"""Knows how a state that moves on is computed from itself: what Slice cuts from a Concat of the state and what is new
becomes a Concat of the rest of the state and what is new, which a kernel makes where the state is (`Kernel.shifts`).
Does not know which outputs are state.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tilewright.ir.graphs.graph import Graph, Node, Tensor
from tilewright.rewrite.edit import fresh, origins


def with_shifted_states(graph: Graph, states: Mapping[str, str]) -> Graph:
    """The same network, in which no such state is a part of a longer value. `states`: input -> its next value."""
    for present, following in states.items():
        graph = _shifted(graph, present, following)
    return graph


def _shifted(graph: Graph, present: str, following: str) -> Graph:
    writers = graph.producer()
    cut = writers.get(following)
    joined = writers.get(cut.inputs[0]) if cut and cut.op == "Slice" else None
    if cut is None or joined is None or joined.op != "Concat" or joined.inputs[0] != present:
        return graph
    axis = joined.integer("axis") % len(graph.tensors[present].shape)
    if not _ends_with_it(graph, cut, axis) or cut.integers("starts")[axis] >= graph.tensors[present].shape[axis]:
        return graph
    rest = fresh(f"{present}:part", graph.tensors)
    shape = tuple(
        extent - start for extent, start in zip(graph.tensors[present].shape, cut.integers("starts"), strict=True)
    )
    part = replace(cut, name=f"{cut.name}:part", inputs=(present,), outputs=(rest,), origin=origins(cut))
    part = replace(part, attributes={**cut.attributes, "shape": shape})
    moved = replace(joined, name=cut.name, inputs=(rest, *joined.inputs[1:]), outputs=cut.outputs, origin=origins(cut))
    still_read = joined.outputs[0] in graph.outputs or len(graph.consumers()[joined.outputs[0]]) > 1
    nodes = []
    for node in graph.nodes:
        if node is cut:
            nodes += [part, moved]
        elif node is not joined or still_read:
            nodes.append(node)
    tensors = {**graph.tensors, rest: Tensor(name=rest, dtype=graph.tensors[present].dtype, shape=shape)}
    return replace(graph, tensors=tensors).with_nodes(tuple(nodes)).verify()


def _ends_with_it(graph: Graph, cut: Node, axis: int) -> bool:
    """Whether a Slice leaves out nothing but elements at the beginning of one axis."""
    starts, shape, whole = cut.integers("starts"), cut.integers("shape"), graph.tensors[cut.inputs[0]].shape
    if any(start for at, start in enumerate(starts) if at != axis) or set(cut.integers("steps")) != {1}:
        return False
    return tuple(start + extent for start, extent in zip(starts, shape, strict=True)) == whole
