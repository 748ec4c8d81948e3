"""The numbers of a requantisation that is rounded twice: what they are, and where kernels have none."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tilewright.api.graph import DoubleRounding, Requant, requantise
from tilewright.api.kernel import AccumulatorBounds
from tilewright_cortexm.kernels.twice import halves_matter, reaches, twice_numbers


def bounds(*reach: int) -> AccumulatorBounds:
    low = tuple(-each for each in reach)
    return AccumulatorBounds(lowest=low, highest=reach, partial_lowest=low, partial_highest=reach)


def requant(*scale: float, zero_point: int = 3, low: int = -128) -> Requant:
    return Requant(scale=scale, zero_point=zero_point, low=low, high=127, rounding=DoubleRounding())


@given(scale=st.floats(2.0**-40, 0.9), reach=st.sampled_from([127, 16129, 10**7, 2**31 - 1]), data=st.data())
def test_they_compute_what_the_rounding_does(scale: float, reach: int, data: st.DataObject) -> None:
    one = requant(scale)
    found = twice_numbers(one, bounds(reach))
    assert not isinstance(found, str)
    multiplier, right = found[0].multiplier, found[0].right
    assert found[0].reach == reach
    for acc in [-reach, reach, -1, 0, 1, *data.draw(st.lists(st.integers(-reach, reach), max_size=20))]:
        high = (acc * multiplier + 2**30) >> 31
        rounded = (high + (2 ** (right - 1) - (high < 0) if right else 0)) >> right
        (wanted,) = requantise(np.array([acc], np.int64), one, 0)
        assert min(max(rounded + 3, -128), 127) == wanted, acc


def test_channels_of_one_result_say_so() -> None:
    constant = AccumulatorBounds(
        lowest=(5 * 2**27, -100), highest=(5 * 2**27, 100), partial_lowest=(0, 0), partial_highest=(0, 0)
    )
    found = twice_numbers(requant(2.0**-26, 2.0**-25), constant)
    assert not isinstance(found, str)
    assert [one.result for one in found] == [13, 3]  # 10 and 0 above the zero point
    found = twice_numbers(requant(0.25), bounds(100))
    assert not isinstance(found, str) and found[0].result is None


def test_a_scale_of_more_than_1_has_none() -> None:
    assert "shifts to the right" in str(twice_numbers(requant(0.5, 1.5), bounds(100, 100)))


def test_halves_matter_below_the_zero_point_only() -> None:
    assert halves_matter(requant(0.5)) and not halves_matter(requant(0.5, low=3))
    assert reaches(bounds(7, 9)) == [7, 9]
