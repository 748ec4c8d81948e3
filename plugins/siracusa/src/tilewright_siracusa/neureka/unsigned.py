"""Knows the pass that stores a value as uint8 where int8 has -128 for zero and N-EUREKA reads it beyond the image: what
the engine has there is then what the layer means. Does not know jobs, nor which layers the engine computes.

`q + 128` with a zero point that is larger by 128 is the same number: only zero points, limits and types change.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from tilewright.api.graph import DType, Graph, Node, Requant, Tensor
from tilewright.api.passes import GraphPass, PassContext, PassResult

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
    moved = frozenset(_moved(graph))
    if not moved:
        return PassResult(graph=graph)
    tensors = {name: _unsigned(tensor) if name in moved else tensor for name, tensor in graph.tensors.items()}
    nodes = tuple(_changed(node, moved) for node in graph.nodes)
    return PassResult(graph=replace(graph, tensors=tensors, nodes=nodes))


def _moved(graph: Graph) -> set[str]:
    """Values that are read beyond the image, of which -128 is zero, and that only steps of a known form touch."""
    wanted = {
        node.inputs[0]
        for node in graph.nodes
        if node.op == "QConv" and any(node.integers("pads")) and _zero(node) == -_MOVED
    }
    wanted = {name for name in wanted if graph.tensors[name].dtype is DType.I8} - {*graph.inputs, *graph.constants}
    kept = set(graph.outputs)
    for node in graph.nodes:
        form = _FORMS.get(node.op)
        kept |= {name for at, name in enumerate(node.inputs) if form is None or at not in form.inputs}
        kept |= {name for name in node.outputs if form is None}
    return wanted - kept


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
