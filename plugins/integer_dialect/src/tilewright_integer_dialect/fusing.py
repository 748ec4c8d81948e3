"""Knows the pass that makes one step of a product and its requantisation: QConv, QGemm and QMatMul that multiply, add
and shift, in 32 bits where nothing that can occur leaves them. Does not know tables (`tables`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from tilewright.api.graph import Attribute, Graph, MultiplyShift, Node, Requant, Site, Tensor
from tilewright.api.kernel import sum_bounds
from tilewright.api.passes import GraphPass, PassContext, PassResult
from tilewright_integer_dialect.operators.shift import numbers_of

_ZERO_POINTS = 2  # the first input of a product that is a zero point


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sums:
    """A product whose sums a Shift reads: its node, and the bias between them, one number for each channel, or None."""

    product: Node
    bias: Any
    gone: tuple[str, ...]  # names of nodes that are not needed any more


def _fuse(graph: Graph, context: PassContext) -> PassResult:
    producer, consumers = graph.producer(), graph.consumers()
    once = {name for name, readers in consumers.items() if len(readers) == 1 and name not in graph.outputs}
    constants, tensors = dict(graph.constants), dict(graph.tensors)
    replaced: dict[str, Node] = {}
    gone: set[str] = set()
    for node in graph.nodes:
        sums = _sums(graph, producer, once, node) if node.op == "integer.Shift" else None
        fused = _fused(graph, node, sums) if sums is not None else None
        if fused is None or sums is None:
            continue
        bias = _each(sums.bias, graph.tensors[node.outputs[0]].shape[_axis(sums.product, graph, node)])
        if bias is not None:
            name = fused.inputs[2]
            constants[name] = bias
            tensors[name] = replace(graph.tensors[node.inputs[0]], name=name, shape=bias.shape)
        replaced[node.name] = narrowed(site_of(fused, tensors, constants))
        gone.update(sums.gone)
    if not replaced:
        return PassResult(graph=graph)
    nodes = tuple(replaced.get(node.name, node) for node in graph.nodes if node.name not in gone)
    return PassResult(graph=graph.with_nodes(nodes, constants=constants, tensors=tensors))


def _sums(graph: Graph, producer: Mapping[str, Node], once: set[str], shift: Node) -> _Sums | None:
    """What the Shift requantises, where that is a product that nobody else reads."""
    value, bias, gone = shift.inputs[0], None, list[str]()
    node = producer.get(value)
    if node is not None and node.op == "Add" and value in once:
        known = [name for name in node.inputs if name in graph.constants]
        if len(known) != 1:
            return None
        bias, value = graph.constants[known[0]], next(name for name in node.inputs if name not in graph.constants)
        if graph.tensors[value].shape != graph.tensors[node.outputs[0]].shape:
            return None
        gone.append(node.name)
        node = producer.get(value)
    if node is None or node.op not in ("ConvInteger", "MatMulInteger") or value not in once:
        return None
    if any(node.inputs[_ZERO_POINTS:]):
        return None
    return _Sums(product=node, bias=bias, gone=(*gone, node.name))


def _fused(graph: Graph, shift: Node, sums: _Sums) -> Node | None:
    """The step that computes both; its bias has a name of its own. None where no integer layer computes it."""
    product, requant = sums.product, shift.requant()
    output = graph.tensors[shift.outputs[0]]
    axis = _axis(product, graph, shift)
    if len(requant.scale) > 1 and shift.integer("axis") != axis:
        return None
    if min(numbers_of(graph.site(shift)).multiplier) < 0:
        return None
    weights = graph.constants.get(product.inputs[1])
    of_constant = weights is not None and (product.op == "ConvInteger" or weights.ndim == 2)
    if sums.bias is not None and not (of_constant and _along(sums.bias.shape, axis, output.shape)):
        return None
    if not of_constant and (product.op == "ConvInteger" or len(requant.scale) > 1):
        return None
    op = {"ConvInteger": "QConv", "MatMulInteger": "QGemm" if of_constant else "QMatMul"}[product.op]
    attributes: dict[str, Attribute] = {**product.attributes, "requant": requant, "output_type": output.dtype.value}
    bias = (_fresh(f"{shift.outputs[0]}_bias", graph),) if sums.bias is not None else ()
    return replace(
        shift,
        op=op,
        inputs=(*product.inputs[:2], *bias),
        attributes=attributes,
        origin=(*(product.origin or (product.name,)), *(shift.origin or (shift.name,))),
    )


def _along(shape: tuple[int, ...], axis: int, output: tuple[int, ...]) -> bool:
    """Whether a constant of this shape, broadcast to `output`, differs along this axis alone."""
    missing = len(output) - len(shape)
    return missing >= 0 and all(extent == 1 or missing + place == axis for place, extent in enumerate(shape))


def _fresh(hint: str, graph: Graph) -> str:
    name, count = hint, 1
    while name in graph.tensors:
        count += 1
        name = f"{hint}_{count}"
    return name


def _axis(product: Node, graph: Graph, shift: Node) -> int:
    """The axis of channels, or of columns."""
    return 1 if product.op == "ConvInteger" else len(graph.tensors[shift.outputs[0]].shape) - 1


def _each(bias: Any, channels: int) -> Any:
    """One number for each channel; None where there is no bias."""
    import numpy as np

    return None if bias is None else np.broadcast_to(bias.reshape(-1), (channels,)).copy()


def site_of(node: Node, tensors: Mapping[str, Tensor], constants: Mapping[str, Any]) -> Site:
    """The step with what it touches."""
    known = {name: constants[name] for name in node.inputs if name in constants}
    inputs = tuple(tensors[name] for name in node.inputs)
    return Site(node=node, inputs=inputs, outputs=(tensors[node.outputs[0]],), constants=known)


def narrowed(site: Site) -> Node:
    """The step in registers of 32 bits, where no sum that can occur leaves them."""
    node, requant, rounding = site.node, site.node.requant(), site.node.requant().rounding
    if not isinstance(rounding, MultiplyShift):
        return node
    bounds, half = sum_bounds(site), 1 << max(rounding.shift)
    for channel, (low, high) in enumerate(zip(bounds.lowest, bounds.highest, strict=True)):
        multiplier = rounding.multiplier[channel % len(rounding.multiplier)]
        addend = rounding.addend[channel % len(rounding.addend)]
        if max(abs(low), abs(high)) * multiplier + abs(addend) + half >= 2**31:
            return node
    narrow: Requant = replace(requant, rounding=replace(rounding, bits=32))
    return replace(node, attributes={**node.attributes, "requant": narrow})


FUSE = GraphPass(
    name="integer.fuse",
    summary="a product and the RequantShift behind it are one step",
    apply=_fuse,
    after=("fold-constants",),
    before=("integer.tables", "settle-arithmetic", "merge-lookups", "fuse-activation", "merge-transposes"),
)
