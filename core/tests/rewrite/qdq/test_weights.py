"""Which weights and biases integer products take: moved, rounded, or left in float with a warning."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from tilewright.ir.graphs.graph import Graph
from tilewright.ir.tensors.dtypes import DType
from tilewright.rewrite.edit import Draft
from tilewright.rewrite.passes import PASSES
from tilewright.rewrite.qdq.weights import Bias, Work
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


def test_transposed_weights_are_moved_before_they_are_dequantised(operators: Any, bench: Any) -> None:
    n, s = Numbers(2), Sketch(operators=operators)
    x = s.dequantize(s.input("x", DType.U8, (3, 7)), 0.05, 120)
    w = s.node("Transpose", (s.dequantize(s.constant(n.array(DType.I8, 5, 7)), n.scale(5)),), {"perm": (1, 0)})
    graph = s.finish(s.quantize(s.node("MatMul", (x, w)), 0.2, 5))
    lowered = bench.apply(graph, *PASSES)
    assert ops(lowered) == ["QGemm"]
    assert rounds_correctly(bench, graph, lowered)


def _biased(operators: Any, bias: npt.NDArray[np.generic], scale: float | None, y_scale: float = 0.2) -> Graph:
    n, s = Numbers(3), Sketch(operators=operators)
    x = s.dequantize(s.input("x", DType.I8, (3, 7)), 0.05, 4)
    w = s.dequantize(s.constant(n.array(DType.I8, 7, 5)), 0.02)
    b = s.constant(bias) if scale is None else s.dequantize(s.constant(bias), scale)
    return s.finish(s.quantize(s.node("Gemm", (x, w, b), name="dense"), y_scale, 5))


def test_a_float_bias_is_rounded_and_said(operators: Any, bench: Any) -> None:
    graph = _biased(operators, np.linspace(-1, 1, 5, dtype=np.float32), None)
    assert ops(bench.apply(graph, *PASSES)) == ["QGemm"]
    assert rounds_correctly(bench, graph, bench.apply(graph, *PASSES), slack=0.01)
    (note,) = bench.diagnostics(graph, *PASSES)
    assert (note.code, note.severity, note.where) == ("TW3003", "note", "dense")


def test_a_bias_of_another_scale_that_is_exact_is_silent(operators: Any, bench: Any) -> None:
    unit = float(np.float32(0.05) * np.float32(0.02))
    graph = _biased(operators, np.array([-3, 0, 1, 2, 900], np.int32), unit * 4)
    assert ops(bench.apply(graph, *PASSES)) == ["QGemm"]
    assert not bench.diagnostics(graph, *PASSES)
    assert rounds_correctly(bench, graph, bench.apply(graph, *PASSES))


def test_a_bias_that_the_accumulator_cannot_hold_stays_in_float(operators: Any, bench: Any) -> None:
    for bias, y_scale in ((np.full(5, 1e9, np.float32), 0.2), (np.full(5, 0.0005, np.float32), 0.002)):
        graph = _biased(operators, bias, None, y_scale)
        lowered = bench.apply(graph, *PASSES)
        assert "Gemm" in ops(lowered)
        (warning,) = bench.diagnostics(graph, *PASSES)
        assert (warning.code, warning.where) == ("TW3001", "dense")
        assert "bias" in warning.message
        assert bench.same_bits(graph, lowered)


def test_float_weights_stay_in_float_with_a_warning(operators: Any, bench: Any) -> None:
    s = Sketch(operators=operators)
    x = s.dequantize(s.input("x", DType.I8, (3, 7)), 0.05, 4)
    graph = s.finish(s.quantize(s.node("MatMul", (x, s.constant(np.ones((7, 5), np.float32))), name="dense"), 0.2, 5))
    assert ops(bench.apply(graph, *PASSES)) == ["DequantizeLinear", "MatMul", "QuantizeLinear"]
    (warning,) = bench.diagnostics(graph, *PASSES)
    assert (warning.code, warning.severity, warning.where) == ("TW3001", "warning", "dense")
    assert "weight is not quantised" in warning.message


@pytest.mark.parametrize(("moved", "notes"), [(0.0, []), (0.0042, ["at most 4.2e-03 of a step"])])
def test_a_bias(moved: float, notes: list[str], sketch: Callable[[], Sketch]) -> None:
    s = sketch()
    graph = s.finish(s.node("Clip", (s.input("x", DType.F32, (4,)),), name="main"))
    work = Work(draft=Draft(graph=graph))
    name = work.bias(graph.nodes[0], "b", Bias(array=np.array([1, -2], np.int32), nodes=(), moved=moved))
    assert work.draft.constants[name].tolist() == [1, -2] and name.startswith("b_int32")
    found = [(each.code, each.severity, each.where) for each in work.diagnostics]
    assert found == [("TW3003", "note", "main")] * len(notes)
    assert all(text in each.message for text, each in zip(notes, work.diagnostics, strict=True))
