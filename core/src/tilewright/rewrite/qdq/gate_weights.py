"""Knows how weights and biases of a recurrence are read where they are dequantised at compile time, behind slices and
reshapes that take an entry of each direction. Does not know what a recurrence computes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tilewright.ir.graphs.graph import Node
from tilewright.ir.tensors.dtypes import DType
from tilewright.rewrite.edit import GraphView
from tilewright.rewrite.qdq.affine import read

Integers = npt.NDArray[np.int64]
Doubles = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """Weights of 8 bits without zero point, and the scale of every element."""

    integers: Integers
    scales: npt.NDArray[np.float32]

    def gates(self, hidden: int) -> npt.NDArray[np.float32] | None:
        """One scale for each gate of so many rows; None where rows of a gate differ."""
        each = self.scales.reshape(-1, hidden * self.scales.shape[1])
        same = bool(np.all(each == each[:, :1]))
        return each[:, 0] if same else None


def rows_of(view: GraphView, value: str) -> Rows | str:
    """The weights that `value` was dequantised from; or why not."""
    node = view.producer.get(value)
    if node is None or node.op not in ("DequantizeLinear", "Reshape", "Slice"):
        return f"its weights {value!r} are not quantised"
    if node.op != "DequantizeLinear":
        rows = rows_of(view, node.inputs[0])
        if isinstance(rows, str):
            return rows
        return Rows(integers=_moved(node, rows.integers), scales=_moved(node, rows.scales))
    affine, array = read(view.graph, node), view.graph.constants.get(node.inputs[0])
    if isinstance(affine, str):
        return affine
    if array is None:
        return f"its weights {node.inputs[0]!r} are not constant"
    if affine.dtype is not DType.I8 or any(affine.zero_point):
        return f"its weights {node.inputs[0]!r} are not i8 with zero point 0"
    along = [-1 if axis == affine.axis else 1 for axis in range(array.ndim)]
    scales = np.broadcast_to(affine.scales().reshape(along), array.shape)
    return Rows(integers=array.astype(np.int64), scales=scales)


def real_of(view: GraphView, value: str) -> Doubles | str:
    """What a bias stands for, in float64: a constant, dequantised integers, or sums of them; or why it is not known."""
    array, node = view.graph.constants.get(value), view.producer.get(value)
    if array is not None:
        return array.astype(np.float64)
    if node is None or node.op not in ("DequantizeLinear", "Reshape", "Slice", "Add", "Concat"):
        return f"its bias {value!r} is not constant"
    if node.op == "DequantizeLinear":
        return _dequantised(view, node)
    parts = []
    for name in node.inputs:
        part = real_of(view, name)
        if isinstance(part, str):
            return part
        parts.append(part)
    if node.op == "Add":
        return np.asarray(parts[0] + parts[1], np.float64)
    return np.concatenate(parts, node.integer("axis")) if node.op == "Concat" else _moved(node, parts[0])


def _dequantised(view: GraphView, node: Node) -> Doubles | str:
    affine, array = read(view.graph, node), view.graph.constants.get(node.inputs[0])
    if isinstance(affine, str):
        return affine
    if array is None:
        return f"its bias {node.inputs[0]!r} is not constant"
    along = [-1 if axis == affine.axis else 1 for axis in range(array.ndim)]
    zeros = np.array(affine.zero_point, np.int64)
    centred = array.astype(np.int64) - (zeros.reshape(along) if zeros.size > 1 else zeros)
    return np.asarray(centred * affine.scales().astype(np.float64).reshape(along), np.float64)


def _moved(node: Node, array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """What a Reshape or a Slice makes of an array."""
    shape = node.integers("shape")
    if node.op == "Slice":
        for axis, (start, step) in enumerate(zip(node.integers("starts"), node.integers("steps"), strict=True)):
            array = np.take(array, start + step * np.arange(shape[axis]), axis=axis)
    return array.reshape(shape)
