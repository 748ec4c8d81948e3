"""What Helium's kernels store: scales, or multipliers and shifts, with which VQRDMULH and VRSHL are the rounding."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tilewright.api.graph import DoubleRounding, Requant, requantise
from tilewright.api.kernel import AccumulatorBounds
from tilewright_cortexm.kernels.mve_twice import MveForm, mve_form, taken_form


def bounds(*reach: int) -> AccumulatorBounds:
    low = tuple(-each for each in reach)
    return AccumulatorBounds(lowest=low, highest=reach, partial_lowest=low, partial_highest=reach)


@given(scale=st.floats(2.0**-40, 0.9), zero_point=st.integers(-128, 127), relu=st.booleans(), data=st.data())
def test_the_instructions_are_the_rounding(scale: float, zero_point: int, relu: bool, data: st.DataObject) -> None:
    low, reach = zero_point if relu else -128, 10**8
    requant = Requant(scale=(scale,), zero_point=zero_point, low=low, high=127, rounding=DoubleRounding())
    form = taken_form(requant, bounds(reach))
    assert form.away == (low < zero_point)
    (multiplier,), (left,) = form.words.astype(object)
    for acc in [-reach, reach, -1, 0, 1, *data.draw(st.lists(st.integers(-reach, reach), max_size=20))]:
        high = (2 * acc * multiplier + 2**31) >> 32  # VQRDMULH
        high += (high & left) >> 31 if form.away else 0  # VAND, VSHR, VQADD
        moved = (high + (1 << -left >> 1)) >> -left  # VRSHL
        (wanted,) = requantise(np.array([acc], np.int64), requant, 0)
        assert min(max(moved + zero_point, low), 127) == wanted, acc


def test_the_formula_has_scales_and_names_of_its_own() -> None:
    one = Requant(scale=(0.25, 0.5), zero_point=0, low=-128, high=127)
    form = taken_form(one, bounds(100, 100))
    assert form.words.view(np.float32).tolist() == [[0.25, 0.5]] and form.stored == 1 and form.needs() == ()
    twice = taken_form(Requant(scale=(0.25,), zero_point=0, low=-128, high=127, rounding=DoubleRounding()), bounds(100))
    assert twice.stored == 2 and twice.needs() and twice.label != form.label
    assert twice.names()["end"] != form.names()["end"]


def test_what_has_no_form_says_why() -> None:
    large = Requant(scale=(1.5,), zero_point=0, low=-128, high=127, rounding=DoubleRounding())
    assert not isinstance(mve_form(large, bounds(100)), MveForm)
    with pytest.raises(TypeError, match="shifts to the right"):
        taken_form(large, bounds(100))
