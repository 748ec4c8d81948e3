"""Knows what layers of floats share on the cluster: refusals, the fused activation, and C for floats.
Does not know instructions, nor how weights are stored.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from tilewright.api.graph import DType, Site

MOST_TAPS = 31  # along one axis: one bit for each


def not_floats(site: Site) -> str | None:
    """Why these are not all f32, or None."""
    for tensor in (*site.inputs, *site.outputs):
        if tensor is not None and tensor.dtype is not DType.F32:
            return f"values must be f32, found {tensor.dtype.value}"
    if any(tensor is not None and 0 in tensor.shape for tensor in (*site.inputs, *site.outputs)):
        return "has no elements"
    return None


def c_float(value: float) -> str:
    """A C constant with exactly the value's float32 rounding."""
    if not math.isfinite(value):
        return "(float)NAN" if math.isnan(value) else ("-INFINITY" if value < 0 else "INFINITY")
    return f"{float(np.float32(value)).hex()}f"


def activation(site: Site) -> tuple[str, Mapping[str, str]]:
    """`clip` of float_finish.c and the limits as C; the lower limit gives way to the upper one."""
    high = float(np.float32(site.node.number("clip_high", math.inf)))
    low = min(float(np.float32(site.node.number("clip_low", -math.inf))), high)
    if math.isinf(high) and high > 0:
        return ("none" if math.isinf(low) and low < 0 else "low"), {"low": c_float(low), "high": c_float(high)}
    return "both", {"low": c_float(low), "high": c_float(high)}
