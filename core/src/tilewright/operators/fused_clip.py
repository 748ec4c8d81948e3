"""Knows the activation that a float operator may carry: attributes `clip_low` and `clip_high`, NaN kept.
Does not know which operators carry one, nor who fuses it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from tilewright.c_text.literals import c_float
from tilewright.ir.graph import Node

if TYPE_CHECKING:
    import numpy.typing as npt


def clip_limits(node: Node) -> tuple[float, float]:
    """The limits as float32 values; -inf and inf where nothing is fused."""
    low = np.float32(node.number("clip_low", -math.inf))
    high = np.float32(node.number("clip_high", math.inf))
    return float(min(low, high)), float(high)  # what lies above `high` ends there, `low` included


def rounded_and_clipped(node: Node, exact: npt.NDArray[np.float64]) -> npt.NDArray[np.float32]:
    """The one rounding of a float reference: float64 to float32, then the fused clip."""
    low, high = clip_limits(node)
    with np.errstate(over="ignore"):
        rounded = exact.astype(np.float32)
    return np.minimum(np.maximum(rounded, np.float32(low)), np.float32(high))


def clip_literals(node: Node) -> dict[str, str]:
    """`low` and `high` as C."""
    low, high = clip_limits(node)
    return {"low": c_float(low), "high": c_float(high)}
