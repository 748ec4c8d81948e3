"""Quantised sums and products of two tensors, pools, means and softmax."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tilewright.ir.graphs.graph import Graph
from tilewright.ir.tensors.dtypes import DType
from tilewright.rewrite.passes import PASSES
from tilewright.testing.sketch import Sketch

TYPES = st.sampled_from([DType.I8, DType.U8])
SCALES = st.integers(-9, -3).map(lambda power: 2.0**power) | st.floats(2**-9, 2**-3, width=32)


def ops(graph: Graph) -> list[str]:
    return [node.op for node in graph.nodes]


def zero_point(draw: int, dtype: DType) -> int:
    return draw + (128 if dtype is DType.U8 else 0)


def near_real(bench: Any, before: Graph, after: Graph, slack: float = 2e-3) -> None:
    """Every integer output is the nearest step to the real value that the float graph has before its last Q."""
    quantize = before.nodes[-1]
    scale, zero = (float(before.constants[name]) for name in quantize.inputs[1:])
    low, high = before.tensors[quantize.outputs[0]].dtype.limits
    for seed in range(2):
        inputs = bench.inputs(before, seed)
        real = bench.values(before, inputs)[quantize.inputs[0]].astype(np.float64)
        got = bench.values(after, inputs)[after.outputs[0]]
        worst = float(np.abs(got - np.clip(real / scale + zero, low, high)).max())
        assert worst <= 0.5 + slack


@given(
    scales=st.tuples(SCALES, SCALES, SCALES),
    zeros=st.tuples(*[st.integers(-128, 127)] * 3),
    types=st.tuples(TYPES, TYPES, TYPES),
)
@settings(max_examples=40, deadline=None)
@pytest.mark.parametrize("op", ["Add", "Sub", "Mul"])
@pytest.mark.parametrize("shape", [(2, 3, 4), (3, 1), ()])
def test_two_tensors(op: str, shape: Any, scales: Any, zeros: Any, types: Any, operators: Any, bench: Any) -> None:
    s = Sketch(operators=operators)
    sides = [
        s.dequantize(s.input(name, types[i], shapes), scales[i], zero_point(zeros[i], types[i]))
        for i, (name, shapes) in enumerate((("a", (2, 3, 4)), ("b", shape)))
    ]
    y = s.node("Clip", (s.node(op, sides, name="op"),), {"min": -1.0, "max": 3.5})
    graph = s.finish(s.quantize(y, scales[2], zero_point(zeros[2], types[2]), types[2]))
    lowered = bench.apply(graph, *PASSES)
    assert [(node.op, node.name) for node in lowered.nodes] == [("QMul" if op == "Mul" else "QAdd", "op")]
    near_real(bench, graph, lowered)


def test_sum_is_exactly_the_promised_formula(operators: Any, bench: Any) -> None:
    """Ties included: scales are powers of two, the sum is a multiple of a half."""
    s = Sketch(operators=operators)
    sides = [s.dequantize(s.input(name, DType.I8, (500,)), scale, 3) for name, scale in (("a", 0.25), ("b", 0.125))]
    graph = s.finish(s.quantize(s.node("Add", sides), 0.5, -7))
    lowered = bench.apply(graph, *PASSES)
    inputs = bench.inputs(graph)
    sums = [Fraction(int(a) - 3, 2) + Fraction(int(b) - 3, 4) for a, b in zip(inputs["a"], inputs["b"], strict=True)]
    expected = [min(max(round(total) - 7, -128), 127) for total in sums]  # Python rounds halves to even
    assert bench.values(lowered, inputs)[lowered.outputs[0]].tolist() == expected


def test_a_quantised_constant_is_an_operand(operators: Any, bench: Any) -> None:
    s = Sketch(operators=operators)
    a = s.dequantize(s.input("a", DType.U8, (1, 3, 2, 2)), 0.1, 100)
    b = s.dequantize(s.constant(np.array([[-5], [0], [9]], np.int8).reshape(1, 3, 1, 1)), 0.3, 1)
    graph = s.finish(s.quantize(s.node("Mul", (a, b)), 0.2, 0))
    lowered = bench.apply(graph, *PASSES)
    assert ops(lowered) == ["QMul"]
    near_real(bench, graph, lowered)


POOL: dict[str, Any] = {"strides": (2, 1), "dilations": (1, 1), "ceil_mode": 0}


@pytest.mark.parametrize(
    ("pads", "include", "scales"), [((0, 0, 0, 0), 0, 1), ((1, 0, 1, 1), 1, 1), ((1, 0, 1, 1), 0, 6)]
)
def test_average_pool(pads: tuple[int, ...], include: int, scales: int, operators: Any, bench: Any) -> None:
    s = Sketch(operators=operators)
    x = s.dequantize(s.input("x", DType.I8, (1, 3, 7, 6)), 0.05, -20)
    attributes: dict[str, Any] = {**POOL, "kernel_shape": (3, 2), "pads": pads, "count_include_pad": include}
    graph = s.finish(s.quantize(s.node("AveragePool", (x,), attributes, name="pool"), 0.03, 11, DType.U8))
    lowered = bench.apply(graph, *PASSES)
    assert [(node.op, node.name) for node in lowered.nodes] == [("QAveragePool", "pool")]
    assert len(lowered.nodes[0].requant().scale) == scales
    near_real(bench, graph, lowered)


@pytest.mark.parametrize("keepdims", [0, 1])
def test_reduce_mean(keepdims: int, operators: Any, bench: Any) -> None:
    s = Sketch(operators=operators)
    x = s.dequantize(s.input("x", DType.U8, (1, 3, 7, 6)), 0.05, 90)
    y = s.node("ReduceMean", (x,), {"axes": (2, 3), "keepdims": keepdims})
    graph = s.finish(s.quantize(y, 0.01, 11))
    lowered = bench.apply(graph, *PASSES)
    assert ops(lowered) == ["QReduceMean"]
    near_real(bench, graph, lowered)


def test_softmax(operators: Any, bench: Any) -> None:
    s = Sketch(operators=operators)
    x = s.dequantize(s.input("x", DType.I8, (4, 9)), 0.05, -20)
    graph = s.finish(s.quantize(s.node("Softmax", (x,), {"axis": 1}, name="softmax"), 1 / 256, -128))
    lowered = bench.apply(graph, *PASSES)
    assert [(node.op, node.name) for node in lowered.nodes] == [("QSoftmax", "softmax")]
    near_real(bench, graph, lowered, slack=0.5)


def test_softmax_at_a_scale_that_integers_cannot_hold(operators: Any, bench: Any) -> None:
    s = Sketch(operators=operators)
    x = s.dequantize(s.input("x", DType.I8, (4, 9)), 0.05, -20)
    graph = s.finish(s.quantize(s.node("Softmax", (x,), {"axis": 1}, name="softmax"), 2.0**-20, -128))
    assert "Softmax" in ops(bench.apply(graph, *PASSES))
    assert [each.where for each in bench.diagnostics(graph, *PASSES)] == ["softmax"]


@pytest.mark.parametrize(("dtype", "into"), [(DType.I16, DType.I16), (DType.U16, DType.U16), (DType.I16, DType.I8)])
def test_logarithms_and_images_of_16_bits(dtype: DType, into: DType, operators: Any, bench: Any) -> None:
    s = Sketch(operators=operators)
    rows = s.dequantize(s.input("rows", dtype, (3, 20)), 3e-4, 5)
    logs = s.quantize(s.node("LogSoftmax", (rows,), {"axis": 1}), 20 / (1 << 8 * into.size_bytes), into.limits[1], into)
    lines = {"sizes": (7, 6), "slopes": (1, 5), "offsets": (0, -2), "divisors": (3, 8)}
    image = s.node("ResizeLinear", (s.dequantize(s.input("image", dtype, (1, 2, 3, 4)), 3e-4, 5),), lines)
    graph = s.finish(logs, s.quantize(image, 0.08 if into is DType.I8 else 3e-4, 5, into))
    after = bench.apply(graph, *PASSES)
    assert sorted(node.op for node in after.nodes) == ["QLogSoftmax", "QResizeLinear"]
    for seed in range(3):
        for found, wanted in zip(bench.outputs(after, seed), bench.outputs(graph, seed), strict=True):
            assert np.abs(found.astype(int) - wanted.astype(int)).max() <= 1
