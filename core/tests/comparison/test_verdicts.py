"""A verdict is right about right results, wrong ones, and ones that are nearly right."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest

from tilewright.comparison.verdicts import judge_run, judge_steps
from tilewright.ir.access.index_map import whole
from tilewright.ir.graphs.graph import Graph, Node, Tensor
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.tensors.dtypes import DType

Array = npt.NDArray[np.generic]


def operator(name: str, compute: Callable[[Array], Array], slack: float | None = None) -> Operator:
    return Operator(
        name=name,
        inputs=("X",),
        outputs=("Y",),
        infer=lambda site: (site.input(0),),
        reference=lambda site, arrays: (compute(np.asarray(arrays[0])),),
        access=lambda site: whole({"X": site.input(0).shape}, {"Y": site.output.shape}),
        tolerance=None if slack is None else lambda site, arrays: (np.full(3, slack),),
    )


OPERATORS = {"Negate": operator("Negate", lambda x: -x), "Half": operator("Half", lambda x: x / 2, 0.125)}


def graph(dtype: DType, *ops: str) -> Graph:
    values = [f"v{index}" for index in range(len(ops) + 1)]
    nodes = tuple(
        Node(name=f"n{index}", op=op, inputs=(values[index],), outputs=(values[index + 1],))
        for index, op in enumerate(ops)
    )
    tensors = {name: Tensor(name=name, dtype=dtype, shape=(3,)) for name in values}
    return Graph(name="g", inputs=("v0",), outputs=(values[-1],), nodes=nodes, tensors=tensors, constants={})


def test_every_step_is_judged_on_what_the_step_before_it_really_wrote() -> None:
    given, wrong = np.array([1, 2, 3], np.int32), np.array([-1, -2, -4], np.int32)
    after = -wrong  # a wrong first step, and a second one that is right
    steps = judge_steps(
        graph(DType.I32, "Negate", "Negate"), ["n0", "n1"], OPERATORS, [{"v0": given}], [{"v1": wrong, "v2": after}]
    )
    assert [(step.exact, step.different, step.max_difference) for step in steps] == [(False, 1, 1.0), (True, 0, 0.0)]


def test_a_step_that_is_a_view_is_computed_and_not_judged() -> None:
    given = np.array([1, 2, 3], np.int32)
    steps = judge_steps(graph(DType.I32, "Negate", "Negate"), ["n1"], OPERATORS, [{"v0": given}], [{"v2": given}])
    assert [(step.name, step.exact) for step in steps] == [("n1", True)]


@pytest.mark.parametrize(("error", "exact"), [(0.0, True), (0.125, True), (0.126, False), (math.nan, False)])
def test_floats_are_held_to_the_error_model(error: float, exact: bool) -> None:
    given = np.array([1.0, 2.0, 3.0], np.float32)
    written = (given / 2 + np.array([0, 0, error])).astype(np.float64)
    (step,) = judge_steps(graph(DType.F32, "Half"), ["n0"], OPERATORS, [{"v0": given}], [{"v1": written}])
    assert step.exact is exact


def test_what_is_not_a_number_has_no_limit_and_needs_none() -> None:
    """The error model of NaN is NaN: right where the reference has it as well, wrong where only one of them has it."""
    operators = {"Half": operator("Half", lambda x: x / 2, slack=math.nan)}
    given = np.array([math.nan, math.inf, 2.0], np.float32)
    for third, exact in ((1.0, True), (1.1, False), (math.nan, False)):
        written = np.array([math.nan, math.inf, third], np.float32)
        (step,) = judge_steps(graph(DType.F32, "Half"), ["n0"], operators, [{"v0": given}], [{"v1": written}])
        assert step.exact is exact


def test_the_worst_of_all_sets_counts() -> None:
    given, wrong = np.array([1, 2, 3], np.int32), np.array([-1, 0, 0], np.int32)
    (step,) = judge_steps(
        graph(DType.I32, "Negate"),
        ["n0"],
        OPERATORS,
        [{"v0": given}] * 3,
        [{"v1": -given}, {"v1": wrong}, {"v1": wrong}],
    )
    assert (step.exact, step.different, step.max_difference) == (False, 4, 3.0)


def test_errors_of_a_step_that_is_not_seen_are_carried_on() -> None:
    """Half is allowed 0.125, and Negate of it as much: twice what a drawn error does."""
    operators, exact = OPERATORS, np.array([-0.5, -1.0, -1.5], np.float32)
    for wrong, right in ((0.1, True), (0.2, True), (0.3, False)):
        (verdict,) = judge_steps(
            graph(DType.F32, "Half", "Negate"), ["n0", "n1"], operators,
            [{"v0": np.array([1, 2, 3], np.float32)}], [{"v2": (exact + wrong).astype(np.float32)}],
        )  # fmt: skip
        assert (verdict.name, verdict.exact) == ("n1", right)


def test_a_step_after_one_that_is_not_seen_is_exact_where_that_one_is() -> None:
    (verdict,) = judge_steps(
        graph(DType.I32, "Negate", "Negate"), ["n0", "n1"], OPERATORS,
        [{"v0": np.array([1, 2, 3], np.int32)}], [{"v2": np.array([1, 2, 4], np.int32)}],
    )  # fmt: skip
    assert verdict.different == 1


def test_what_lies_between_two_steps_may_go_either_way() -> None:
    """Halves are rounded after a step that is not seen; every one of thousands may lie on either side."""
    shape = (4000,)
    half = operator("Half", lambda x: x / 2)
    half = replace(half, tolerance=lambda site, arrays: (np.full(shape, 1e-3),))
    operators = {"Half": half, "Round": operator("Round", np.rint)}
    plain = graph(DType.F32, "Half", "Round")
    plain = replace(plain, tensors={name: replace(one, shape=shape) for name, one in plain.tensors.items()})
    x = np.arange(1, 8001, 2).astype(np.float32)
    for rounded in (np.floor(x / 2), np.ceil(x / 2)):
        (verdict,) = judge_steps(plain, ["n0", "n1"], operators, [{"v0": x}], [{"v2": rounded}])
        assert verdict.exact
    (verdict,) = judge_steps(plain, ["n0", "n1"], operators, [{"v0": x}], [{"v2": np.ceil(x / 2) + 2}])
    assert not verdict.exact


def test_a_float_step_inside_its_error_model_says_how_far_inside() -> None:
    given = np.array([2, 4, 6], np.float32)
    near, far = np.array([1, 2, 3.03125], np.float32), np.array([1, 2, 3.25], np.float32)
    for written, exact, share in ((given / 2, True, 0.0), (near, True, 0.25), (far, False, 0.0)):
        (step,) = judge_steps(graph(DType.F32, "Half"), ["n0"], OPERATORS, [{"v0": given}], [{"v1": written}])
        assert (step.exact, step.of_allowed, step.bit_equal) == (exact, share, written is not near and exact)


def test_the_worst_set_counts() -> None:
    given = np.array([2, 4, 6], np.float32)
    written = [{"v1": given / 2 + np.float32(off)} for off in (0, 0.0625, 0.03125)]
    (step,) = judge_steps(graph(DType.F32, "Half"), ["n0"], OPERATORS, [{"v0": given}] * 3, written)
    assert (step.exact, step.bit_equal, step.of_allowed) == (True, False, 0.5)


def test_outputs_are_what_the_steps_wrote_and_what_views_make_of_that() -> None:
    given, wrong = np.array([1, 2, 3], np.int32), np.array([-1, -2, -4], np.int32)
    net = graph(DType.I32, "Negate", "Negate")
    (seen,) = judge_run(net, ["n0"], OPERATORS, [{"v0": given}], [{"v1": wrong}]).outputs
    assert seen["v2"].tolist() == [1, 2, 4]


def test_a_state_is_what_the_run_itself_has_made_as_a_view_of_what_a_step_wrote_too() -> None:
    """Half writes as far off as it may, twice; the state between is Negate, a view. Beside the reference's stream, the
    second would be further off.
    """
    net, given = graph(DType.F32, "Half", "Negate"), np.array([1, 2, 3], np.float32)
    first = given / 2 + np.float32(0.125)
    written = [{"v1": first}, {"v1": -first / 2 - np.float32(0.125)}]
    for states, right in (({"v0": "v2"}, True), ({}, False)):
        (step,) = judge_run(net, ["n0"], OPERATORS, [{"v0": given}, {"v0": -given / 2}], written, states).steps
        assert step.exact is right


def test_a_view_of_what_is_not_seen_is_off_as_far() -> None:
    """Half is not seen and Negate is a view of it: what reads that is allowed what Half may do."""
    net, given = graph(DType.F32, "Half", "Negate", "Negate"), np.array([1, 2, 3], np.float32)
    for wrong, right in ((0.1, True), (0.6, False)):
        written = (given / 2 + np.float32(wrong)).astype(np.float32)
        (step,) = judge_steps(net, ["n0", "n2"], OPERATORS, [{"v0": given}], [{"v3": written}])
        assert (step.name, step.exact) == ("n2", right)


def test_of_a_step_with_several_outputs_those_that_are_seen_are_judged() -> None:
    both = replace(operator("Both", lambda x: x), outputs=("Y", "Z"), reference=lambda site, arrays: (arrays[0],) * 2)
    net = graph(DType.I32, "Both")
    net = replace(
        net,
        nodes=(replace(net.nodes[0], outputs=("v1", "v2")),),
        tensors={**net.tensors, "v2": replace(net.tensors["v1"], name="v2")},
    )
    given = np.array([1, 2, 3], np.int32)
    (step,) = judge_steps(net, ["n0"], {"Both": both}, [{"v0": given}], [{"v1": given + 1}])
    assert (step.different, step.exact) == (3, False)
