"""Knows which channels (axis 1) of every value matter to the graph's outputs, through weights that are zero.
Does not remove anything; `remove_dead_channels` does.

A channel is needed when somebody multiplies it by a weight that is not zero, for a result that is needed. Operators
that keep channels apart tie those of their operands together: what one needs, all must keep. The masks grow from
"nothing" until every node agrees.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from heapq import heapify, heappop, heappush
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
    growth = _Growth(graph, masks)
    growth.settle(range(len(graph.nodes)))
    for number in reversed(range(len(graph.nodes))):
        empty = [name for name in graph.nodes[number].outputs if name in masks and masks[name].size]
        for name in empty:
            if not masks[name].any():  # no tensor may be without channels
                masks[name][0] = True
                growth.settle(growth.touching[name])
    return masks


class _Growth:
    """Lets nodes demand what they need, those first that come last, until all of them agree."""

    def __init__(self, graph: Graph, masks: Masks) -> None:
        self._graph, self._masks = graph, masks
        self.touching: dict[str, list[int]] = {name: [] for name in masks}  # value -> numbers of its nodes
        self._values: list[list[str]] = []  # of every node, those with a mask
        for number, node in enumerate(graph.nodes):
            values = [name for name in dict.fromkeys((*node.inputs, *node.outputs)) if name in masks]
            self._values.append(values)
            for name in values:
                self.touching[name].append(number)

    def settle(self, numbers: Iterable[int]) -> None:
        """Ask these nodes, and again all that share a value whose mask has grown."""
        waiting = [-number for number in numbers]
        heapify(waiting)
        queued = set(waiting)
        while waiting:
            place = heappop(waiting)
            queued.discard(place)
            for name in self._grown(-place):
                for other in self.touching[name]:
                    if -other not in queued:
                        queued.add(-other)
                        heappush(waiting, -other)

    def _grown(self, number: int) -> list[str]:
        """The values whose masks one node lets grow."""
        values, node = self._values[number], self._graph.nodes[number]
        before = [int(self._masks[name].sum()) for name in values]
        RELATIONS.get(node.op, _keep_all)(self._graph, node, self._masks)
        return [name for name, count in zip(values, before, strict=True) if int(self._masks[name].sum()) != count]


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
