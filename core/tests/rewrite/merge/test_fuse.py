"""Clips go into what comes before them, and MatMul with Add becomes a Gemm where the bias is one of columns."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tilewright.ir.graphs.graph import Graph, Node
from tilewright.ir.tensors.dtypes import DType
from tilewright.rewrite.merge.fuse import FUSE_ACTIVATION, FUSE_MATMUL_ADD, composed
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


def _floats(seed: int, *shape: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def _within_model(bench: Any, before: Graph, after: Graph, terms: int) -> bool:
    """|difference| <= 8 sqrt(K) u sum|a b|, the sum bounded by K times the largest product seen."""
    for seed in range(3):
        for one, other in zip(bench.outputs(before, seed), bench.outputs(after, seed), strict=True):
            allowed = 8 * math.sqrt(terms) * 2.0**-24 * max(1.0, float(np.abs(one).max())) * 8
            if float(np.abs(one.astype(np.float64) - other).max()) > allowed:
                return False
    return True


@pytest.mark.parametrize("shape", [(1, 6), (2, 3, 6)])
@pytest.mark.parametrize("swapped", [False, True])
def test_matmul_add_becomes_gemm(shape: tuple[int, ...], swapped: bool, sketch: Any, bench: Any) -> None:
    s = sketch()
    product = s.node("MatMul", (s.input("x", DType.F32, shape), s.constant(_floats(1, 6, 4))), name="dense")
    operands = [product, s.constant(_floats(2, 4))]
    graph = s.finish(s.node("Add", operands[::-1] if swapped else operands, name="bias"))
    fused = bench.apply(graph, FUSE_MATMUL_ADD)
    assert [(node.name, node.op, node.origin) for node in fused.nodes] == [("dense", "Gemm", ("dense", "bias"))]
    assert _within_model(bench, graph, fused, 7)


def test_matmul_read_twice_stays(sketch: Callable[[], Sketch], bench: Any) -> None:
    s = sketch()
    product = s.node("MatMul", (s.input("x", DType.F32, (1, 6)), s.constant(_floats(1, 6, 4))))
    graph = s.finish(s.node("Add", (product, s.constant(_floats(2, 4)))), product)
    assert bench.apply(graph, FUSE_MATMUL_ADD) is graph


def test_a_bias_per_row_is_no_gemm_bias(sketch: Callable[[], Sketch], bench: Any) -> None:
    s = sketch()
    product = s.node("MatMul", (s.input("x", DType.F32, (4, 6)), s.constant(_floats(1, 6, 4))))
    graph = s.finish(s.node("Add", (product, s.constant(_floats(2, 4, 1)))))
    assert bench.apply(graph, FUSE_MATMUL_ADD) is graph


def test_limits_reach_what_moved_elements_come_from(sketch: Any, bench: Any) -> None:
    s = sketch()
    y = s.node("Add", (s.input("a", DType.F32, (1, 2, 4, 4)), s.input("b", DType.F32, (1, 2, 4, 4))))
    window = {"kernel_shape": (2, 2), "strides": (2, 2), "dilations": (1, 1), "pads": (0, 0, 0, 0)}
    y = s.node("Transpose", (s.node("MaxPool", (y,), window),), {"perm": (0, 2, 3, 1)})
    y = s.node("Clip", (s.node("Reshape", (s.node("Clip", (y,), {"min": 0.0}),), {"shape": (1, 8)}),), {"max": 0.5})
    graph = s.finish(y)
    fused = bench.apply(graph, FUSE_ACTIVATION)
    assert [node.op for node in fused.nodes] == ["Add", "MaxPool", "Transpose", "Reshape"]
    assert (fused.nodes[0].attributes["clip_low"], fused.nodes[0].attributes["clip_high"]) == (0.0, 0.5)
    assert bench.same_bits(graph, fused)


def test_limits_stay_where_moved_elements_are_read_twice(sketch: Any, bench: Any) -> None:
    s = sketch()
    y = s.node("Add", (s.input("a", DType.F32, (2, 4)), s.input("b", DType.F32, (2, 4))))
    turned = s.node("Transpose", (y,), {"perm": (1, 0)})
    graph = s.finish(s.node("Clip", (turned,), {"min": 0.0}), s.node("Sigmoid", (turned,)))
    assert bench.apply(graph, FUSE_ACTIVATION) is graph
