"""Quantised Conv, Gemm and MatMul become integer operators whose results round the real value correctly."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tilewright.ir.graphs.graph import Graph
from tilewright.ir.tensors.dtypes import DType
from tilewright.rewrite.passes import PASSES
from tilewright.testing.sketch import Sketch

TYPES = st.sampled_from([DType.I8, DType.U8])
SEEDS = st.integers(0, 2**32 - 1)


class Numbers:
    """Random scales, zero points and arrays from one seed."""

    def __init__(self, seed: int) -> None:
        self.generator = np.random.default_rng(seed)

    def scale(self, *count: int) -> Any:
        values = np.exp2(self.generator.uniform(-8, -3, count)).astype(np.float32)
        return values if count else float(values)

    def zero_point(self, dtype: DType) -> int:
        return int(self.generator.integers(dtype.limits[0], dtype.limits[1] + 1))

    def array(self, dtype: DType, *shape: int) -> npt.NDArray[np.generic]:
        limits = dtype.limits if dtype is not DType.I32 else (-2000, 2000)
        return self.generator.integers(limits[0], limits[1] + 1, shape).astype(dtype.numpy)


def rounds_correctly(bench: Any, before: Graph, after: Graph, slack: float = 2e-3) -> bool:
    """Every integer output is the nearest step to the real value that the float graph has before its last Q."""
    quantize = before.nodes[-1]
    scale, zero_point = (float(before.constants[name]) for name in quantize.inputs[1:])
    low, high = before.tensors[quantize.outputs[0]].dtype.limits
    for seed in range(2):
        inputs = bench.inputs(before, seed)
        real = bench.values(before, inputs)[quantize.inputs[0]].astype(np.float64)
        steps = np.clip(real / scale + zero_point, low, high)
        got = bench.values(after, inputs)[after.outputs[0]]
        if float(np.abs(got - steps).max()) > 0.5 + slack:
            return False
    return True


def ops(graph: Graph) -> list[str]:
    return [node.op for node in graph.nodes]


@given(seed=SEEDS, x_type=TYPES, w_type=TYPES, y_type=TYPES, per_channel=st.booleans(), transposed=st.booleans())
@settings(max_examples=25, deadline=None)
def test_gemm(
    seed: int,
    x_type: DType,
    w_type: DType,
    y_type: DType,
    per_channel: bool,
    transposed: bool,
    operators: Any,
    bench: Any,
) -> None:
    n, s = Numbers(seed), Sketch(operators=operators)
    x_scale, w_scale = n.scale(), n.scale(5) if per_channel else n.scale()
    x = s.dequantize(s.input("x", x_type, (3, 7)), x_scale, n.zero_point(x_type))
    shape = (5, 7) if transposed else (7, 5)
    w = s.dequantize(s.constant(n.array(w_type, *shape)), w_scale, 3, axis=0 if transposed else 1)
    product = np.float32(x_scale) * np.asarray(w_scale, np.float32)
    b = s.dequantize(s.constant(n.array(DType.I32, 5)), product)
    y = s.node("Gemm", (x, w, b), {"alpha": 1.0, "beta": 1.0, "transB": int(transposed)})
    graph = s.finish(s.quantize(y, 0.2, n.zero_point(y_type), y_type))
    lowered = bench.apply(graph, *PASSES)
    assert ops(lowered) == ["QGemm"]
    assert rounds_correctly(bench, graph, lowered)


@pytest.mark.parametrize("shape", [(3, 7), (2, 3, 7)])
@pytest.mark.parametrize("swapped", [False, True])
def test_matmul_with_the_add_of_a_bias(shape: tuple[int, ...], swapped: bool, operators: Any, bench: Any) -> None:
    n, s = Numbers(1), Sketch(operators=operators)
    x = s.dequantize(s.input("x", DType.I8, shape), 0.05, 4)
    y = s.node("MatMul", (x, s.dequantize(s.constant(n.array(DType.I8, 7, 5)), 0.02)), name="dense")
    b = s.dequantize(s.constant(n.array(DType.I32, 5)), float(np.float32(0.05) * np.float32(0.02)))
    y = s.node("Clip", (s.node("Add", (b, y) if swapped else (y, b), name="bias"),), {"min": 0.0, "max": math.inf})
    graph = s.finish(s.quantize(y, 0.1, -128))
    lowered = bench.apply(graph, *PASSES)
    assert [(node.op, node.name) for node in lowered.nodes] == [("QGemm", "dense")]
    assert "bias" in lowered.nodes[0].origin
    assert rounds_correctly(bench, graph, lowered)


def test_product_of_two_activations(operators: Any, bench: Any) -> None:
    s = Sketch(operators=operators)
    a = s.dequantize(s.input("a", DType.I8, (2, 3, 4)), 0.05, 4)
    b = s.dequantize(s.input("b", DType.U8, (2, 4, 5)), 0.03, 130)
    graph = s.finish(s.quantize(s.node("MatMul", (a, b)), 0.2, 5))
    lowered = bench.apply(graph, *PASSES)
    assert ops(lowered) == ["QMatMul"]
    assert rounds_correctly(bench, graph, lowered)


@given(seed=SEEDS, x_type=TYPES, w_type=TYPES, y_type=TYPES, per_channel=st.booleans(), bias=st.booleans())
@settings(max_examples=25, deadline=None)
@pytest.mark.parametrize("group", [1, 2, 4])
def test_conv(
    seed: int,
    x_type: DType,
    w_type: DType,
    y_type: DType,
    per_channel: bool,
    bias: bool,
    group: int,
    operators: Any,
    bench: Any,
) -> None:
    n, s = Numbers(seed), Sketch(operators=operators)
    x_scale, w_scale = n.scale(), n.scale(8) if per_channel else n.scale()
    x = s.dequantize(s.input("x", x_type, (2, 4, 5, 6)), x_scale, n.zero_point(x_type))
    zeros = [n.zero_point(w_type) for _ in range(8)] if per_channel else n.zero_point(w_type)
    w = s.dequantize(s.constant(n.array(w_type, 8, 4 // group, 3, 2)), w_scale, zeros)
    inputs = [x, w]
    if bias:
        product = np.float32(x_scale) * np.asarray(w_scale, np.float32)
        inputs.append(s.dequantize(s.constant(n.array(DType.I32, 8)), product))
    attributes: dict[str, Any] = {
        "kernel_shape": (3, 2),
        "strides": (1, 2),
        "dilations": (2, 1),
        "pads": (1, 0, 2, 1),
        "group": group,
    }
    y = s.node("Conv", inputs, attributes, name="conv")
    y = s.node("Clip", (y,), {"min": 0.0, "max": 6.0}, name="relu6")
    graph = s.finish(s.quantize(y, 6.0 / 250, n.zero_point(y_type), y_type, name="q"))
    lowered = bench.apply(graph, *PASSES)
    assert ops(lowered) == ["QConv"]
    assert lowered.nodes[0].name == "conv"
    assert {"conv", "relu6", "q"} < set(lowered.nodes[0].origin)
    assert lowered.nodes[0].integer("x_zero_point") == 0
    assert rounds_correctly(bench, graph, lowered)


def test_conv_is_exactly_the_promised_formula(operators: Any, bench: Any) -> None:
    """A 1x1 convolution by hand: s = f32(f32(sx*sw[c])/sy), q = clamp(rne(f32(f32(acc)*s)) + zp)."""
    n, s = Numbers(5), Sketch(operators=operators)
    x_scale, w_scale, y_scale = np.float32(0.037), n.scale(6), np.float32(0.11)
    weights, biases = n.array(DType.I8, 6, 40, 1, 1), n.array(DType.I32, 6)
    x = s.dequantize(s.input("x", DType.I8, (1, 40, 4, 4)), float(x_scale), -7)
    inputs = (x, s.dequantize(s.constant(weights), w_scale), s.dequantize(s.constant(biases), x_scale * w_scale))
    attributes: dict[str, Any] = {
        "kernel_shape": (1, 1),
        "strides": (1, 1),
        "dilations": (1, 1),
        "pads": (0, 0, 0, 0),
        "group": 1,
    }
    graph = s.finish(s.quantize(s.node("Conv", inputs, attributes), float(y_scale), 9))
    lowered = bench.apply(graph, *PASSES)
    stored = bench.inputs(graph)["x"]
    acc = np.tensordot(weights[:, :, 0, 0].astype(np.int64), stored[0].astype(np.int64) + 7, 1) + biases[:, None, None]
    scale = ((x_scale * w_scale).astype(np.float32) / y_scale).astype(np.float32)
    expected = np.clip(np.rint(acc.astype(np.float32) * scale[:, None, None]) + 9, -128, 127).astype(np.int8)
    assert np.array_equal(bench.values(lowered, {"x": stored})[lowered.outputs[0]][0], expected)
