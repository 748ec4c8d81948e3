"""Clips go into what comes before them, to the bit."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tilewright.ir.graphs.graph import Node
from tilewright.ir.tensors.dtypes import DType
from tilewright.rewrite.merge.fuse_activation import PASS as FUSE_ACTIVATION
from tilewright.rewrite.merge.fuse_activation import composed
from tilewright.testing.sketch import Sketch

CONV: dict[str, Any] = {
    "kernel_shape": (3, 3),
    "strides": (1, 1),
    "dilations": (1, 1),
    "pads": (1, 1, 1, 1),
    "group": 1,
}


def _floats(seed: int, *shape: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def test_clips_after_a_conv_are_bit_equal(sketch: Callable[[], Sketch], bench: Any) -> None:
    s = sketch()
    y = s.node("Conv", (s.input("x", DType.F32, (1, 2, 5, 5)), s.constant(_floats(1, 3, 2, 3, 3))), CONV, name="conv")
    y = s.node("Clip", (y,), {"min": 0.0, "max": math.inf}, name="relu")
    graph = s.finish(s.node("Clip", (y,), {"min": -1.0, "max": 1.5}, name="clip"))
    fused = bench.apply(graph, FUSE_ACTIVATION)
    (node,) = fused.nodes
    assert (node.name, node.origin) == ("conv", ("conv", "relu", "clip"))
    assert (node.number("clip_low"), node.number("clip_high")) == (0.0, 1.5)
    assert bench.same_bits(graph, fused)


def test_a_value_that_others_read_keeps_its_clip_apart(sketch: Callable[[], Sketch], bench: Any) -> None:
    s = sketch()
    total = s.node("Add", (s.input("x", DType.F32, (4,)), s.input("y", DType.F32, (4,))))
    graph = s.finish(s.node("Clip", (total,), {"min": 0.0}), total)
    assert bench.apply(graph, FUSE_ACTIVATION) is graph


LIMIT = st.floats(-10, 10, width=32) | st.sampled_from([-math.inf, math.inf])


@pytest.mark.slow
@given(first=st.tuples(LIMIT, LIMIT), second=st.tuples(LIMIT, LIMIT), x=st.floats(-20, 20))
@settings(max_examples=300, deadline=None)
def test_two_clips_are_one(first: tuple[float, float], second: tuple[float, float], x: float) -> None:
    def clip(value: float, limits: tuple[float, float]) -> float:
        return min(max(value, limits[0]), limits[1])

    once = clip(-math.inf, first), clip(math.inf, first)
    node = Node(name="n", op="Clip", inputs=("x",), outputs=("y",), attributes={"min": second[0], "max": second[1]})
    assert clip(x, composed(node, *once)) == clip(clip(x, first), second)
