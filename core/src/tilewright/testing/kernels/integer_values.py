"""Knows bytes and requantisations that find rounding, clamping and overflow mistakes. Does not know any operator."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tilewright.ir.tensors.dtypes import DType
from tilewright.ir.tensors.requant import Requant

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]


def byte_array(rng: np.random.Generator, dtype: DType, shape: Sequence[int], saturated: bool) -> Array:
    """Random bytes, or only the two ends of the type."""
    import numpy as np

    low, high = dtype.limits
    values = rng.choice([low, high], size=shape) if saturated else rng.integers(low, high + 1, size=shape)
    return np.asarray(values).astype(dtype.numpy)


def make_requant(rng: np.random.Generator, channels: int, dtype: DType, reach: float, kind: str) -> Requant:
    """Scales that spread accumulators up to `reach` over the output type.

    `kind`: "random"; "ties", powers of two, so that halves occur; "coarse", so large that most results saturate.
    """
    import numpy as np

    low, high = dtype.limits
    scale: npt.NDArray[np.floating] = 200.0 / max(reach, 1.0) * 2.0 ** rng.uniform(-2, 2, channels)
    if kind == "ties":
        scale = 2.0 ** np.round(np.log2(scale))
    if kind == "coarse":
        scale = scale * 64
    zero_point = int(rng.choice([low, high, (low + high) // 2, int(rng.integers(low, high + 1))]))
    if rng.random() < 0.3:  # a Relu that was fused
        low = zero_point
    return Requant(scale=tuple(float(s) for s in scale.astype(np.float32)), zero_point=zero_point, low=low, high=high)
