"""Knows the passes that drop nodes: those that no output depends on, those that equal an earlier node, and casts there
and back. Does not know any operator but Cast: all of them are pure. Bit-equal.
"""

from __future__ import annotations

from collections.abc import Hashable
from types import MappingProxyType

from tilewright.ir.graphs.graph import Graph, Node
from tilewright.ir.graphs.operator import GraphPass, PassContext, PassResult
from tilewright.ir.tensors.dtypes import DType
from tilewright.rewrite.edit import Draft, without_dead

_SMALL_ELEMENTS = 64  # constants up to here are compared by content: scales and zero points, often stored many times

_HELD_BY = MappingProxyType({DType.F64: (DType.F32, DType.F16, DType.BF16), DType.F32: (DType.F16, DType.BF16)})


DEAD_NODES = GraphPass(
    name="dead-nodes",
    summary="drop nodes and values that no output depends on",
    apply=lambda graph, context: PassResult(graph=without_dead(graph)),
)


def _merge_duplicates(graph: Graph, context: PassContext) -> PassResult:
    draft = Draft(graph=graph)
    same: dict[str, str] = {}  # value -> the equal value that stays
    first: dict[Hashable, Node] = {}
    for node in graph.nodes:
        inputs = tuple(_value_key(graph, same.get(name, name)) for name in node.inputs)
        earlier = first.setdefault((node.op, inputs, tuple(node.attributes.items())), node)
        if earlier is node or len(node.outputs) != 1 or not draft.bypass(node, earlier.outputs[0]):
            continue
        same[node.outputs[0]] = earlier.outputs[0]
    return PassResult(graph=draft.finish())


def _drop_casts_back(graph: Graph, context: PassContext) -> PassResult:
    draft = Draft(graph=graph)
    producer = graph.producer()
    for node in graph.nodes:
        before = producer.get(node.inputs[0]) if node.op == "Cast" else None
        if before is None or before.op != "Cast":
            continue
        own, wide = (graph.tensors[name].dtype for name in (before.inputs[0], before.outputs[0]))
        if own is graph.tensors[node.outputs[0]].dtype and own in _HELD_BY.get(wide, ()):
            draft.bypass(node, before.inputs[0])
    return PassResult(graph=draft.finish())


DROP_CASTS_BACK = GraphPass(
    name="drop-casts-back",
    summary="drop casts to a wider float and back",
    apply=_drop_casts_back,
    roots=("Cast",),
    after=("dead-nodes",),
    before=("recognise-fake-quantisation", "fold-constants"),
)


def _value_key(graph: Graph, name: str) -> Hashable:
    array = graph.constants.get(name)
    if array is None or array.size > _SMALL_ELEMENTS:
        return name
    return array.dtype.str, array.shape, array.tobytes()


MERGE_DUPLICATES = GraphPass(
    name="merge-duplicates",
    summary="compute equal nodes once",
    apply=_merge_duplicates,
    after=("fold-constants",),
)
