"""Where outputs of Resize lie, and weights: against independent values, sums of 1, and tables without what is 0."""

from __future__ import annotations

import numpy as np
import pytest

from tilewright.operators.convolution.resize_rules import RULES, Filter, Line, nearest, outside, positions, taps

DOWN = Line(inputs=4, size=2, scale=0.6)
UP = Line(inputs=2, size=4, scale=2.0)


@pytest.mark.parametrize(
    ("rule", "wanted"),
    [
        ("asymmetric", [0, 0.5, 1, 1.5]),
        ("half_pixel", [-0.25, 0.25, 0.75, 1.25]),
        ("half_pixel_symmetric", [-0.25, 0.25, 0.75, 1.25]),
        ("pytorch_half_pixel", [-0.25, 0.25, 0.75, 1.25]),
        ("align_corners", [0, 1 / 3, 2 / 3, 1]),
        ("tf_crop_and_resize", [0, 1 / 3, 2 / 3, 1]),
    ],
)
def test_positions(rule: str, wanted: list[float]) -> None:
    assert positions(UP, rule) == pytest.approx(wanted)


@pytest.mark.parametrize(
    ("rounding", "wanted"),
    [
        ("floor", [0, 0, 1, 1]),
        ("ceil", [0, 1, 1, 1]),
        ("round_prefer_floor", [0, 0, 1, 1]),
        ("round_prefer_ceil", [0, 1, 1, 1]),
    ],
)
def test_nearest_stays_inside(rounding: str, wanted: list[int]) -> None:
    assert nearest(UP, "asymmetric", rounding).tolist() == wanted


def test_the_nearest_by_tensorflows_old_rule() -> None:
    line = Line(inputs=6, size=4, scale=2 / 3)
    assert nearest(line, "tf_half_pixel_for_nn", "floor").tolist() == [0, 2, 3, 5]  # of 0.75, 2.25, 3.75, 5.25


def test_outside_a_crop() -> None:
    line = Line(inputs=4, size=3, scale=0.75, roi=(-0.5, 1.0))
    assert outside(line, "tf_crop_and_resize").tolist() == [True, False, False]
    assert not outside(line, "half_pixel").any()


@pytest.mark.parametrize("antialias", [False, True])
@pytest.mark.parametrize("exclude", [False, True])
@pytest.mark.parametrize("mode", ["linear", "cubic"])
@pytest.mark.parametrize("rule", sorted(RULES))
def test_weights_add_up_to_1(rule: str, mode: str, exclude: bool, antialias: bool) -> None:
    for line in (DOWN, UP, Line(inputs=7, size=3, scale=3 / 7), Line(inputs=1, size=5, scale=5.0)):
        first, weights = taps(line, rule, Filter(mode=mode, antialias=antialias, exclude_outside=exclude))
        assert np.sum(weights, axis=1) == pytest.approx(np.ones(line.size), abs=1e-6)
        assert np.all(first >= 0) and np.all(first + weights.shape[1] <= line.inputs)


def test_weights_of_a_line_and_of_a_cubic() -> None:
    first, weights = taps(UP, "half_pixel", Filter(mode="linear"))
    assert first.tolist() == [0, 0, 0, 0]
    assert weights.tolist() == [[1, 0], [0.75, 0.25], [0.25, 0.75], [0, 1]]
    _, weights = taps(Line(inputs=9, size=18, scale=2.0), "half_pixel", Filter(mode="cubic"))
    assert weights[8] == pytest.approx([-0.03515625, 0.26171875, 0.87890625, -0.10546875])
