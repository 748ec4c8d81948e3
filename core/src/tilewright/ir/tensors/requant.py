"""Knows how an integer accumulator becomes an 8-bit result: the exact formula, as a value and as numpy.
Does not know cheaper forms; `proof` finds those and shows that they are equal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


@dataclass(frozen=True, slots=True, kw_only=True)
class Requant:
    """`q = clamp(rne(f32(f32(acc) * scale[c])) + zero_point, low, high)`.

    `scale` holds float32 values, one for all channels or one for each. `low` and `high` are the
    output type's limits, narrowed by a Relu or Clip that was fused. `rne` rounds halves to even.
    Source: the arithmetic of ONNX QLinearConv and QLinearMatMul, ONNX opset 10.
    """

    scale: tuple[float, ...]
    zero_point: int
    low: int
    high: int

    def scales(self, channels: int) -> tuple[float, ...]:
        """One scale for each of `channels` channels."""
        return self.scale * channels if len(self.scale) == 1 else self.scale


def requantise(accumulator: npt.NDArray[np.int64], requant: Requant, axis: int) -> npt.NDArray[np.int64]:
    """Apply the exact formula to `accumulator`, whose channel axis is `axis`. Values, not a storage type."""
    import numpy as np

    scale = np.asarray(requant.scale, np.float32)
    if scale.size > 1:
        scale = scale.reshape([-1 if a == axis % accumulator.ndim else 1 for a in range(accumulator.ndim)])
    rounded = np.rint(accumulator.astype(np.float32) * scale)  # float32 throughout: that is the formula
    limited = np.clip(rounded, -(2.0**31), 2.0**31)  # int64 conversion of a huge float is undefined
    moved: npt.NDArray[np.int64] = limited.astype(np.int64) + requant.zero_point
    limits = np.int64(requant.low), np.int64(requant.high)
    return np.minimum(np.maximum(moved, limits[0]), limits[1]).reshape(accumulator.shape)  # a scalar stays one
