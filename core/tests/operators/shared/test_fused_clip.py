"""The activation of a float operator: limits in float32, NaN kept, one rounding before it."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tilewright.ir.graphs.graph import Attribute, Node
from tilewright.operators.shared.fused_clip import clip_limits, clip_literals, clipped, rounded_and_clipped


def node(**attributes: Attribute) -> Node:
    return Node(name="n", op="Conv", inputs=("x",), outputs=("y",), attributes=attributes)


def test_limits_are_float32_values() -> None:
    assert clip_limits(node(clip_low=0.1, clip_high=6)) == (float(np.float32(0.1)), 6.0)
    assert clip_limits(node()) == (-math.inf, math.inf)


def test_what_lies_above_the_upper_limit_ends_there() -> None:
    """ONNX: where min is above max, every element becomes max."""
    assert clip_limits(node(clip_low=7.0, clip_high=6.0)) == (6.0, 6.0)
    assert clipped(node(clip_low=7.0, clip_high=6.0), np.array([-1, 6.5, 9], np.float32)).tolist() == [6, 6, 6]


@pytest.mark.parametrize("kind", [np.float32, np.float64, np.float16])
def test_nan_stays_and_so_does_the_type(kind: type[np.floating]) -> None:
    found = clipped(node(clip_low=-1.0), np.array([math.nan, -math.inf, 5, math.inf], kind))
    assert found.dtype == kind
    np.testing.assert_array_equal(found, np.array([math.nan, -1, 5, math.inf], kind))


def test_rounded_before_it_is_clipped() -> None:
    """A float64 limit would let through what float32 then rounds to something larger."""
    above = float(np.float32(0.1)) + 1e-12
    found = rounded_and_clipped(node(clip_high=0.1), np.array([above, 1e300, -1e300]))
    assert found.dtype == np.float32
    assert found.tolist() == [np.float32(0.1), np.float32(0.1), -math.inf]


def test_literals() -> None:
    single, double = clip_literals(node(clip_low=-0.5, clip_high=0.1)), clip_literals(node(clip_high=0.1), double=True)
    assert {name: float.fromhex(text.removesuffix("f")) for name, text in single.items()} == {
        "low": -0.5, "high": float(np.float32(0.1))
    }  # fmt: skip
    assert all(text.endswith("f") for text in single.values())
    assert double["low"] == "-INFINITY" and float.fromhex(double["high"]) == float(np.float32(0.1))
