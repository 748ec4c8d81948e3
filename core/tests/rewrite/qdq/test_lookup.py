"""Quantised functions of one tensor are tables of bytes."""

from __future__ import annotations

import math
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


@pytest.mark.slow
@given(
    scales=st.tuples(SCALES, SCALES),
    zeros=st.tuples(*[st.integers(-128, 127)] * 2),
    types=st.tuples(TYPES, TYPES),
    low=st.floats(-5, 5, width=32),
)
@settings(max_examples=50, deadline=None)
def test_clip_and_a_change_of_scale_are_bit_equal_tables(
    scales: Any, zeros: Any, types: Any, low: float, operators: Any, bench: Any
) -> None:
    s = Sketch(operators=operators)
    x = s.dequantize(s.input("x", types[0], (256,)), scales[0], zero_point(zeros[0], types[0]))
    y = s.node("Clip", (x,), {"min": low, "max": math.inf})
    graph = s.finish(s.quantize(y, scales[1], zero_point(zeros[1], types[1]), types[1]))
    lowered = bench.apply(graph, *PASSES)
    assert ops(lowered) == ["QLookup"]
    every = {"x": np.arange(types[0].limits[0], types[0].limits[1] + 1).astype(types[0].numpy)}
    results = [bench.values(each, every)[graph.outputs[0]] for each in (graph, lowered)]
    assert np.array_equal(*results)


def test_chains_of_one_tensor_are_one_table(operators: Any, bench: Any) -> None:
    """x * sigmoid(2 x + 1), the tensor read twice."""
    s = Sketch(operators=operators)
    x = s.dequantize(s.input("x", DType.I8, (3, 5)), 0.04, 7)
    two, one = (s.constant(np.array(value, np.float32)) for value in (2, 1))
    inner = s.node("Sigmoid", (s.node("Add", (s.node("Mul", (x, two)), one)),), name="sigmoid")
    graph = s.finish(s.quantize(s.node("Mul", (x, inner), name="gate"), 0.03, -10))
    lowered = bench.apply(graph, *PASSES)
    (node,) = lowered.nodes
    assert (node.op, node.name) == ("QLookup", "gate")
    assert {"sigmoid", "gate"} < set(node.origin)
    near_real(bench, graph, lowered)


@pytest.mark.parametrize(
    ("op", "attributes"), [("Sigmoid", {}), ("Tanh", {}), ("LeakyRelu", {"alpha": 0.1}), ("HardSwish", {})]
)
def test_unary_operators(op: str, attributes: dict[str, float], operators: Any, bench: Any) -> None:
    s = Sketch(operators=operators)
    x = s.dequantize(s.input("x", DType.U8, (3, 5)), 0.04, 100)
    graph = s.finish(s.quantize(s.node(op, (x,), attributes, name="op"), 0.01, -10))
    lowered = bench.apply(graph, *PASSES)
    assert [(node.op, node.name) for node in lowered.nodes] == [("QLookup", "op")]
    near_real(bench, graph, lowered)


def test_equal_numbers_cost_nothing(operators: Any, bench: Any) -> None:
    s = Sketch(operators=operators)
    x = s.node("Transpose", (s.input("x", DType.I8, (2, 3)),), {"perm": (1, 0)})
    y = s.quantize(s.dequantize(x, 0.037, -3), 0.037, -3)
    graph = s.finish(s.node("Transpose", (s.node("Reshape", (y,), {"shape": (1, 6)}),), {"perm": (1, 0)}))
    lowered = bench.apply(graph, *PASSES)
    assert ops(lowered) == ["Transpose", "Reshape", "Transpose"]
    assert bench.same_bits(graph, lowered)
