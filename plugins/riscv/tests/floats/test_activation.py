"""The fused activation of layers of floats: which C form, and its limits in the type of the sums."""

from __future__ import annotations

import numpy as np
import pytest

from tilewright.api.graph import DType, Node, Site, Tensor
from tilewright_riscv.floats.activation import activation


def clipped(dtype: DType, attributes: dict[str, float]) -> Site:
    node = Node(name="n", op="Conv", inputs=(), outputs=("y",), attributes=attributes)
    return Site(node=node, inputs=(), outputs=(Tensor(name="y", dtype=dtype, shape=(1,)),), constants={})


@pytest.mark.parametrize(("attributes", "form", "low", "high"), [
    ({}, "none", "-INFINITY", "INFINITY"),
    ({"clip_low": 0.0}, "low", "0", "INFINITY"),
    ({"clip_low": 0.0, "clip_high": 6.0}, "both", "0", "6"),
    ({"clip_high": 6.0}, "both", "-INFINITY", "6"),
    ({"clip_low": 7.0, "clip_high": 6.0}, "both", "6", "6"),  # the lower one gives way
    ({"clip_low": 0.1}, "low", str(float(np.float32(0.1))), "INFINITY"),
])  # fmt: skip
@pytest.mark.parametrize("dtype", [DType.F32, DType.F16])
def test_limits_are_float32_for_floats_of_32_and_of_16_bits(
    dtype: DType, attributes: dict[str, float], form: str, low: str, high: str
) -> None:
    found, limits = activation(clipped(dtype, attributes))
    assert found == form
    for name, text in (("low", low), ("high", high)):
        given = limits[name]
        assert given == text if "INF" in text else float.fromhex(given.removesuffix("f")) == float(text)


def test_limits_of_doubles_are_not_rounded_and_a_clip_names_them_otherwise() -> None:
    site = clipped(DType.F64, {"min": 0.1, "max": 6.0})
    assert activation(site) == ("none", {"low": "-INFINITY", "high": "INFINITY"})
    assert activation(site, ("min", "max")) == ("both", {"low": (0.1).hex(), "high": (6.0).hex()})
