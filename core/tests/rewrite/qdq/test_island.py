"""A node between Q and DQ: what stays in float, and what is needed both ways."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from tilewright.ir.graphs.graph import Graph
from tilewright.ir.tensors.dtypes import DType
from tilewright.rewrite.passes import PASSES
from tilewright.testing.sketch import Sketch


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


def ops(graph: Graph) -> list[str]:
    return [node.op for node in graph.nodes]


def test_a_float_result_stays_in_float_with_a_warning(operators: Any, bench: Any) -> None:
    n, s = Numbers(3), Sketch(operators=operators)
    x = s.dequantize(s.input("x", DType.I8, (3, 7)), 0.05, 4)
    w = s.dequantize(s.constant(n.array(DType.I8, 7, 5)), 0.02)
    graph = s.finish(s.node("MatMul", (x, w), name="dense"))
    lowered = bench.apply(graph, *PASSES)
    assert ops(lowered) == ["DequantizeLinear", "MatMul"]
    (warning,) = bench.diagnostics(graph, *PASSES)
    assert "not quantised" in warning.message
    assert bench.same_bits(graph, lowered)


def test_a_result_needed_in_float_too_is_computed_both_ways(operators: Any, bench: Any) -> None:
    n, s = Numbers(3), Sketch(operators=operators)
    x = s.dequantize(s.input("x", DType.I8, (3, 7)), 0.05, 4)
    product = s.node("MatMul", (x, s.dequantize(s.constant(n.array(DType.I8, 7, 5)), 0.02)), name="dense")
    graph = s.finish(s.quantize(product, 0.2, 5, name="q"), product)
    lowered = bench.apply(graph, *PASSES)
    assert sorted((node.op, node.name) for node in lowered.nodes if "DequantizeLinear" not in node.op) == [
        ("MatMul", "dense"),
        ("QGemm", "q"),
    ]


def _scaled_network(operators: Any, order: str, factor: float, *, inside: bool) -> Graph:
    """A convolution whose result (or, `inside`, whose input) is multiplied with one number, between clips."""
    s = Sketch(operators=operators)
    number = s.constant(np.array(factor, np.float32))

    def scaled(value: str) -> str:
        return s.node(*(("Div", (value, number)) if order == "Div" else ("Mul", (number, value))))

    a, b = (s.dequantize(s.input(name, DType.I8, (6, 6)), 0.05, 3) for name in "ab")
    product = s.node("MatMul", (scaled(a) if inside else a, b))
    low = s.node("Clip", (product,), {"min": -0.4})
    return s.finish(s.quantize(s.node("Clip", (low if inside else scaled(low),), {"max": 0.3}), 0.004, 3))


@pytest.mark.parametrize("order", ["Mul", "Div"])
@pytest.mark.parametrize("inside", [False, True])
@pytest.mark.parametrize("factor", [0.37, 1.9])
def test_one_number_is_part_of_a_scale(order: str, inside: bool, factor: float, operators: Any, bench: Any) -> None:
    graph = _scaled_network(operators, order, factor, inside=inside)
    after = bench.apply(graph, *PASSES)
    assert [node.op for node in after.nodes] == ["QMatMul"]
    assert {"Mul_2", "Div_2", "Mul_3", "Div_3", "Mul_4", "Div_4", "Mul_5", "Div_5"} & set(after.nodes[0].origin)
    for seed in range(3):
        (found,), (wanted,) = bench.outputs(after, seed), bench.outputs(graph, seed)
        apart = np.abs(found.astype(int) - wanted.astype(int))
        assert apart.max() <= 1 and apart.mean() <= 0.03


@pytest.mark.parametrize("factor", [-0.5, 0.0, float("inf"), 1e-41])
def test_other_numbers_stay_in_float(factor: float, operators: Any, bench: Any) -> None:
    graph = _scaled_network(operators, "Mul", factor, inside=False)
    assert "QMatMul" not in [node.op for node in bench.apply(graph, *PASSES).nodes]
