"""What is proved of a step whose inputs are off holds for any errors as large as was said, and is not far more."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from tilewright.builtin import tilewright_operators
from tilewright.comparison.reference import run
from tilewright.ir.graphs.carried_errors import carried, own_limits
from tilewright.ir.graphs.evaluation import results
from tilewright.ir.graphs.graph import Graph
from tilewright.ir.tensors.dtypes import DType
from tilewright.testing.sketch import Sketch

OPERATORS = {operator.name: operator for operator in tilewright_operators()}
DRAWN = np.random.default_rng(0)
X = DRAWN.standard_normal((4, 8)).astype(np.float32)
Floats = npt.NDArray[np.float64]


def step(op: str, *others: npt.NDArray[Any], attributes: Mapping[str, Any] | None = None) -> Graph:
    """One step on x and constants."""
    sketch = Sketch(operators=OPERATORS)
    x = sketch.input("x", DType.F32, (4, 8))
    return sketch.finish(sketch.node(op, (x, *map(sketch.constant, others)), attributes or {}, "step"))


def proved(graph: Graph, far: Floats) -> list[Floats] | None:
    (site,) = graph.sites()
    known = run(graph, {"x": X}, OPERATORS)
    arrays = [known[name] for name in site.node.inputs]
    return carried(OPERATORS[site.node.op], site, arrays, [known[name] for name in site.node.outputs], {0: far})


FAR = np.abs(DRAWN.standard_normal((4, 8))) / 64
WEIGHTS = DRAWN.standard_normal((8, 5)).astype(np.float32)
STEPS = {
    "Sigmoid": step("Sigmoid"),
    "Clip": step("Clip", attributes={"min": -0.5, "max": 0.5}),
    "Add": step("Add", X[::-1]),
    "Sub": step("Sub", X[:1]),
    "Mul": step("Mul", X[::-1]),
    "MatMul": step("MatMul", WEIGHTS),
    "Gemm": step("Gemm", WEIGHTS, WEIGHTS[0], attributes={"alpha": -2.0, "clip_low": 0.0, "clip_high": 2.0}),
    "QuantizeLinear": step(
        "QuantizeLinear", np.array(1 / 16, np.float32), np.array(0, np.int8), attributes={"to": "i8"}
    ),
    "Softmax": step("Softmax", attributes={"axis": 1}),
    "ReduceSum": step("ReduceSum", attributes={"axes": (1,), "keepdims": 1}),
}


@pytest.mark.parametrize("name", STEPS)
def test_no_drawn_error_takes_a_result_further_than_is_proved(name: str) -> None:
    graph, limits = STEPS[name], proved(STEPS[name], FAR)
    assert limits is not None
    (site,) = graph.sites()
    known = run(graph, {"x": X}, OPERATORS)
    largest = 0.0
    for _ in range(50):
        moved = (X + FAR * DRAWN.choice((-1.0, 1.0), X.shape)).astype(np.float32)
        arrays = [moved, *(known[each] for each in site.node.inputs[1:])]
        (found,) = results(OPERATORS[name], site, arrays)
        (own,) = own_limits(OPERATORS[name], site, arrays)
        apart = np.abs(found.astype(np.float64) - known[site.node.outputs[0]]) + own
        assert (apart <= limits[0]).all()
        largest = max(largest, float(apart.max()))
    assert largest > np.max(limits[0]) / 8, "what is proved is not out of all proportion"


def test_what_is_clipped_stays_inside() -> None:
    limits = proved(step("Gemm", WEIGHTS, attributes={"clip_low": -0.25, "clip_high": 0.25}), FAR + 100)
    assert limits is not None
    assert limits[0].max() <= 0.5


def test_infinities_stay_where_they_are() -> None:
    x = X.copy()
    x[0, 0] = np.inf
    for name in ("Clip", "Add", "MatMul"):
        (site,) = STEPS[name].sites()
        known = run(STEPS[name], {"x": x}, OPERATORS)
        arrays = [known[each] for each in site.node.inputs]
        limits = carried(OPERATORS[name], site, arrays, [known[site.node.outputs[0]]], {0: FAR})
        assert limits is not None
        assert np.isfinite(limits[0][1:]).all(), "of the other rows"


def test_two_inputs_may_be_off_at_once() -> None:
    (site,) = STEPS["Mul"].sites()
    known = run(STEPS["Mul"], {"x": X}, OPERATORS)
    arrays = [known[name] for name in site.node.inputs]
    limits = carried(OPERATORS["Mul"], site, arrays, [known[site.node.outputs[0]]], {0: FAR, 1: FAR[::-1]})
    assert limits is not None
    worst = (np.abs(arrays[0]) + FAR) * (np.abs(arrays[1]) + FAR[::-1]) - np.abs(arrays[0] * arrays[1])
    assert (limits[0] >= worst).all()


def test_of_other_operators_nothing_is_proved() -> None:
    assert proved(step("LogSoftmax", attributes={"axis": 1}), FAR) is None
    assert proved(step("Neg"), FAR) is None
