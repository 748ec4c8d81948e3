"""Knows scales and zero points: reading them from Q and DQ nodes, and ONNX's exact QuantizeLinear formula.
Does not know which operator they surround.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from tilewright.ir.graphs.graph import Graph, Node
from tilewright.ir.tensors.dtypes import DType

Array = npt.NDArray[np.generic]
Floats = npt.NDArray[np.float32]

_Number = TypeVar("_Number", np.int64, np.float32)
_SMALLEST = 2.0**-126  # scale: machines differ below it
EIGHT_BITS = (DType.I8, DType.U8)
VALUE_BITS = (*EIGHT_BITS, DType.I16, DType.U16)  # what activations are stored in


@dataclass(frozen=True, slots=True, kw_only=True)
class Affine:
    """`real = scale * (stored - zero_point)`: float32 scales and zero points, one, or one per index of `axis`."""

    scale: tuple[float, ...]
    zero_point: tuple[int, ...]
    dtype: DType  # of what is stored
    axis: int | None  # None: one scale for all

    @property
    def whole(self) -> bool:
        """Whether one scale holds for the whole tensor."""
        return self.axis is None

    @property
    def wide(self) -> bool:
        """Whether what is stored has more than 8 bits."""
        return self.dtype not in EIGHT_BITS

    def scales(self) -> Floats:
        """The scales as float32, of length 1 or the extent of `axis`."""
        return np.array(self.scale, np.float32)

    def scaled(self, factor: float) -> Affine | None:
        """The same stored values, meaning `factor` times as much; None where a scale leaves what float32 holds."""
        with np.errstate(all="ignore"):
            scales = (np.array(self.scale) * factor).astype(np.float32)
        if not np.all(np.isfinite(scales) & (scales >= _SMALLEST)):
            return None
        return replace(self, scale=tuple(float(scale) for scale in scales))

    def dequantise(self, stored: Array) -> Floats:
        """DequantizeLinear (ONNX opset 13): `f32(stored - zero_point) * scale`, in float32."""
        centred = stored.astype(np.int64) - self._along(np.array(self.zero_point, np.int64), stored.ndim)
        real: Floats = centred.astype(np.float32) * self._along(self.scales(), stored.ndim)
        return real

    def quantise(self, real: Floats) -> Array:
        """QuantizeLinear (opset 13), one scale: `saturate(rne(real / scale) + zero_point)`, NaN to zero_point."""
        low, high = self.dtype.limits
        with np.errstate(all="ignore"):
            steps = np.rint(np.asarray(real, np.float32) / self.scales()[0])
        bounded = np.nan_to_num(np.clip(steps, -(2.0**31), 2.0**31), nan=0.0).astype(np.int64)
        stored: Array = np.clip(bounded + self.zero_point[0], low, high).astype(self.dtype.numpy)
        return stored

    def limits(self, low: float, high: float) -> tuple[int, int]:
        """The stored values of a clip to [low, high]. Exact, because QuantizeLinear is monotone."""
        stored = self.quantise(np.array([low, high], np.float32))
        return int(stored[0]), int(stored[1])

    def exactly(self, real: float) -> int | None:
        """The stored value that dequantises to exactly `real`, or None."""
        if not math.isfinite(real):
            return None
        stored = self.quantise(np.array([real], np.float32))
        return int(stored[0]) if float(self.dequantise(stored)[0]) == real else None

    def _along(self, values: npt.NDArray[_Number], rank: int) -> npt.NDArray[_Number]:
        return values.reshape([-1 if axis == self.axis else 1 for axis in range(rank)])


def read(graph: Graph, node: Node) -> Affine | str:
    """Scale and zero point of a QuantizeLinear or DequantizeLinear, or a sentence that says why they cannot be used."""
    scale = graph.constants.get(node.inputs[1])
    if scale is None:
        return f"the scale of {node.name!r} is not constant"
    stored = graph.tensors[node.outputs[0] if node.op == "QuantizeLinear" else node.inputs[0]]
    zero_point: Array | None = np.zeros(scale.shape, stored.dtype.numpy)
    if len(node.inputs) > 2 and node.inputs[2]:
        zero_point = graph.constants.get(node.inputs[2])
    if zero_point is None:
        return f"the zero point of {node.name!r} is not constant"
    if node.integer("block_size") != 0 or scale.ndim > 1:
        return f"{node.name!r} has a scale per block"
    axis = node.integer("axis", 1) % max(len(stored.shape), 1) if scale.size > 1 else None
    return Affine(
        scale=tuple(scale.reshape(-1).astype(np.float64).tolist()),
        zero_point=tuple(zero_point.reshape(-1).astype(np.int64).tolist()),
        dtype=stored.dtype,
        axis=axis,
    )
