"""A bound of an output holds for any program whose steps are right, and is there only where it can be worked out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from tilewright.builtin import tilewright_operators
from tilewright.comparison.bounds import bounds, carried, own_limits
from tilewright.comparison.reference import run
from tilewright.ir.graphs.evaluation import results
from tilewright.ir.graphs.graph import Graph
from tilewright.ir.tensors.dtypes import DType
from tilewright.testing.sketch import Sketch

OPERATORS = {operator.name: operator for operator in tilewright_operators()}
DRAWN = np.random.default_rng(0)
X = DRAWN.standard_normal((4, 8)).astype(np.float32)


def network(*ops: str) -> Graph:
    """A product, and these steps after it."""
    sketch = Sketch(operators=OPERATORS)
    weights = sketch.constant(DRAWN.standard_normal((8, 8)).astype(np.float32))
    value = sketch.node("MatMul", (sketch.input("x", DType.F32, (4, 8)), weights), name="product")
    for number, op in enumerate(ops):
        operands = (value, weights) if op == "MatMul" else (value,)
        value = sketch.node(op, operands, {"axis": 1} if op == "Softmax" else {}, f"step{number}")
    return sketch.finish(value)


def bounded(graph: Graph, *inputs: npt.NDArray[Any]) -> dict[str, float]:
    return bounds(graph, [run(graph, {"x": x}, OPERATORS) for x in inputs], OPERATORS)


def disturbed(graph: Graph, given: Mapping[str, npt.NDArray[Any]]) -> dict[str, npt.NDArray[Any]]:
    """Every value, where each step is as far off as its error model has it, either way."""
    values: dict[str, npt.NDArray[Any]] = {**graph.constants, **given}
    for site in graph.sites():
        arrays = [values[name] for name in site.node.inputs]
        operator = OPERATORS[site.node.op]
        (found,), (limit,) = results(operator, site, arrays), own_limits(operator, site, arrays)
        off = limit * DRAWN.choice((-1.0, 1.0), found.shape)
        values[site.node.outputs[0]] = (found + off).astype(found.dtype)
    return values


def test_no_program_whose_steps_are_right_is_further_off() -> None:
    graph = network("Sigmoid", "MatMul", "Tanh")
    (name,) = graph.outputs
    bound, known = bounded(graph, X)[name], run(graph, {"x": X}, OPERATORS)
    apart = [np.max(np.abs(disturbed(graph, {"x": X})[name] - known[name])) for _ in range(50)]
    assert bound / 100 < max(apart) <= bound < 1e-3


def test_steps_that_are_exact_leave_nothing() -> None:
    sketch = Sketch(operators=OPERATORS)
    x = sketch.input("x", DType.F32, (4, 8))
    graph = sketch.finish(sketch.quantize(sketch.node("Clip", (x,), {"max": 0.5}, "clip"), 1 / 16, 0))
    assert bounded(graph, X) == dict.fromkeys(graph.outputs, 0.0)


def test_a_step_of_its_own_error_model_has_that() -> None:
    graph = network()
    (site,) = graph.sites()
    limits = own_limits(OPERATORS["MatMul"], site, [X, *graph.constants.values()])[0]
    assert bounded(graph, X, X / 2) == dict.fromkeys(graph.outputs, float(np.max(limits)))


def test_what_cannot_be_worked_out_is_not_there() -> None:
    assert bounded(network("Softmax"), X) == {}
    assert bounded(network("Softmax", "Sigmoid"), X) == {}
    assert bounded(network("Sigmoid"), np.full_like(X, 3e38)) == {}


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
    assert proved(step("Softmax"), FAR) is None
    assert proved(step("Neg"), FAR) is None
