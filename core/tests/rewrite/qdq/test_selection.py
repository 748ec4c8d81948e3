"""Max, Min and Where select among stored integers that have the scale of the result."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tilewright.ir.graphs.graph import Graph
from tilewright.ir.tensors.dtypes import DType
from tilewright.rewrite.passes import PASSES
from tilewright.testing.sketch import Sketch


def ops(graph: Graph) -> list[str]:
    return [node.op for node in graph.nodes]


def selected(operators: Any, op: str, scale: float, *, clipped: bool = False) -> Graph:
    """Of `a` at scale 0.05 and zero point 3, and `b` at `scale`."""
    s = Sketch(operators=operators)
    inputs = [s.input("which", DType.BOOL, (3, 4))] if op == "Where" else []
    inputs += [s.dequantize(s.input("a", DType.I8, (3, 4)), 0.05, 3)]
    inputs += [s.dequantize(s.input("b", DType.I8, (4,)), scale, 3)]
    y = s.node(op, inputs)
    return s.finish(s.quantize(s.node("Clip", (y,), {"min": 0.0}) if clipped else y, 0.05, 3))


@pytest.mark.parametrize("op", ["Max", "Min", "Where"])
@pytest.mark.parametrize("clipped", [False, True])
def test_operands_of_other_scales_go_through_tables(op: str, clipped: bool, operators: Any, bench: Any) -> None:
    graph = selected(operators, op, 0.07, clipped=clipped)
    after = bench.apply(graph, *PASSES)
    assert ops(after) == ["QLookup"] * (2 if clipped else 1) + [op]
    assert bench.same_bits(graph, after)


@pytest.mark.parametrize("dtype", [DType.I8, DType.I16, DType.U16])
@pytest.mark.parametrize("op", ["Max", "Where"])
def test_operands_of_16_bits_are_rescaled(op: str, dtype: DType, operators: Any, bench: Any) -> None:
    s = Sketch(operators=operators)
    inputs = [s.input("which", DType.BOOL, (3, 4))] if op == "Where" else []
    inputs += [s.dequantize(s.input("a", dtype, (3, 4)), 0.0625, 3), s.dequantize(s.input("b", dtype, (4,)), 0.25, 3)]
    graph = s.finish(s.quantize(s.node(op, inputs), 0.0625, 3, DType.I16 if dtype is DType.I8 else dtype))
    after = bench.apply(graph, *PASSES)
    assert ops(after) == [*(["QLookup"] * 2 if dtype is DType.I8 else ["QRescale"]), op]
    assert bench.same_bits(graph, after)


@pytest.mark.parametrize("dtype", [DType.I8, DType.I16, DType.U16])
@pytest.mark.parametrize("op", ["Max", "Min"])
def test_any_number_of_operands(op: str, dtype: DType, operators: Any, bench: Any) -> None:
    s = Sketch(operators=operators)
    a, b, c, d = (s.dequantize(s.input(name, dtype, (3, 4)), 1 if name < "c" else 4, 3) for name in "abcd")
    y = s.node("Clip", (s.node(op, (s.node(op, (a, s.node(op, (c, d)))), b)),), {"min": -9.0})
    graph = s.finish(s.quantize(y, 1, 3, dtype))
    after = bench.apply(graph, *PASSES)
    assert set(ops(after)) == {op, "QLookup" if dtype is DType.I8 else "QRescale"}
    assert ops(after).count(op) == 3
    assert bench.same_bits(graph, after)


@pytest.mark.parametrize("op", ["Max", "Min", "Where"])
def test_operands_of_one_scale_are_taken_as_they_are(op: str, operators: Any, bench: Any) -> None:
    graph = selected(operators, op, 0.05)
    after = bench.apply(graph, *PASSES)
    assert ops(after) == [op]
    assert bench.same_bits(graph, after)


@pytest.mark.parametrize("stored", [False, True])
def test_constants_are_quantised_at_compile_time(stored: bool, operators: Any, bench: Any) -> None:
    s = Sketch(operators=operators)
    x = s.dequantize(s.input("x", DType.I8, (2, 3)), 0.05, 3)
    floor = s.dequantize(s.constant(np.array([1, 2, 3], np.int8)), 0.5) if stored else s.constant(
        np.array([0.1, 1e9, -np.inf], np.float32)
    )  # fmt: skip
    graph = s.finish(s.quantize(s.node("Max", (x, floor)), 0.05, 3))
    after = bench.apply(graph, *PASSES)
    assert ops(after) == ["Max"]
    assert bench.same_bits(graph, after)


def test_an_operand_in_float_keeps_all_float(operators: Any, bench: Any) -> None:
    s = Sketch(operators=operators)
    x = s.dequantize(s.input("x", DType.I8, (2, 3)), 0.05, 3)
    graph = s.finish(s.quantize(s.node("Max", (x, s.input("y", DType.F32, (2, 3)))), 0.05, 3))
    assert ops(bench.apply(graph, *PASSES)) == ["DequantizeLinear", "Max", "QuantizeLinear"]
