"""Who is right: where values part, from what both agree on, ties and formulas told apart."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from tilewright.builtin import tilewright_graph_passes, tilewright_operators
from tilewright.comparison.judgement import AGREE, EACH, NEITHER, OURS, THEIRS, UNDECIDED, Sides, Verdict, judge
from tilewright.comparison.reference import run
from tilewright.ir.graphs.graph import Graph
from tilewright.ir.tensors.dtypes import DType
from tilewright.rewrite import rewrite
from tilewright.testing.sketch import Sketch

Array = npt.NDArray[Any]
OPERATORS = MappingProxyType({operator.name: operator for operator in tilewright_operators()})
X = np.arange(-128, 128, dtype=np.int8).reshape(1, 256)


def halves() -> Graph:
    """Ties at every second element, then a step behind them."""
    sketch = Sketch(operators=OPERATORS)
    value = sketch.dequantize(sketch.input("x", DType.I8, (1, 256)), 0.25)
    first = sketch.quantize(value, 0.5, 0, name="first")
    return sketch.finish(sketch.quantize(sketch.node("Neg", (sketch.dequantize(first, 0.5),)), 0.5, 0, name="last"))


def sides(graph: Graph, change: dict[str, Array], *, kept: tuple[str, ...] = ()) -> Sides:
    """Both compute the graph as it is; the other side has `kept` and the changed values only."""
    values = run(graph, {"x": X}, OPERATORS)
    names = {*graph.outputs, *kept, *change}
    theirs = {name: change.get(name, values[name]) for name in names}
    return Sides(imported=graph, compiled=graph, inputs=[{"x": X}], ours=[values], theirs=[theirs])


def away_from_zero(graph: Graph) -> Array:
    """What a device does that rounds halves away from 0."""
    doubled = run(graph, {"x": X}, OPERATORS)["x"].astype(np.float64) / 2
    return np.asarray(np.sign(doubled) * np.floor(np.abs(doubled) + 0.5)).astype(np.int8)


def test_equal_values_agree() -> None:
    verdict = judge(sides(halves(), {}, kept=("first:0",)), OPERATORS)
    assert (verdict.right, verdict.compared, verdict.equal, verdict.judgements) == (AGREE, 2, 2, ())


def test_halves_that_go_the_other_way_are_ties() -> None:
    graph = halves()
    verdict = judge(sides(graph, {"first:0": away_from_zero(graph)}), OPERATORS)
    (first,) = verdict.judgements
    assert (first.right, first.node, first.op, first.is_float) == (OURS, "first", "QuantizeLinear", False)
    assert (first.parted, first.ties, first.ours.off, first.theirs.off) == (64, 64, 0, 64)
    assert first.theirs.largest == 1
    assert first.example is not None
    assert first.example.tie
    assert (first.example.index, first.example.before, first.example.from_tie) == ((0, 3), -62.5, 0)
    assert (first.example.ours, first.example.theirs, first.example.exact) == (-62, -63, -62)
    assert not first.faulty


def test_the_other_side_may_be_right_and_tilewright_at_fault() -> None:
    graph = halves()
    given = sides(graph, {}, kept=("first:0",))
    wrong = {**given.ours[0], "first:0": np.clip(given.ours[0]["first:0"].astype(int) + 2, -128, 127).astype(np.int8)}
    (first, *_) = judge(replace(given, ours=[wrong]), OPERATORS).judgements
    assert (first.right, first.ours.largest, first.theirs.off) == (THEIRS, 2, 0)
    assert first.faulty


def test_each_and_neither() -> None:
    graph = halves()
    given = sides(graph, {}, kept=("first:0",))
    right = given.ours[0]["first:0"]
    ours, theirs = right.copy(), right.copy()
    ours[0, 0] += 1
    theirs[0, 3] += 1
    verdict = judge(replace(given, ours=[{**given.ours[0], "first:0": ours}], theirs=[{"first:0": theirs}]), OPERATORS)
    assert [each.right for each in verdict.judgements] == [EACH]
    theirs = right.copy()
    theirs[0, 0] += 2
    verdict = judge(replace(given, ours=[{**given.ours[0], "first:0": ours}], theirs=[{"first:0": theirs}]), OPERATORS)
    assert [(each.right, each.neither) for each in verdict.judgements] == [(NEITHER, 1)]


def test_outputs_behind_the_first_are_judged_too() -> None:
    """From the last values that both agree on."""
    graph = halves()
    other = away_from_zero(graph)
    verdict = judge(sides(graph, {"first:0": other, graph.outputs[0]: (-other).astype(np.int8)}), OPERATORS)
    assert [(each.value, each.known, each.roundings) for each in verdict.judgements] == [
        ("first:0", ("x",), 1),
        (graph.outputs[0], ("x",), 2),
    ]
    assert verdict.right == OURS
    nearer = judge(sides(graph, {graph.outputs[0]: other}, kept=("first:0",)), OPERATORS)
    assert nearer.judgements[0].known == ("first:0",)


def qadd() -> Graph:
    sketch = Sketch(operators=OPERATORS)
    sketch.input("x", DType.I8, (256, 1))
    sketch.input("z", DType.I8, (1, 256))
    total = sketch.node("Mul", (sketch.dequantize("x", 0.05), sketch.dequantize("z", 0.07)))
    return sketch.finish(sketch.quantize(total, 0.08, 3, name="last"))


def test_the_documented_formula_and_exact_arithmetic_are_told_apart() -> None:
    """QMul multiplies by a float32 ratio: where that is off by a step, it is by its formula, and no fault."""
    imported = qadd()
    compiled = rewrite(imported, OPERATORS, tilewright_graph_passes()).graph
    assert [node.op for node in compiled.nodes] == ["QMul"]
    inputs = {"x": X.reshape(256, 1), "z": X.reshape(1, 256)}
    ours = run(compiled, inputs, OPERATORS)
    exact = _products_by_integers()
    theirs = {imported.outputs[0]: np.clip(exact, -128, 127).astype(np.int8)}
    verdict = judge(
        Sides(imported=imported, compiled=compiled, inputs=[inputs], ours=[ours], theirs=[theirs]), OPERATORS
    )
    different = int(np.count_nonzero(ours[imported.outputs[0]] != theirs[imported.outputs[0]]))
    if different:
        (only,) = verdict.judgements
        assert (only.op, only.by_formula, only.right, only.ours.off) == ("QMul", True, THEIRS, different)
        assert only.ours.largest == 1
        assert not only.faulty
    else:
        assert verdict.right == AGREE


def _products_by_integers() -> Array:
    """rne(x z (0.05 0.07 / 0.08)) + 3 by Python's integers."""
    from fractions import Fraction

    one, other, scale = (Fraction(float(np.float32(value))) for value in (0.05, 0.07, 0.08))
    ratio = one * other / scale
    return np.array([[round(x * z * ratio) + 3 for z in range(-128, 128)] for x in range(-128, 128)])


