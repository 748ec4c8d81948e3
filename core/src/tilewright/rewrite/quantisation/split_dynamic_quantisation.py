"""Knows the pass that writes DynamicQuantizeLinear as four operators, for machines that compute tile by tile:
ReduceMin, ReduceMax, DynamicScale and QuantizeLinear. Bit-equal.
Does not know how these are cut into tiles and shared by cores: no tile of the one operator is less than all of it.
"""

from __future__ import annotations

from tilewright.ir.graphs.graph import Graph, Node
from tilewright.ir.graphs.operator import GraphPass, PassContext, PassResult
from tilewright.ir.tensors.dtypes import DType
from tilewright.rewrite.edit import Draft, origins


def _apply(graph: Graph, context: PassContext) -> PassResult:
    draft = Draft(graph=graph)
    if context.platform is not None and context.platform.inner:
        for node in graph.nodes:
            if node.op == "DynamicQuantizeLinear":
                _split(draft, node)
    return PassResult(graph=draft.finish())


def _split(draft: Draft, node: Node) -> None:
    x, (values, scale, zero) = node.inputs[0], node.outputs
    axes = tuple(range(len(draft.graph.tensors[x].shape)))
    ends = [
        Node(
            name=draft.node_name(f"{node.name}/{op}"),
            op=op,
            inputs=(x,),
            outputs=(draft.value(DType.F32, (), f"{x}_{op}"),),
            attributes={"axes": axes, "keepdims": 0},
            origin=origins(node),
        )
        for op in ("ReduceMin", "ReduceMax")
    ]
    result = Node(
        name=draft.node_name(f"{node.name}/DynamicScale"),
        op="DynamicScale",
        inputs=tuple(end.outputs[0] for end in ends),
        outputs=(scale, zero),
        origin=origins(node),
    )
    stored = Node(
        name=node.name,
        op="QuantizeLinear",
        inputs=(x, scale, zero),
        outputs=(values,),
        attributes={"to": DType.U8.value},
        origin=origins(node),
    )
    draft.replace(node, *ends, result, stored)


PASS = GraphPass(
    name="split-dynamic-quantisation",
    summary="on machines that compute tile by tile, DynamicQuantizeLinear becomes operators that can be cut",
    apply=_apply,
    roots=("DynamicQuantizeLinear",),
)
