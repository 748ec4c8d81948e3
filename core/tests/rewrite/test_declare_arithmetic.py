"""Integer layers and their arithmetic: what a file means, what was asked for, what stays and is told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tilewright.errors import Diagnostic
from tilewright.ir.graphs.arithmetic import ArithmeticChoice
from tilewright.ir.graphs.graph import Graph
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.tensors.dtypes import DType
from tilewright.ir.tensors.roundings import Rational
from tilewright.operators.arithmetics.known import ARITHMETICS
from tilewright.rewrite import rewrite
from tilewright.rewrite.passes import PASSES
from tilewright.testing.sketch import Sketch


def network(operators: Mapping[str, Operator]) -> Graph:
    """A convolution, a sum, a product and a softmax at a scale that `tflm` does not have."""
    s = Sketch(operators=operators)
    x = s.dequantize(s.input("x", DType.I8, (1, 2, 4, 4)), 0.05, 3)
    w = s.dequantize(s.constant(np.arange(-18, 18, dtype=np.int8).reshape(2, 2, 3, 3)), 0.02, 0)
    windows: dict[str, Any] = {
        "kernel_shape": (3, 3), "strides": (1, 1), "dilations": (1, 1), "pads": (1, 1, 1, 1), "ceil_mode": 0, "group": 1
    }  # fmt: skip
    one = s.dequantize(s.quantize(s.node("Conv", (x, w), windows, name="conv"), 0.07, 1), 0.07, 1)
    total = s.quantize(s.node("Add", (one, x), name="add"), 0.08, 2)
    product = s.quantize(s.node("Mul", (s.dequantize(total, 0.08, 2), one), name="mul"), 0.1, 0)
    rows = s.node("Softmax", (s.dequantize(product, 0.1, 0),), {"axis": 3}, name="softmax")
    return s.finish(s.quantize(rows, 1 / 128, -128))


def applied(
    operators: Mapping[str, Operator], *rules: tuple[str, str], own: str = "onnx"
) -> tuple[dict[str, str], tuple[Diagnostic, ...]]:
    choice = ArithmeticChoice(own=own, known=ARITHMETICS, rules=rules)
    found = rewrite(network(operators), operators, PASSES, arithmetic=choice)
    return {node.name: node.rounding for node in found.graph.nodes}, found.diagnostics


def test_a_file_means_what_it_stores(operators: Any, bench: Any) -> None:
    roundings, told = applied(operators)
    assert set(roundings.values()) == {"onnx"} and not told
    graph = bench.apply(network(operators), *PASSES)
    mul = next(node for node in graph.nodes if node.op == "QMul")
    stored = mul.requant().stored
    assert stored is not None
    ratio, values = stored.ratios()[0], bench.values(graph, bench.inputs(graph))
    a, b = (values[name].astype(int) for name in mul.inputs)
    products = (a - mul.integer("a_zero_point")) * (b - mul.integer("b_zero_point"))
    expected = [min(max(round(ratio * int(acc)), -128), 127) for acc in products.reshape(-1)]
    assert values[mul.outputs[0]].reshape(-1).tolist() == expected


def test_a_mean_whose_halves_go_up_and_down_is_rational(operators: Any, bench: Any) -> None:
    s = Sketch(operators=operators)
    x = s.dequantize(s.input("x", DType.I8, (1, 3, 2, 7)), 0.5, 0)
    graph = s.finish(s.quantize(s.node("ReduceMean", (x,), {"axes": (2, 3), "keepdims": 0}), 0.5, 0))
    lowered = bench.apply(graph, *PASSES)
    (mean,) = lowered.nodes
    assert mean.requant().rounding == Rational(numerator=(1,), denominator=(14,))
    inputs = bench.inputs(lowered)
    sums = inputs["x"].astype(int).sum(axis=(2, 3))[0]
    expected = [round(Fraction(int(acc), 14)) for acc in sums]
    assert bench.values(lowered, inputs)[lowered.outputs[0]][0].tolist() == expected


def test_what_is_asked_for_is_declared_and_told(operators: Any) -> None:
    roundings, told = applied(operators, ("*", "tflm"))
    assert roundings == {"conv": "tflm", "add": "tflm", "mul": "tflm", "softmax": "onnx"}
    assert [(each.code, each.severity) for each in told] == [("TW3007", "warning"), ("TW3006", "warning")]
    assert "3 integer layers compute 'tflm'" in told[0].message
    assert told[1].where == "softmax" and "scale 1/256" in told[1].message


def test_layers_may_differ(operators: Any) -> None:
    roundings, told = applied(operators, ("*", "pulp-shift"), ("a*", "onnx"), ("mul", "tflm"))
    assert roundings == {"conv": "multiply-shift", "add": "onnx", "mul": "tflm", "softmax": "onnx"}
    assert [each.code for each in told] == ["TW3007", "TW3007"]


@pytest.mark.parametrize("own", ARITHMETICS)
def test_what_a_file_means_is_nobody_s_decision(own: str, operators: Any) -> None:
    roundings, told = applied(operators, own=own)
    assert not told
    assert roundings["conv"] == {"onnx": "onnx", "tflm": "tflm", "pulp-shift": "multiply-shift"}[own]


def test_a_file_of_tflm_can_be_asked_to_compute_onnx(operators: Any) -> None:
    roundings, told = applied(operators, ("*", "onnx"), own="tflm")
    assert set(roundings.values()) == {"onnx"}
    assert "where the file means 'tflm'" in told[0].message


def test_a_layer_whose_scales_nobody_knows_stays(operators: Any) -> None:
    lowered = rewrite(network(operators), operators, PASSES).graph
    bare = lowered.with_nodes(
        tuple(
            replace(node, attributes={**node.attributes, "requant": replace(node.requant(), stored=None)})
            if node.op == "QConv"
            else node
            for node in lowered.nodes
        )
    )
    choice = ArithmeticChoice(known=ARITHMETICS, rules=(("conv", "tflm"),))
    found = rewrite(bare, operators, PASSES, arithmetic=choice)
    assert {node.name: node.rounding for node in found.graph.nodes}["conv"] == "onnx"
    assert [each.code for each in found.diagnostics] == ["TW3006"]