def test_floats_part_where_they_leave_their_tolerance() -> None:
    sketch = Sketch(operators=OPERATORS)
    graph = sketch.finish(sketch.node("Exp", (sketch.input("x", DType.F32, (3,)),), name="exp"))
    values = run(graph, {"x": np.array([0, 1, 2], np.float32)}, OPERATORS)
    inputs = [{"x": np.array([0, 1, 2], np.float32)}]
    near = {"exp:0": values["exp:0"] * np.float32(1 + 1e-6)}
    plain = Sides(imported=graph, compiled=graph, inputs=inputs, ours=[values], theirs=[near])
    assert judge(plain, OPERATORS).right == AGREE
    far = {"exp:0": np.array([1, 2.718, 7.3891], np.float32)}
    (only,) = judge(replace(plain, theirs=[far]), OPERATORS).judgements
    assert (only.right, only.is_float, only.parted, only.roundings) == (OURS, True, 1, 0)
    (only,) = judge(replace(plain, ours=[far], theirs=[values]), OPERATORS).judgements
    assert (only.right, only.faulty) == (THEIRS, True)


@pytest.mark.parametrize("op", ["Sin", "Tan"])
def test_what_has_no_rational_value_is_undecided(op: str) -> None:
    sketch = Sketch(operators=OPERATORS)
    graph = sketch.finish(sketch.node(op, (sketch.input("x", DType.F32, (3,)),), name="wave"))
    inputs = {"x": np.array([0, 1, 2], np.float32)}
    values = run(graph, inputs, OPERATORS)
    other = {"wave:0": values["wave:0"] + np.float32(1)}
    verdict = judge(Sides(imported=graph, compiled=graph, inputs=[inputs], ours=[values], theirs=[other]), OPERATORS)
    assert verdict.right == UNDECIDED
    assert f"{op} has no rational arithmetic" in verdict.judgements[0].reason
    assert not verdict.judgements[0].faulty


def test_values_of_another_form_are_not_compared() -> None:
    verdict = judge(sides(halves(), {"first:0": np.zeros(3, np.int8)}), OPERATORS)
    assert (verdict.compared, verdict.right) == (1, AGREE)


def test_who_is_right_altogether() -> None:
    assert Verdict(compared=0, equal=0).right == AGREE
