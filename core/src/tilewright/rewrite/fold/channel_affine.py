"""Knows arithmetic with constants of channels: which nodes multiply and add one number for each index of an axis, and
where that axis is before and behind operators that move or average. Does not know what the numbers go into.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tilewright.ir.graphs.graph import Graph, Node
from tilewright.ir.tensors.dtypes import DType

Doubles = npt.NDArray[np.float64]
AFFINES = ("Add", "BatchNormalization", "Div", "Mul", "Sub")  # operators that may be one
_LARGEST = 2.0**64  # a factor or summand beyond may let weights overflow


@dataclass(frozen=True, slots=True, kw_only=True)
class Channels:
    """Which channel an element belongs to: number `place // inner % count`, its place counted row-major."""

    count: int
    inner: int

    @classmethod
    def along(cls, shape: Sequence[int], axis: int) -> Channels:
        """One channel for each index of an axis."""
        return cls(count=shape[axis], inner=math.prod(shape[axis + 1 :]))

    def axis_in(self, shape: Sequence[int]) -> int | None:
        """The axis whose indices are the channels; None where they are part of an axis, or spread over several."""
        return next((axis for axis in range(len(shape)) if Channels.along(shape, axis) == self), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelAffine:
    """`x * factor + shift`, of one element each, or one for each of `channels`."""

    source: str
    channels: Channels
    factor: Doubles
    shift: Doubles

    def for_channels(self, channels: Channels) -> tuple[Doubles, Doubles] | None:
        """Factor and shift for each of other channels of the same elements; None where such a channel has several."""
        factor, shift = (_spread(numbers, self.channels, channels) for numbers in (self.factor, self.shift))
        return None if factor is None or shift is None else (factor, shift)


def _spread(numbers: Doubles, own: Channels, other: Channels) -> Doubles | None:
    if numbers.size == 1:
        return numbers
    each, rest = divmod(own.inner, other.inner)
    if rest or other.count % (each * own.count):
        return None
    return np.tile(np.repeat(numbers, each), other.count // (each * own.count))


def channel_affine(graph: Graph, node: Node) -> ChannelAffine | None:
    """What a node does to the channels of one float32 value, where that is all it does."""
    output = graph.tensors[node.outputs[0]]
    if output.dtype is not DType.F32 or not output.elements:
        return None
    if node.op == "BatchNormalization":
        return _normalising(graph, node)
    if node.op not in AFFINES or node.attributes:
        return None
    constants = [index for index, name in enumerate(node.inputs) if name in graph.constants]
    if len(constants) != 1 or (node.op == "Div" and constants == [0]):
        return None
    source, name = node.inputs[1 - constants[0]], node.inputs[constants[0]]
    shape = graph.tensors[name].shape
    long = [axis - len(shape) for axis, extent in enumerate(shape) if extent != 1]
    if graph.tensors[source].shape != output.shape or len(shape) > len(output.shape) or len(long) > 1:
        return None
    numbers = np.asarray(graph.constants[name].reshape(-1), np.float64)
    axis = len(output.shape) + long[0] if long else 0
    channels = Channels.along(output.shape, axis) if output.shape else Channels(count=1, inner=1)
    return _moderate(source, channels, *_factor_and_shift(node.op, numbers, constants[0]))


def _factor_and_shift(op: str, numbers: Doubles, constant: int) -> tuple[Doubles, Doubles]:
    one, none = np.ones(1), np.zeros(1)
    with np.errstate(divide="ignore"):
        if op == "Mul":
            return numbers, none
        if op == "Div":
            return np.asarray(1 / numbers), none
        if op == "Add":
            return one, numbers
        return (one, -numbers) if constant else (-one, numbers)


def _normalising(graph: Graph, node: Node) -> ChannelAffine | None:
    if any(name not in graph.constants for name in node.inputs[1:5]):
        return None
    gamma, beta, mean, variance = (np.asarray(graph.constants[name], np.float64) for name in node.inputs[1:5])
    with np.errstate(divide="ignore", invalid="ignore"):
        factor = gamma / np.sqrt(variance + node.number("epsilon", 1e-5))
        shift = beta - mean * factor
    channels = Channels.along(graph.tensors[node.outputs[0]].shape, 1)
    return _moderate(node.inputs[0], channels, factor, shift)


def _moderate(source: str, channels: Channels, factor: Doubles, shift: Doubles) -> ChannelAffine | None:
    if not (np.all(np.abs(factor) < _LARGEST) and np.all(np.abs(shift) < _LARGEST)):  # nor NaN
        return None
    return ChannelAffine(source=source, channels=channels, factor=factor, shift=shift)


def behind(graph: Graph, node: Node, channels: Channels) -> Channels | None:
    """The channels of a node's result that those of its operand become; None where the node does more than move,
    average, or take the largest of elements of one channel.
    """
    if node.op == "Reshape":
        return channels
    axes = _axes(graph, node)
    axis = channels.axis_in(graph.tensors[node.inputs[0]].shape) if axes else None
    if axis is None or axis not in axes:
        return None
    return Channels.along(graph.tensors[node.outputs[0]].shape, axes[axis])


def before(graph: Graph, node: Node, channels: Channels) -> Channels | None:
    """The channels of a node's operand that become those of its result; None as for `behind`."""
    if node.op == "Reshape":
        return channels
    axes = {new: old for old, new in _axes(graph, node).items()}
    axis = channels.axis_in(graph.tensors[node.outputs[0]].shape) if axes else None
    if axis is None or axis not in axes:
        return None
    return Channels.along(graph.tensors[node.inputs[0]].shape, axes[axis])


def _axes(graph: Graph, node: Node) -> Mapping[int, int]:
    """Axes of the operand whose indices stay apart -> those of the result. Empty where there are none."""
    rank = len(graph.tensors[node.inputs[0]].shape) if node.inputs and node.inputs[0] else 0
    if node.op == "Transpose":
        permutation = node.integers("perm", tuple(reversed(range(rank))))
        return {old: new for new, old in enumerate(permutation)}
    if node.op == "ReduceMean":
        kept = [axis for axis in range(rank) if axis not in node.integers("axes")]
        return {old: old if node.integer("keepdims", 1) else new for new, old in enumerate(kept)}
    if node.op == "MaxPool" and len(node.outputs) == 1:
        return {0: 0, 1: 1}
    padded = node.op == "AveragePool" and any(node.integers("pads")) and node.integer("count_include_pad")
    return {0: 0, 1: 1} if node.op == "AveragePool" and not padded and "clip_low" not in node.attributes else {}
