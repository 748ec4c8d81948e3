"""Knows how a quantised Conv becomes QConv. Does not know how QConv computes; `operators/quantised/qconv` does."""

from __future__ import annotations

from tilewright.ir.graphs.graph import Node
from tilewright.rewrite.qdq.island import Island, Lowered
from tilewright.rewrite.qdq.weights import bias_of, scale_ratio, weight_of
from tilewright.rewrite.qdq.work import Work


def lower(island: Island, main: Node, work: Work) -> Lowered:
    """QConv(X, W, B) with the clips in its requantisation."""
    x = island.stored(main.inputs[0])
    if isinstance(x, str):
        return x
    weight = weight_of(island.view, main.inputs[1], channel_axis=0)
    if isinstance(weight, str):
        return weight
    product = x.affine.scales() * weight.scale
    requant = island.requant(scale_ratio(product, island.output))
    if isinstance(requant, str):
        return requant
    inputs = [x.value, weight.constant(work.draft)]
    used = [x.node, weight.node]
    if len(main.inputs) > 2 and main.inputs[2]:
        bias = bias_of(island.view, main.inputs[2], product, requant.scale, weight.array.shape[0])
        if isinstance(bias, str):
            return bias
        inputs.append(work.bias(main, main.inputs[2], bias))
        used.extend(bias.nodes)
    attributes = island.window_attributes()
    zero_point = x.affine.zero_point[0]
    attributes.update(x_zero_point=zero_point, w_zero_point=weight.zero_point, pad_value=zero_point, requant=requant)
    return island.integer_node("QConv", tuple(inputs), attributes, *used)
