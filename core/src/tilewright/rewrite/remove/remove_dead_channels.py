"""Knows the pass that removes channels which every consumer multiplies by zero, from weights, biases and values.
Does not know which channels those are; `channels` does.

Integer outputs are bit-equal. Float outputs are equal inside the error model for finite values (0 * inf would be NaN).
Values between inputs and outputs get narrower.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tilewright.ir.graphs.graph import Attribute, Graph, Node
from tilewright.ir.graphs.operator import GraphPass, PassContext, PassResult
from tilewright.ir.tensors.requant import Requant
from tilewright.rewrite.edit import Draft
from tilewright.rewrite.remove.channels import (
    CHANNEL_AXIS,
    CONVOLUTIONS,
    PRODUCTS,
    aligned_axis,
    data_operands,
    needed_channels,
)

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Mask = npt.NDArray[np.bool_]
    Masks = dict[str, Mask]

_ZERO_POINTS = ("w_zero_point", "b_zero_point")  # of weights: one, or one for each output channel


def _apply(graph: Graph, context: PassContext) -> PassResult:
    while masks := {name: mask for name, mask in needed_channels(graph).items() if not mask.all()}:
        graph = _without(graph, masks)  # a convolution left with one group may lose single channels next
    return PassResult(graph=graph)


def _without(graph: Graph, masks: Masks) -> Graph:
    draft = Draft(graph=graph)
    for name, mask in masks.items():
        tensor = graph.tensors[name]
        shape = (*tensor.shape[:CHANNEL_AXIS], int(mask.sum()), *tensor.shape[CHANNEL_AXIS + 1 :])
        draft.tensors[name] = replace(tensor, shape=shape)
    for node in graph.nodes:
        if any(name in masks for name in (*node.inputs, *node.outputs)):
            draft.replace(node, _narrowed(draft, node, masks))
    return draft.finish()


def _narrowed(draft: Draft, node: Node, masks: Masks) -> Node:
    if node.op in (*CONVOLUTIONS, *PRODUCTS):
        return _narrowed_weights(draft, node, masks)
    if node.op == "Reshape":
        shape = draft.tensors.get(node.outputs[0], draft.graph.tensors[node.outputs[0]]).shape
        return replace(node, attributes={**node.attributes, "shape": shape})
    return _narrowed_operands(draft, node, masks)


def _narrowed_operands(draft: Draft, node: Node, masks: Masks) -> Node:
    """Constant operands of an elementwise operator lose the same channels as its result."""
    graph, mask = draft.graph, masks.get(node.outputs[0])
    if mask is None:
        return node
    inputs = list(node.inputs)
    for index, name in enumerate(data_operands(node)):
        axis = aligned_axis(graph, name, node.outputs[0])
        if name in graph.constants and axis >= 0 and graph.tensors[name].shape[axis] == mask.size:
            inputs[index] = draft.constant(graph.constants[name].compress(mask, axis=axis), f"{name}_live")
    return replace(node, inputs=tuple(inputs))


def _narrowed_weights(draft: Draft, node: Node, masks: Masks) -> Node:
    """A convolution or product without the outputs nobody needs and the inputs that are gone."""
    group = node.integer("group", 1)
    source, output = masks.get(node.inputs[0]), masks.get(node.outputs[0])
    by_column = node.op in PRODUCTS and not node.integer("transB")
    output_axis, input_axis = (1, 0) if by_column else (0, 1)
    weight = draft.graph.constants[node.inputs[1]]
    inputs, attributes = list(node.inputs), dict(node.attributes)
    if source is not None and group == 1:
        weight = weight.compress(source, axis=input_axis)
    if output is not None:
        weight = weight.compress(output, axis=output_axis)
        attributes = {name: _per_channel(name, value, output) for name, value in attributes.items()}
        if group > 1:
            attributes["group"] = int(output.reshape(group, -1).any(axis=1).sum())
        if len(inputs) > 2 and inputs[2]:
            bias = draft.graph.constants[inputs[2]]
            if bias.ndim and bias.shape[-1] == output.size:  # otherwise it is one element for all channels
                inputs[2] = draft.constant(bias.compress(output, axis=-1), f"{inputs[2]}_live")
    inputs[1] = draft.constant(weight, f"{node.inputs[1]}_live")
    return replace(node, inputs=tuple(inputs), attributes=attributes)


def _per_channel(name: str, value: Attribute, output: Mask) -> Attribute:
    """A requantisation with the scales of the channels that stay, and their zero points; others as they are."""
    kept = [channel for channel, stays in enumerate(output) if stays]
    if name in _ZERO_POINTS and isinstance(value, tuple) and len(value) == output.size:
        return tuple(int(value[channel]) for channel in kept)
    return value.of_channels(kept) if isinstance(value, Requant) else value


PASS = GraphPass(
    name="remove-dead-channels",
    summary="channels that every consumer multiplies by zero are removed",
    apply=_apply,
    after=("lower-quantised", "fold-dequantised", "fuse-activation"),
)
