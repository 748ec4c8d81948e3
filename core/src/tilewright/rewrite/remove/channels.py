"""Knows which channels (axis 1) of every value matter to the graph's outputs, through weights that are zero.
Does not remove anything; `remove_dead_channels` does.

A channel is needed when somebody multiplies it by a weight that is not zero, for a result that is needed. Operators
that keep channels apart tie those of their operands together: what one needs, all must keep. The masks grow from
"nothing" until every node agrees.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from tilewright.ir.graphs.graph import Graph, Node
from tilewright.operators.elementwise.unary import UNARY

if TYPE_CHECKING:
    import numpy.typing as npt

    Mask = npt.NDArray[np.bool_]  # one entry per channel: True where it must be kept
    Masks = dict[str, Mask]
    Weights = npt.NDArray[np.bool_]

CONVOLUTIONS = ("Conv", "QConv")
PRODUCTS = ("Gemm", "QGemm")
_BINARY = ("Add", "Div", "Max", "Min", "Mul", "QAdd", "QMul", "Sub")
_UNARY = ("AveragePool", "Cast", "Clip", "MaxPool", "QAveragePool", "QLookup", *UNARY)
CHANNEL_AXIS = 1


def needed_channels(graph: Graph) -> Masks:
    """A mask for every value of rank 2 or more that is no constant. At least one channel of each is kept."""
    masks: Masks = {
        name: np.zeros(tensor.shape[CHANNEL_AXIS], np.bool_)
        for name, tensor in graph.tensors.items()
        if name not in graph.constants and len(tensor.shape) > CHANNEL_AXIS
    }
    for name in (*graph.inputs, *graph.outputs):
        if name in masks:
            masks[name][:] = True
    while _grow(graph, masks) or _fill_last_empty(graph, masks):
        pass
    return masks


def _grow(graph: Graph, masks: Masks) -> bool:
    """Let every node, last first, demand what it needs. Whether any mask grew."""
    before = _total(masks)
    for node in reversed(graph.nodes):
        relation = RELATIONS.get(node.op, _keep_all)
        relation(graph, node, masks)
    return _total(masks) != before


def _total(masks: Masks) -> int:
    return sum(int(mask.sum()) for mask in masks.values())


def _fill_last_empty(graph: Graph, masks: Masks) -> bool:
    """Give the last value without channels one, for no tensor may be empty. Whether there was such a value."""
    for node in reversed(graph.nodes):
        for name in node.outputs:
            if name in masks and masks[name].size and not masks[name].any():
                masks[name][0] = True
                return True
    return False


def _keep_all(graph: Graph, node: Node, masks: Masks) -> None:
    """An operator that may mix channels: every channel of its operands and outputs is needed."""
    for name in (*node.inputs, *node.outputs):
        if name in masks:
            masks[name][:] = True


def data_operands(node: Node) -> tuple[str, ...]:
    """The inputs that are walked together with the output, channel by channel."""
    return node.inputs if node.op in (*_BINARY, "Concat") else node.inputs[:1]


def aligned_axis(graph: Graph, operand: str, output: str) -> int:
    """The axis of `operand` that broadcasts against the output's channels; negative when it has none."""
    return CHANNEL_AXIS - (len(graph.tensors[output].shape) - len(graph.tensors[operand].shape))


def _apart(graph: Graph, node: Node, masks: Masks) -> None:
    """Channels stay apart: operands and output keep the same ones."""
    output = node.outputs[0]
    if output not in masks or len(node.outputs) != 1:
        return _keep_all(graph, node, masks)
    tied = [output]
    for name in data_operands(node):
        if name in graph.constants:
            continue
        if aligned_axis(graph, name, output) != CHANNEL_AXIS:
            return _keep_all(graph, node, masks)
        if masks[name].size == masks[output].size:
            tied.append(name)
        else:
            masks[name][:] = True
    return _tie(masks, tied)


def _tie(masks: Masks, names: list[str]) -> None:
    union = np.logical_or.reduce([masks[name] for name in names])
    for name in names:
        masks[name][:] = union


