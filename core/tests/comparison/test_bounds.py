"""A bound of an output holds for any program whose steps are right, and is there only where it can be worked out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from tilewright.builtin import tilewright_operators
from tilewright.comparison.bounds import bounds
from tilewright.comparison.reference import run
from tilewright.ir.graphs.carried_errors import own_limits
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
    assert bounded(network("Neg"), X) == {}
    assert bounded(network("Neg", "Sigmoid"), X) == {}
    assert bounded(network("Sigmoid"), np.full_like(X, 3e38)) == {}
