"""Knows how the result of a float operator is rounded and clipped, and how far it may be from the exact one.
Does not know which operator is computed, nor who fuses an activation.

The attributes `clip_low` and `clip_high` are a fused activation; NaN is kept. The error model is in the architecture,
section 4.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from tilewright.c_text.literals import c_double, c_float
from tilewright.ir.graphs.graph import Node

if TYPE_CHECKING:
    import numpy.typing as npt

    Doubles = npt.NDArray[np.floating]  # float64, or longer for results that are float64

UNIT = 2.0**-24  # largest relative rounding error of float32
TINY = 2.0**-149  # spacing of float32 below its normal range
UNIT_64, TINY_64 = 2.0**-53, 2.0**-1074  # the same of float64
LARGEST, LARGEST_64 = float(np.finfo(np.float32).max), float(np.finfo(np.float64).max)


def dot_tolerance(terms: int, magnitude: Doubles, result: Doubles, *, double: bool = False) -> Doubles:
    """Largest |difference| of a sum of `terms` products: `8 sqrt(K) u sum|a b|`, and the rounding of the result.

    `magnitude` is sum|a b| and `result` the exact sum, element by element. Every product may also lose what lies below
    the smallest number of the type: `double` says float64, otherwise float32. See `or_overflow`, too.
    """
    unit, tiny, largest = (UNIT_64, TINY_64, LARGEST_64) if double else (UNIT, TINY, LARGEST)
    error = 8 * math.sqrt(max(terms, 1)) * unit * magnitude + 2 * unit * np.abs(result) + (terms + 2) * tiny
    return or_overflow(error, magnitude, largest)


def or_overflow(error: Doubles, magnitude: Doubles, largest: float = LARGEST) -> Doubles:
    """Anything, where finite terms of this magnitude altogether leave what the type holds in some order, else `error`.

    Terms that are infinite already are so in every order.
    """
    allowed: Doubles = np.where(np.isfinite(magnitude) & (magnitude > largest), np.inf, error)
    return allowed


def ulp_tolerance(ulps: float, result: Doubles) -> Doubles:
    """Largest |difference| of a result that is at most `ulps` units in the last place off."""
    return ulps * 2 * UNIT * np.abs(result) + ulps * TINY


if TYPE_CHECKING:
    import numpy.typing as npt

_Float = TypeVar("_Float", bound=np.floating)


def clip_limits(node: Node) -> tuple[float, float]:
    """The limits as float32 values, whatever the type; -inf and inf where nothing is fused."""
    low = np.float32(node.number("clip_low", -math.inf))
    high = np.float32(node.number("clip_high", math.inf))
    return float(min(low, high)), float(high)  # what lies above `high` ends there, `low` included


def rounded(exact: npt.NDArray[np.float64]) -> npt.NDArray[np.float32]:
    """The one rounding of a float reference: float64 to float32, where numbers that are too large become infinite."""
    with np.errstate(over="ignore"):
        return exact.astype(np.float32)


def rounded_and_clipped(node: Node, exact: npt.NDArray[np.float64]) -> npt.NDArray[np.float32]:
    """The same, then the fused clip."""
    return clipped(node, rounded(exact))


def clipped(node: Node, values: npt.NDArray[_Float]) -> npt.NDArray[_Float]:
    """The fused clip."""
    low, high = (np.asarray(limit, values.dtype) for limit in clip_limits(node))
    result: npt.NDArray[_Float] = np.minimum(np.maximum(values, low), high)
    return result


def clip_literals(node: Node, *, double: bool = False) -> dict[str, str]:
    """`low` and `high` as C."""
    write = c_double if double else c_float
    low, high = clip_limits(node)
    return {"low": write(low), "high": write(high)}
