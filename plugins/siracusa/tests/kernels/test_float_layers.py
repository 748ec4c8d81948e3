"""The fused activation of layers of floats: which C form, and its limits."""

from __future__ import annotations

import numpy as np
import pytest

from tilewright.api.graph import Node, Site
from tilewright_siracusa.kernels.float_layers import activation


@pytest.mark.parametrize(("attributes", "form", "low", "high"), [
    ({}, "none", "-INFINITY", "INFINITY"),
    ({"clip_low": 0.0}, "low", "0", "INFINITY"),
    ({"clip_low": 0.0, "clip_high": 6.0}, "both", "0", "6"),
    ({"clip_high": 6.0}, "both", "-INFINITY", "6"),
    ({"clip_low": 7.0, "clip_high": 6.0}, "both", "6", "6"),  # the lower one gives way
    ({"clip_low": 0.1}, "low", str(float(np.float32(0.1))), "INFINITY"),
])  # fmt: skip
def test_activations(attributes: dict[str, float], form: str, low: str, high: str) -> None:
    node = Node(name="n", op="Conv", inputs=(), outputs=(), attributes=attributes)
    found, limits = activation(Site(node=node, inputs=(), outputs=(), constants={}))
    assert found == form
    for name, text in (("low", low), ("high", high)):
        given = limits[name]
        assert given == text if "INF" in text else float.fromhex(given.removesuffix("f")) == float(text)
