"""A graph pass: it gives another graph with the same outputs, bit for bit, and leaves its own alone."""

from dataclasses import replace

from tilewright.api import hookimpl
from tilewright.api.passes import GraphPass, PassResult


def without_repeated_clips(graph, context):
    """clip(clip(x)) with the same limits is clip(x)."""
    written_by = graph.producer()
    for node in graph.nodes:
        before = written_by.get(node.inputs[0]) if node.op == "Clip" else None
        if before is None or before.op != "Clip" or before.attributes != node.attributes:
            continue
        if node.outputs[0] in graph.outputs:
            continue
        names = {node.outputs[0]: before.outputs[0]}
        kept = (other for other in graph.nodes if other is not node)
        nodes = tuple(replace(other, inputs=tuple(names.get(name, name) for name in other.inputs)) for other in kept)
        return without_repeated_clips(graph.with_nodes(nodes), context)
    return PassResult(graph=graph)


@hookimpl
def tilewright_graph_passes():
    summary = "drop a clip of a clip"
    return (GraphPass(name="${name}.repeated-clips", summary=summary, apply=without_repeated_clips),)
