"""Graph passes may round otherwise, and no more; which one did more is said."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from tilewright.builtin import tilewright_operators
from tilewright.comparison.drift import all_within, drifts, excused, guilty_pass, stepwise
from tilewright.comparison.reference import run
from tilewright.ir.graphs.graph import Graph
from tilewright.ir.tensors.dtypes import DType
from tilewright.rewrite.edit import with_attributes
from tilewright.testing.sketch import Sketch

OPERATORS = {operator.name: operator for operator in tilewright_operators()}
X = np.linspace(-1, 1, 32, dtype=np.float32).reshape(2, 16)


def network(*, rounds: bool) -> Graph:
    """Padded by zero, and quantised or not."""
    sketch = Sketch(operators=OPERATORS)
    x = sketch.input("x", DType.F32, (2, 16))
    value = sketch.node("Pad", (x,), {"pads": (0, 1, 0, 1), "mode": "constant", "value": 0.0}, "pad")
    value = sketch.dequantize(sketch.quantize(value, 1 / 64, 0), 1 / 64) if rounds else value
    return sketch.finish(value)


def values(graph: Graph) -> list[dict[str, npt.NDArray[Any]]]:
    return [run(graph, {"x": X}, OPERATORS)]


def padded_by(graph: Graph, value: float) -> Graph:
    """What a wrong pass makes of it."""
    nodes = (with_attributes(node, {"value": value}) if node.op == "Pad" else node for node in graph.nodes)
    return replace(graph, nodes=tuple(nodes))


@pytest.mark.parametrize("rounds", [False, True])
def test_a_pass_that_computes_something_else_is_found_and_named(rounds: bool) -> None:
    graph = network(rounds=rounds)
    wrong = padded_by(graph, 99.0)
    (drift,) = drifts(graph, values(graph), values(wrong))
    assert not drift.within
    assert drift.verdict.different == 4
    trail = (("innocent", graph), ("guilty", wrong), ("later", wrong))
    assert guilty_pass(trail, lambda one: drifts(graph, values(graph), values(one))[0].within) == "guilty"


def test_the_same_numbers_do_not_drift() -> None:
    graph = network(rounds=False)
    (drift,) = drifts(graph, values(graph), values(graph))
    assert (drift.within, drift.share, drift.verdict.different) == (True, 0.0, 0)
    assert guilty_pass((("one", graph),), lambda one: one is graph) == ""


@pytest.mark.parametrize(("rounds", "within"), [(False, False), (True, True)])
def test_only_where_something_is_rounded_may_a_step_be_another(rounds: bool, within: bool) -> None:
    graph = network(rounds=rounds)
    (name,) = graph.outputs
    after = values(graph)[0][name].copy()
    after[0, 3] += 1 / 64
    (drift,) = drifts(graph, values(graph), [{name: after}])
    assert drift.within is within
    assert 0 < drift.share < 0.05


def test_a_constant_output_has_no_spread_to_hide_in() -> None:
    graph = network(rounds=True)
    (name,) = graph.outputs
    zeros = np.zeros((2, 18), np.float32)
    (drift,) = drifts(graph, [{name: zeros}], [{name: zeros + 1}])
    assert not drift.within


@pytest.mark.parametrize("rounds", [False, True])
def test_infinities_that_both_have_are_no_drift(rounds: bool) -> None:
    graph = network(rounds=rounds)
    (name,) = graph.outputs
    before = values(graph)[0][name].copy()
    before[0, :2] = np.inf, np.nan
    after = before.copy()
    after[0, 3] += 1e-6
    (drift,) = drifts(graph, [{name: before}], [{name: after}])
    assert drift.within
    assert 0 < drift.share < 1e-4
    (drift,) = drifts(graph, [{name: before}], [{name: np.where(np.isinf(before), 0, after)}])
    assert not drift.within


def ill_conditioned(first: str = "Add", scale: float = 3.0) -> Graph:
    """(x * 3 + large) - large, where little is left of x."""
    sketch = Sketch(operators=OPERATORS)
    x, large = sketch.input("x", DType.F32, (2, 16)), sketch.constant(np.full(16, 2.0**20, np.float32))
    tripled = sketch.node("Mul", (x, sketch.constant(np.array(scale, np.float32))), name="mul")
    return sketch.finish(sketch.node("Sub", (sketch.node(first, (tripled, large), name="sum"), large), name="sub"))


def test_what_an_ill_conditioned_network_makes_of_roundings_is_excused_and_a_wrong_pass_is_not() -> None:
    imported = ill_conditioned()
    before, (name,) = values(imported), imported.outputs
    after = [{**before[0], name: before[0][name] + np.float32(1 / 16)}]
    found = drifts(imported, before, after)
    assert not found[0].within
    (one,) = excused(found, imported, imported, before, OPERATORS)
    assert (one.within, one.verdict) == (True, found[0].verdict)
    for wrong in (ill_conditioned("Sub"), ill_conditioned(scale=3.01)):
        far = drifts(imported, before, values(wrong))
        assert not any(one.within for one in excused(far, imported, wrong, before, OPERATORS))


def test_without_values_in_common_nothing_is_excused() -> None:
    imported, other = network(rounds=False), ill_conditioned()
    found = drifts(imported, values(imported), values(padded_by(imported, 9.0)))
    assert excused(found, imported, other, values(imported), OPERATORS) == found


def test_what_is_near_pass_by_pass_is_right_though_it_is_far_as_a_whole() -> None:
    """Graphs in a row, of which some pairs are near each other: each step goes as far as it can."""
    graphs = [ill_conditioned() for _ in range(4)]
    places = {id(graph): at for at, graph in enumerate(graphs)}
    far = drifts(graphs[0], values(graphs[0]), values(ill_conditioned(scale=9.0)))
    for pairs, right in (({(0, 1), (1, 2), (1, 3)}, True), ({(0, 1), (0, 2), (2, 3)}, True), ({(0, 1), (2, 3)}, False)):
        found = stepwise(far, graphs, lambda a, b, pairs=pairs: (places[id(a)], places[id(b)]) in pairs)  # type: ignore[misc]
        assert not all_within(far) and all_within(found) == right
        assert [one.verdict for one in found] == [one.verdict for one in far]
