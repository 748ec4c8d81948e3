"""Knows how numbers of channels go into the weights and the bias of a product: Conv, ConvTranspose, Gemm, MatMul, from
before it (channels of its input) and from behind it (channels of its result).
Does not know where these numbers come from. Weights are rounded once more, after computing in float64.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from tilewright.ir.graphs.graph import Graph, Node
from tilewright.ir.tensors.dtypes import DType
from tilewright.rewrite.edit import Draft, GraphView, origins
from tilewright.rewrite.fold.channel_affine import Channels

Doubles = npt.NDArray[np.float64]
_CONVOLUTIONS = ("Conv", "ConvTranspose")
_MATRICES = ("Gemm", "MatMul")


@dataclass(slots=True, kw_only=True)
class Product:
    """A product, and what is folded into it so far: `(W (x * x_factor + x_shift) + bias) * y_factor + y_shift`.

    Local to the pass that makes it.
    """

    node: Node
    shared: bool  # whether other nodes read the weight as well: another scale would store it twice
    x_factor: Doubles
    x_shift: Doubles
    y_factor: Doubles
    y_shift: Doubles
    folded: list[Node]

    @classmethod
    def of(cls, view: GraphView, node: Node) -> Product | None:
        """The product that a node is, with a weight and a bias that are known and float32; else None."""
        graph = view.graph
        if node.op not in (*_CONVOLUTIONS, *_MATRICES) or "clip_low" in node.attributes:
            return None
        weight, bias = node.inputs[1], _bias(node)
        if weight not in graph.constants or (bias and bias not in graph.constants):
            return None
        known = [name for name in (*node.inputs, *node.outputs) if name]
        if any(graph.tensors[name].dtype is not DType.F32 for name in known) or node.inputs[0] in graph.constants:
            return None
        if node.op == "MatMul" and min(len(graph.tensors[name].shape) for name in node.inputs) < 2:
            return None
        one, none = np.ones(1), np.zeros(1)
        shared = len(view.consumers[weight]) > 1
        return cls(node=node, shared=shared, x_factor=one, x_shift=none, y_factor=one, y_shift=none, folded=[])

    def input_channels(self, graph: Graph) -> Channels:
        """Those of its input."""
        return Channels.along(*_axis(graph, self.node, self.node.inputs[0]))

    def output_channels(self, graph: Graph) -> Channels:
        """Those of its result."""
        return Channels.along(*_axis(graph, self.node, self.node.outputs[0]))

    def takes_behind(self, graph: Graph, factor: Doubles, shift: Doubles) -> bool:
        """Whether its result may be multiplied and shifted so by other weights and another bias."""
        return self._takes(factor) and (not shift.any() or self._takes_bias(graph))

    def takes_before(self, graph: Graph, factor: Doubles, shift: Doubles) -> bool:
        """Whether its input may be. Zeros around the input are not shifted: there must be none."""
        even = self.node.op in _MATRICES or (self.node.op == "Conv" and not any(self.node.integers("pads")))
        return self._takes(factor) and (not shift.any() or (even and self._takes_bias(graph)))

    def _takes(self, factor: Doubles) -> bool:
        return not self.shared or bool(np.all(factor == 1))

    def _takes_bias(self, graph: Graph) -> bool:
        return self.node.op != "MatMul" or len(graph.tensors[self.node.inputs[1]].shape) == 2

    def fold_behind(self, factor: Doubles, shift: Doubles, node: Node) -> None:
        """Take in what `node` does to the result."""
        self.y_factor, self.y_shift = self.y_factor * factor, self.y_shift * factor + shift
        self.folded.append(node)

    def fold_before(self, factor: Doubles, shift: Doubles, node: Node) -> None:
        """Take in what `node` does to the input; those nearer to the product come first."""
        self.x_factor, self.x_shift = self.x_factor * factor, self.x_shift + shift * self.x_factor
        self.folded.append(node)

    def finished(self, draft: Draft) -> Node:
        """The node with everything folded in."""
        node, name = self.node, self.node.inputs[1]
        weight = np.asarray(draft.graph.constants[name], np.float64)
        parts = _in_parts(node, weight)
        scaled = parts * _for_inputs(node, self.x_factor, parts) * _for_outputs(node, self.y_factor, parts)
        if not np.array_equal(scaled, parts):
            name = draft.constant(_whole(node, scaled, weight).astype(np.float32), f"{name}_scaled")
        node = replace(node, inputs=(node.inputs[0], name, *node.inputs[2:]), origin=origins(node, *self.folded))
        old, new = _bias(node), self._new_bias(draft.graph, parts)
        if not old and not new.any():
            return node
        bias = draft.constant(new.astype(np.float32), f"{old or f'{self.node.inputs[1]}_bias'}_folded")
        attributes = {**node.attributes, **({"beta": 1.0} if "beta" in node.attributes else {})}
        op = "Gemm" if node.op == "MatMul" else node.op
        return replace(node, op=op, inputs=(*node.inputs[:2], bias), attributes=attributes)

    def _new_bias(self, graph: Graph, parts: Doubles) -> Doubles:
        """What is added to every channel of the result, as it is to be."""
        node, name = self.node, _bias(self.node)
        bias = np.asarray(graph.constants[name], np.float64) * node.number("beta", 1.0) if name else np.zeros(1)
        if self.x_shift.any():
            shifted = (parts * _for_inputs(node, self.x_shift, parts)).sum(axis=(2, 3)).reshape(-1)
            bias = bias + shifted * node.number("alpha", 1.0)
        new = np.asarray(bias * self.y_factor + self.y_shift)
        return np.broadcast_to(new, (self.output_channels(graph).count,)) if node.op in _CONVOLUTIONS else new


def _bias(node: Node) -> str:
    return node.inputs[2] if len(node.inputs) > 2 else ""


def _axis(graph: Graph, node: Node, name: str) -> tuple[Sequence[int], int]:
    shape = graph.tensors[name].shape
    return shape, 1 if node.op in _CONVOLUTIONS else len(shape) - 1


def _in_parts(node: Node, weight: Doubles) -> Doubles:
    """The weight as [groups or batches, outputs, inputs, taps]."""
    group = node.integer("group", 1)
    if node.op == "Conv":
        return weight.reshape(group, weight.shape[0] // group, weight.shape[1], -1)
    if node.op == "ConvTranspose":
        return weight.reshape(group, weight.shape[0] // group, weight.shape[1], -1).swapaxes(1, 2)
    matrices = weight.reshape(-1, *weight.shape[-2:], 1)
    return matrices if node.integer("transB") else matrices.swapaxes(1, 2)


def _whole(node: Node, parts: Doubles, weight: Doubles) -> Doubles:
    """Parts in the form of the weight that they were."""
    as_stored = node.op == "Conv" or node.integer("transB")
    return (parts if as_stored else parts.swapaxes(1, 2)).reshape(weight.shape)


def _for_outputs(node: Node, numbers: Doubles, parts: Doubles) -> Doubles:
    groups = parts.shape[0] if node.op in _CONVOLUTIONS and numbers.size > 1 else 1
    return numbers.reshape(groups, -1, 1, 1)


def _for_inputs(node: Node, numbers: Doubles, parts: Doubles) -> Doubles:
    groups = parts.shape[0] if node.op in _CONVOLUTIONS and numbers.size > 1 else 1
    return numbers.reshape(groups, 1, -1, 1)