def _weight_is_used(graph: Graph, node: Node) -> Weights | None:
    """[outputs, inputs per group]: whether any tap is not zero. None where the weight is not constant."""
    weight = graph.constants.get(node.inputs[1])
    if weight is None:
        return None
    zero_point = node.attributes.get("w_zero_point", node.attributes.get("b_zero_point", 0))
    if node.op in PRODUCTS and not node.integer("transB"):
        weight = weight.T
    centre = np.array(zero_point).reshape(-1, *(1,) * (weight.ndim - 1))
    used: Weights = (weight != centre).any(axis=tuple(range(2, weight.ndim)))
    return used


def _convolution(graph: Graph, node: Node, masks: Masks) -> None:
    used, group = _weight_is_used(graph, node), node.integer("group", 1)
    if used is None or node.inputs[0] not in masks:
        return _keep_all(graph, node, masks)
    source, output = masks[node.inputs[0]], masks[node.outputs[0]]
    if group == 1:
        source |= used[output].any(axis=0)
        return None
    kept = output.reshape(group, -1).any(axis=1) | source.reshape(group, -1).any(axis=1)
    output |= np.repeat(kept, output.size // group)
    source |= np.repeat(kept, source.size // group)
    return None


def _product(graph: Graph, node: Node, masks: Masks) -> None:
    used = _weight_is_used(graph, node)
    plain = len(graph.tensors[node.inputs[0]].shape) == 2
    bias = node.inputs[2] if len(node.inputs) > 2 else ""
    if used is None or not plain or node.inputs[0] not in masks or (bias and bias not in graph.constants):
        return _keep_all(graph, node, masks)
    masks[node.inputs[0]] |= used[masks[node.outputs[0]]].any(axis=0)
    return None


def _concat(graph: Graph, node: Node, masks: Masks) -> None:
    output = node.outputs[0]
    if any(name in graph.constants for name in node.inputs) or output not in masks:
        return _keep_all(graph, node, masks)
    if node.integer("axis") % len(graph.tensors[output].shape) != CHANNEL_AXIS:
        return _apart(graph, node, masks)
    start = 0
    for name in node.inputs:
        part = masks[output][start : start + masks[name].size]
        masks[name] |= part
        part |= masks[name]
        start += masks[name].size
    return None


def _reshape(graph: Graph, node: Node, masks: Masks) -> None:
    """Row-major with the same batch: one channel of the coarser side is a run of channels of the finer one."""
    source, output = node.inputs[0], node.outputs[0]
    shapes = graph.tensors[source].shape, graph.tensors[output].shape
    if source not in masks or output not in masks or shapes[0][0] != shapes[1][0]:
        return _keep_all(graph, node, masks)
    coarse, fine = sorted((masks[source], masks[output]), key=lambda mask: mask.size)
    if not coarse.size or fine.size % coarse.size:
        return _keep_all(graph, node, masks)
    coarse |= fine.reshape(coarse.size, -1).any(axis=1)
    fine |= np.repeat(coarse, fine.size // coarse.size)
    return None


def _reduction(graph: Graph, node: Node, masks: Masks) -> None:
    rank = len(graph.tensors[node.inputs[0]].shape)
    axes = {axis % rank for axis in node.integers("axes")}
    if not axes or axes & {0, CHANNEL_AXIS} or node.inputs[0] not in masks or node.outputs[0] not in masks:
        return _keep_all(graph, node, masks)
    return _tie(masks, [node.inputs[0], node.outputs[0]])


def _per_tensor(graph: Graph, node: Node, masks: Masks) -> None:
    if math.prod(graph.tensors[node.inputs[1]].shape) != 1:
        return _keep_all(graph, node, masks)
    return _apart(graph, node, masks)


RELATIONS: Mapping[str, Callable[[Graph, Node, Masks], None]] = MappingProxyType(
    {
        **dict.fromkeys((*_BINARY, *_UNARY), _apart),
        **dict.fromkeys(CONVOLUTIONS, _convolution),
        **dict.fromkeys(PRODUCTS, _product),
        **dict.fromkeys(("ReduceMean", "QReduceMean"), _reduction),
        **dict.fromkeys(("DequantizeLinear", "QuantizeLinear"), _per_tensor),
        "Concat": _concat,
        "Reshape": _reshape,
    }
)
