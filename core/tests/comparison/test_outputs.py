"""Each element has its tolerance; infinities and NaN stand in the same places; beside the reference, steps decide."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import pytest

from tilewright.comparison.outputs import half_share, judge_outputs, judge_values, tolerances
from tilewright.comparison.verdicts import OutputVerdict
from tilewright.ir.graphs.graph import Graph, Tensor
from tilewright.ir.tensors.dtypes import DType

INF, NAN = math.inf, math.nan


def graph(dtype: DType, elements: int = 3) -> Graph:
    """Nothing but an output."""
    tensors = {"y": Tensor(name="y", dtype=dtype, shape=(elements,))}
    return Graph(name="g", inputs=(), outputs=("y",), nodes=(), tensors=tensors, constants={})


def values(dtype: DType, *elements: float) -> list[dict[str, npt.NDArray[np.generic]]]:
    return [{"y": np.array(elements, dtype.numpy)}]


def against(dtype: DType, got: list[float], expected: list[float]) -> OutputVerdict:
    """Judged against values from outside."""
    net, found, other = graph(dtype, len(got)), values(dtype, *got), values(dtype, *expected)
    (verdict,) = judge_outputs(net, found, found, found, given=other)
    assert verdict.given
    return verdict


def test_small_integers_may_be_one_step_away_wider_ones_and_booleans_not() -> None:
    assert against(DType.I8, [1, 2, 3], [1, 2, 3]).within
    for dtype, within in (
        (DType.I8, True),
        (DType.U8, True),
        (DType.I16, True),
        (DType.I32, False),
        (DType.I64, False),
    ):
        assert against(dtype, [1, 2, 4], [1, 2, 3]).within is within
    assert not against(DType.BOOL, [0, 1, 1], [1, 1, 1]).within
    far = against(DType.I8, [1, 9, 3], [1, 2, 3])
    assert (far.within, far.different, far.max_difference, far.argmax_equal, far.allowed) == (False, 1, 7.0, False, 1.0)


@pytest.mark.parametrize(
    ("got", "expected", "within"),
    [
        ([0, 0, 100.0], [0, 0, 100.001], True),
        ([0, 0, 1.0], [0, 0, 1.001], False),
        ([1000.0, 1000.0, 0.05], [1000.0, 1000.0, 0.0], True),  # the usual size is 1000
        ([1e30, 5.0, 7.0], [1e30, 5.01, 7.0], False),  # one huge value gives no room to the others
        ([1e30, 5.0], [1e30, 5.01], False),
        ([0, 0, NAN], [0, 0, 1.0], False),
        ([0, 0, 1.0], [0, 0, NAN], False),
        ([0, NAN, INF], [0, NAN, INF], True),
        ([0, 1, INF], [0, 1, -INF], False),
        ([1, 2, 3, 4], [INF, 99, -7, 4], False),
        ([INF, 2, 3, 4], [INF, 99, -7, 4], False),
    ],
)
def test_floats_have_a_tolerance_each(got: list[float], expected: list[float], within: bool) -> None:
    verdict = against(DType.F32, got, expected)
    assert verdict.within is within
    assert verdict.allowed is not None
    assert math.isfinite(verdict.allowed) and math.isfinite(verdict.max_difference), "JSON has no infinity"


def test_the_tolerance_that_is_told_is_of_the_element_that_is_furthest_out() -> None:
    assert against(DType.F32, [1000.0, 1.0, 1.0], [1000.05, 1.5, 1.0]).allowed == pytest.approx(1.5e-4)


def test_infinities_have_no_tolerance_and_give_none() -> None:
    found = tolerances(DType.F32, np.array([INF, NAN, 3.0, 0.0], np.float32), 0.5)
    assert found.tolist() == [0.0, 0.0, 1.5, 1.5]
    assert tolerances(DType.F32, np.zeros(0, np.float32), 0.5).shape == (0,)


def test_floats_of_16_bits_may_round_otherwise() -> None:
    share = half_share(graph(DType.F16))
    assert half_share(graph(DType.F32)) == 0
    assert against(DType.F16, [1.0, 1.0, 1.0], [1.0, 1.0, 1.0 + share]).within
    assert not against(DType.F16, [1.0, 1.0, 1.0], [1.0, 1.0, 1.0 + 3 * share]).within


@pytest.mark.parametrize("dtype", [DType.I8, DType.F32])
def test_beside_the_reference_an_output_is_right_where_it_is_what_its_step_wrote(dtype: DType) -> None:
    net, known = graph(dtype), values(dtype, 1, 2, 3)
    for got, wrote, right in (
        ((1, 2, 9), (1, 2, 9), True),
        ((1, 2, 3), (1, 2, 3), True),
        ((1, 2, 3), (1, 2, 4), False),
    ):
        (found,) = judge_outputs(net, values(dtype, *got), values(dtype, *wrote), known, bounds={"y": 2.0})
        assert (found.within, found.as_written, found.given, found.allowed, found.bound) == (
            right,
            right,
            False,
            None,
            2.0,
        )
        assert found.max_difference == abs(got[2] - 3)


def test_a_difference_that_a_wrong_step_has_made_is_not_right() -> None:
    net, known = graph(DType.F32), values(DType.F32, 1, 2, 3)
    for got, within in ((values(DType.F32, 1, 2, 9), False), (known, True)):
        (found,) = judge_outputs(net, got, got, known, right=False)
        assert found.within is within


def test_what_is_handed_out_is_what_was_written_with_expected_values_too() -> None:
    net, right, wrong = graph(DType.F32), values(DType.F32, 1, 2, 3), values(DType.F32, 1, 2, 4)
    (found,) = judge_outputs(net, right, wrong, right, given=right)
    assert (found.within, found.as_written) == (False, False)


@pytest.mark.parametrize(("rounding", "within"), [(False, False), (True, True)])
def test_where_a_model_quantises_given_values_may_have_been_rounded_otherwise(rounding: bool, within: bool) -> None:
    net, got = graph(DType.F32, 4), values(DType.F32, 1, 2, 3, 4)
    (near,) = judge_outputs(net, got, got, got, given=values(DType.F32, 1, 2, 3.0625, 4), rounding=rounding)
    assert (near.within, 0.02 < near.share < 0.05) == (within, True)
    huge = [values(DType.F32, 1, 2, third, 1e30) for third in (3, 4)]
    assert not judge_outputs(net, huge[0], huge[0], huge[0], given=huge[1], rounding=rounding)[0].within
    for far in ((1, 2, 3.5, 4), (1, 2, INF, 4), (1, 2, NAN, 4)):
        assert not judge_outputs(net, got, got, got, given=values(DType.F32, *far), rounding=rounding)[0].within


def test_sets_without_expected_values_are_not_counted_with_those_that_have_some() -> None:
    net, one, two = graph(DType.F32), values(DType.F32, 1, 2, 3), values(DType.F32, 1, 2, 4)
    (found,) = judge_outputs(net, [*one, *two], [*one, *two], [*one, *two], given=[{}, *two])
    assert (found.elements, found.different, found.given) == (3, 0, True)


def test_values_that_one_side_lacks_are_left_out() -> None:
    assert judge_values(graph(DType.I8), ["y"], values(DType.I8, 1, 2, 3), [{}]) == ()
