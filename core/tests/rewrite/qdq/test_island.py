"""A node between Q and DQ: what stays in float, and what is needed both ways."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

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
