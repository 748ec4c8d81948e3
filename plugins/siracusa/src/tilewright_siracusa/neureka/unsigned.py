"""Knows the pass that stores a value as uint8 where int8 has -128 for zero and N-EUREKA reads it beyond the image: what
the engine has there is then what the layer means. Does not know jobs, nor the arithmetic of layers.

`q + 128` with a zero point that is larger by 128 is the same number: only zero points, limits and types change. Where
something else writes or reads the value, as of an input of the network, a table makes another one of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from tilewright.api.graph import DType, Graph, Node, Requant, Site, Tensor
from tilewright.api.passes import GraphPass, PassContext, PassResult
from tilewright_siracusa.neureka.layers import SIDE

_MOVED = 128


@dataclass(frozen=True, slots=True, kw_only=True)
class _Form:
    """Attributes of an operator that move with an input, by its index, and with the output beside `requant`."""

    inputs: Mapping[int, tuple[str, ...]]
    output: tuple[str, ...] = ()


_FORMS = {
    "QConv": _Form(inputs={0: ("x_zero_point", "pad_value")}),
    "QGemm": _Form(inputs={0: ("a_zero_point",)}),
    "QAdd": _Form(inputs={0: ("a_zero_point",), 1: ("b_zero_point",)}, output=("zero_point", "low", "high")),
    "QAveragePool": _Form(inputs={0: ("x_zero_point",)}),
}


def _apply(graph: Graph, context: PassContext) -> PassResult:
    platform = context.platform
    if platform is None or platform.settings.get("engine", "cores") == "cores" or not platform.runs("siracusa"):
        return PassResult(graph=graph)
    layers = [node for node in graph.nodes if _beyond(graph, node)]
    wanted = {node.inputs[0] for node in layers}
    moved = frozenset(wanted - _kept(graph))
    copied = {node.inputs[0] for node in layers if _worth_a_copy(graph.site(node))} - moved
    if not moved and not copied:
        return PassResult(graph=graph)
    tensors = {name: _unsigned(tensor) if name in moved else tensor for name, tensor in graph.tensors.items()}
    graph = replace(graph, tensors=tensors, nodes=tuple(_changed(node, moved) for node in graph.nodes))
    for name in sorted(copied):
        graph = _with_copy(graph, name)
    return PassResult(graph=graph)


def _beyond(graph: Graph, node: Node) -> bool:
    """Whether a layer of the engine's windows reads int8 beyond the image, of which -128 is zero."""
    return (
        node.op == "QConv"
        and graph.tensors[node.inputs[0]].dtype is DType.I8
        and node.inputs[0] not in graph.constants
        and any(node.integers("pads"))
        and node.integers("kernel_shape") == (SIDE, SIDE)
        and _zero(node) == -_MOVED
    )


def _worth_a_copy(site: Site) -> bool:
    """Whether fewer elements are copied than results would have to be finished at borders."""
    return site.input(1).shape[0] >= site.input(0).shape[1]


def _kept(graph: Graph) -> set[str]:
    """Values that others than steps of a known form touch."""
    kept = {*graph.inputs, *graph.outputs}
    for node in graph.nodes:
        form = _FORMS.get(node.op)
        kept |= {name for at, name in enumerate(node.inputs) if form is None or at not in form.inputs}
        kept |= {name for name in node.outputs if form is None}
    return kept


def _with_copy(graph: Graph, name: str) -> Graph:
    """With a table behind a value, whose results the layers read that read it beyond the image."""
    result, table = _fresh(f"{name}_unsigned", graph), _fresh(f"{name}_table", graph)
    entries = np.arange(1 << 8).astype(np.uint8)
    tensors = {
        **graph.tensors,
        result: replace(_unsigned(graph.tensors[name]), name=result),
        table: Tensor(name=table, dtype=DType.U8, shape=entries.shape),
    }
    lookup = Node(
        name=_fresh(result, {node.name for node in graph.nodes}), op="QLookup", inputs=(name, table), outputs=(result,)
    )
    nodes: list[Node] = []
    for node in graph.nodes:
        beyond = node.inputs[:1] == (name,) and _beyond(graph, node)
        if beyond and lookup not in nodes:
            nodes.append(lookup)
        reading = replace(node, inputs=(result, *node.inputs[1:])) if beyond else node
        nodes.append(_changed(reading, frozenset((result,))))
    return replace(graph, tensors=tensors, constants={**graph.constants, table: entries}, nodes=tuple(nodes))


def _fresh(hint: str, taken: Graph | set[str]) -> str:
    names = taken.tensors if isinstance(taken, Graph) else taken
    while hint in names:
        hint += "_"
    return hint


def _zero(node: Node) -> int:
    return node.integer("pad_value", node.integer("x_zero_point"))


def _changed(node: Node, moved: frozenset[str]) -> Node:
    form = _FORMS.get(node.op)
    if form is None:
        return node
    attributes = dict(node.attributes)
    for at, names in form.inputs.items():
        if at < len(node.inputs) and node.inputs[at] in moved:
            if "pad_value" in names:
                attributes["pad_value"] = _zero(node)
            for name in names:
                attributes[name] = _number(attributes.get(name, 0)) + _MOVED
    if node.outputs[0] in moved:
        attributes["output_type"] = DType.U8.value
        for name in form.output:
            attributes[name] = _number(attributes.get(name, 0)) + _MOVED
        requant = attributes.get("requant")
        if isinstance(requant, Requant):
            zero, low, high = (number + _MOVED for number in (requant.zero_point, requant.low, requant.high))
            attributes["requant"] = replace(requant, zero_point=zero, low=low, high=high)
    return replace(node, attributes=attributes) if attributes != dict(node.attributes) else node


def _number(value: object) -> int:
    if not isinstance(value, int):
        raise TypeError(f"{value!r} is no zero point of a whole value")
    return value


def _unsigned(tensor: Tensor) -> Tensor:
    known = tensor.quantization
    if known is not None:
        known = replace(known, zero_point=tuple(zero + _MOVED for zero in known.zero_point))
    return replace(tensor, dtype=DType.U8, quantization=known)


UNSIGNED = GraphPass(
    name="siracusa-unsigned-borders",
    summary="values of which -128 is zero are uint8 where N-EUREKA reads them beyond the image",
    apply=_apply,
    roots=("QConv",),
    after=("lower-quantised", "declare-arithmetic", "fuse-activation"),
    before=("fold-zero-points",),
)
