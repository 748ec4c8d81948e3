"""Knows what layers of floats share on the cluster: the fused activation.
Does not know instructions, nor how weights are stored.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from tilewright.api.graph import Site
from tilewright_riscv.floats.machines import c_float

MOST_TAPS = 31  # along one axis: one bit for each


def activation(site: Site) -> tuple[str, Mapping[str, str]]:
    """`clip` of float_finish.c and the limits as C; the lower limit gives way to the upper one."""
    high = float(np.float32(site.node.number("clip_high", math.inf)))
    low = min(float(np.float32(site.node.number("clip_low", -math.inf))), high)
    if math.isinf(high) and high > 0:
        return ("none" if math.isinf(low) and low < 0 else "low"), {"low": c_float(low), "high": c_float(high)}
    return "both", {"low": c_float(low), "high": c_float(high)}
