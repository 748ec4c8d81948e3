"""Knows how inputs and outputs are handed over channels last: under the names they had, in the other order of axes, and
a Transpose to or from what the network computes with. Does not know who asks, nor whether a kernel reads that order.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace

from tilewright.errors import typed, usage_error
from tilewright.frontend.nodes.builder import renamed
from tilewright.frontend.reading.names import show
from tilewright.ir.graphs.graph import Graph, Node

_LEAST_AXES = 3  # batch, channels, and one more


def with_channels_last(graph: Graph, names: Iterable[str]) -> Graph:
    """The graph whose inputs and outputs of these names are [N, ..., C] where they were [N, C, ...].

    TilewrightError TW1126 (exit 2) for one of fewer than three axes. A Transpose costs nothing where what reads or
    writes the value keeps it channels last.
    """
    for name in names:
        if len(graph.tensors[name].shape) < _LEAST_AXES:
            raise usage_error(
                "TW1126",
                f"{show(name)} is {list(graph.tensors[name].shape)}: it has no channels in front of other axes",
                where=f"--io-layout {name}=nhwc",
                fix=(typed("--io-layout", f"{name}=nchw", gives="leaves it as it is in the model"),),
            )
        graph = _turned(graph, name)
    return graph


def _turned(graph: Graph, name: str) -> Graph:
    tensor = graph.tensors[name]
    rank = len(tensor.shape)
    inside = _fresh(f"{name}:channels_first", graph.tensors)
    node_name = _fresh(inside, {node.name for node in graph.nodes})
    first = (0, rank - 1, *range(1, rank - 1))  # which axis of the border's tensor each of the network's is
    last = (0, *range(2, rank), 1)
    tensors = {
        **graph.tensors,
        inside: replace(tensor, name=inside),
        name: replace(tensor, shape=tuple(tensor.shape[axis] for axis in last)),
    }
    taken = name in graph.inputs
    transpose = Node(
        name=node_name,
        op="Transpose",
        inputs=(name,) if taken else (inside,),
        outputs=(inside,) if taken else (name,),
        attributes={"perm": first if taken else last},
    )
    others = tuple(renamed(node, {name: inside}) for node in graph.nodes)
    nodes = (transpose, *others) if taken else (*others, transpose)
    return graph.with_nodes(nodes, tensors=tensors).verify()


def _fresh(hint: str, taken: Collection[str]) -> str:
    name = hint
    while name in taken:
        name += "_"
    return name
