"""Knows the activation that a float operator may carry: attributes `clip_low` and `clip_high`, NaN kept.
Does not know which operators carry one, nor who fuses it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from tilewright.c_text.literals import c_double, c_float
from tilewright.ir.graphs.graph import Node

if TYPE_CHECKING:
    import numpy.typing as npt

_Float = TypeVar("_Float", bound=np.floating)


def clip_limits(node: Node) -> tuple[float, float]:
    """The limits as float32 values, whatever the type; -inf and inf where nothing is fused."""
    low = np.float32(node.number("clip_low", -math.inf))
    high = np.float32(node.number("clip_high", math.inf))
    return float(min(low, high)), float(high)  # what lies above `high` ends there, `low` included


def rounded_and_clipped(node: Node, exact: npt.NDArray[np.float64]) -> npt.NDArray[np.float32]:
    """The one rounding of a float reference: float64 to float32, then the fused clip."""
    with np.errstate(over="ignore"):
        return clipped(node, exact.astype(np.float32))


def clipped(node: Node, values: npt.NDArray[_Float]) -> npt.NDArray[_Float]:
    """The fused clip."""
    low, high = (np.asarray(limit, values.dtype) for limit in clip_limits(node))
    found: npt.NDArray[_Float] = np.minimum(np.maximum(values, low), high)
    return found


def clip_literals(node: Node, *, double: bool = False) -> dict[str, str]:
    """`low` and `high` as C."""
    write = c_double if double else c_float
    low, high = clip_limits(node)
    return {"low": write(low), "high": write(high)}
