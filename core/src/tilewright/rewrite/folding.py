"""Knows how to compute, at compile time, nodes whose inputs are all constant.
Does not know when that is wanted; the passes that fold do.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from tilewright.ir.graph import Graph, Node
from tilewright.ir.graph_pass import PassContext
from tilewright.rewrite.edit import Draft
from tilewright.validate.reference import run_site

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]

SIZE_CAP_BYTES = 16 << 20  # a larger result stays: a few bytes of model must not become a huge blob


def fold(graph: Graph, context: PassContext, keep: Collection[str] = ()) -> Graph:
    """Replace nodes of constant inputs by constants, except operators in `keep` and what they feed.

    Nodes that write a graph output stay, and so do results above `SIZE_CAP_BYTES` and operators without reference.
    """
    draft = Draft(graph=graph)
    known: dict[str, Array] = dict(graph.constants)
    for node in graph.nodes:
        if not _foldable(graph, node, known, keep) or node.op not in context.operators:
            continue
        arrays = tuple(known[name] if name else None for name in node.inputs)
        results = run_site(graph.site(node), arrays, context.operators)
        draft.replace(node)
        for name, array in zip(node.outputs, results, strict=True):
            known[name] = array
            draft.constants[name] = array.copy()
    return draft.finish()


def _foldable(graph: Graph, node: Node, known: Collection[str], keep: Collection[str]) -> bool:
    if node.op in keep or any(name not in known for name in node.inputs if name):
        return False
    if any(name in graph.outputs for name in node.outputs):
        return False
    return sum(graph.tensors[name].size_bytes for name in node.outputs) <= SIZE_CAP_BYTES
