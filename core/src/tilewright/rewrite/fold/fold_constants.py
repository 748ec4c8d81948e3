"""Knows how nodes of constant inputs are computed at compile time, and the two passes that do it: one folds all but
DequantizeLinear, which tells quantised weights from float ones; the other dequantises what stayed in float.
Does not know why a constant stays in float: `qdq.lowering` does.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from tilewright.comparison.reference import run_site
from tilewright.ir.graphs.graph import Graph, Node
from tilewright.ir.graphs.operator import GraphPass, PassContext, PassResult
from tilewright.rewrite.edit import Draft, origins

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]

_COPY = "Reshape"
SIZE_CAP_BYTES = 16 << 20  # a larger result stays: a few bytes of model must not become a huge blob


FOLD_CONSTANTS = GraphPass(
    name="fold-constants",
    summary="compute nodes of constant inputs at compile time; weights quantised by nodes become integers",
    apply=lambda graph, context: PassResult(graph=fold(graph, context, keep=("DequantizeLinear",))),
    after=("dead-nodes",),
)


def fold(graph: Graph, context: PassContext, keep: Collection[str] = ()) -> Graph:
    """Replace nodes of constant inputs by constants, except operators in `keep` and the nodes that read their results.

    A graph output is copied from its constant. Results above `SIZE_CAP_BYTES` and operators without reference
    stay.
    """
    import numpy as np

    draft = Draft(graph=graph)
    known: dict[str, Array] = dict(graph.constants)
    for node in graph.nodes:
        if not _foldable(graph, node, known, keep) or node.op not in context.operators:
            continue
        arrays = tuple(known[name] if name else None for name in node.inputs)
        results = run_site(graph.site(node), arrays, context.operators)
        values = {name: np.asarray(array) for name, array in zip(node.outputs, results, strict=True)}
        draft.replace(node, *(_copy(name, values[name], node, draft) for name in node.outputs if name in graph.outputs))
        known.update(values)
        draft.constants.update({name: array.copy() for name, array in values.items() if name not in graph.outputs})
    return draft.finish()


def _copy(output: str, array: Array, node: Node, draft: Draft) -> Node:
    """A node that makes a constant the graph output `output`, which no constant can be."""
    return Node(
        name=node.name if output == node.outputs[0] else draft.node_name(f"{output}/copy"),
        op=_COPY,
        inputs=(draft.constant(array, f"{output}/value"),),
        outputs=(output,),
        attributes={"shape": tuple(array.shape)},
        origin=origins(node),
    )


def _foldable(graph: Graph, node: Node, known: Collection[str], keep: Collection[str]) -> bool:
    if node.op in keep or any(name not in known for name in node.inputs if name):
        return False
    if node.op == _COPY and node.outputs[0] in graph.outputs:
        return False  # it is the copy already
    return sum(graph.tensors[name].size_bytes for name in node.outputs) <= SIZE_CAP_BYTES


FOLD_DEQUANTISED = GraphPass(
    name="fold-dequantised",
    summary="dequantise at compile time the constants of operators that stay in float",
    apply=lambda graph, context: PassResult(graph=fold(graph, context)),
    after=("lower-quantised",),
)
