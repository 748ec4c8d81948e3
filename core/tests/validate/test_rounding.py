"""How far roundings take an output: next to nowhere in a well-conditioned network, anywhere where sums cancel."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tilewright.builtin import tilewright_operators
from tilewright.ir.dtypes import DType
from tilewright.ir.graph import Graph
from tilewright.testing.sketch import Sketch
from tilewright.validate.comparison import Drift, StepVerdict, Verdict, judge_outputs
from tilewright.validate.reference import run
from tilewright.validate.rounding import disturbed, judged_with_roundings, rounding_effects

OPERATORS = {operator.name: operator for operator in tilewright_operators()}
X = np.linspace(0.1, 0.9, 32, dtype=np.float32).reshape(4, 8)
STEP = StepVerdict(name="only", op="Add", exact=True, different=0, max_difference=0.0)
ULP = 2.0**-23


def network(large: float) -> Graph:
    """(x + large) - large, clipped: of x as much is left as `large` leaves."""
    sketch = Sketch(operators=OPERATORS)
    constant = sketch.constant(np.full(8, large, np.float32))
    total = sketch.node("Add", (sketch.input("x", DType.F32, (4, 8)), constant), name="add")
    return sketch.finish(
        sketch.node("Clip", (sketch.node("Sub", (total, constant), name="sub"),), {"max": 9.0}, "clip")
    )


def off_by(graph: Graph, much: float, *, exact: bool = True) -> Verdict:
    """What is judged of outputs that are so far from the reference; with the same as drift."""
    (name,) = graph.outputs
    known = run(graph, {"x": X}, OPERATORS)
    (output,) = judge_outputs(graph, [{name: known[name] + np.float32(much)}], [{name: known[name]}])
    drift = Drift(verdict=output, share=1.0, within=output.within)
    return Verdict(steps=(replace(STEP, exact=exact),), outputs=(output,), drift=(drift,))


@pytest.mark.parametrize("large", [1.0, 1024.0, 2.0**20])
def test_the_effect_is_that_of_the_largest_value_on_the_way(large: float) -> None:
    (effect,) = rounding_effects(network(large), [{"x": X}], OPERATORS).values()
    assert large * ULP / 4 <= effect <= 4 * large * ULP


def test_steps_are_disturbed_inside_their_error_models_and_moves_are_not() -> None:
    graph = network(2.0**20)
    found = disturbed(graph, {"x": X}, OPERATORS, np.random.default_rng(0))
    expected = run(graph, {"x": X}, OPERATORS)
    assert not np.array_equal(found["add:0"], expected["add:0"])
    assert np.array_equal(found["clip:0"], np.minimum(found["sub:0"], 9.0)), "a clip rounds nothing"
    assert all(found[name].dtype == array.dtype for name, array in expected.items())


@pytest.mark.parametrize(("large", "passes"), [(1.0, False), (2.0**20, True)])
def test_an_output_is_right_where_roundings_explain_it(large: float, passes: bool) -> None:
    graph = network(large)
    verdict = off_by(graph, 0.01)
    assert not verdict.passed
    found = judged_with_roundings(verdict, graph, [{"x": X}], OPERATORS)
    assert found.passed is found.outputs[0].within is found.drift[0].within is passes
    assert (found.outputs[0].allowed > 0.01) == passes


def test_never_more_than_roundings_and_never_with_a_wrong_step() -> None:
    graph = network(2.0**20)
    for verdict in (off_by(graph, 100.0), off_by(graph, 0.01, exact=False)):
        assert not judged_with_roundings(verdict, graph, [{"x": X}], OPERATORS).passed
    right = off_by(graph, 0.0)
    assert judged_with_roundings(right, graph, [{"x": X}], OPERATORS) is right


def test_whole_numbers_are_never_off() -> None:
    sketch = Sketch(operators=OPERATORS)
    graph = sketch.finish(sketch.quantize(sketch.input("x", DType.F32, (4, 8)), 1 / 64, 0))
    assert rounding_effects(graph, [{"x": X}], OPERATORS) == {}
