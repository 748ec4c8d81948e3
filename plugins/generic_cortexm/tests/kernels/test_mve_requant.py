"""What Helium's kernels store: scales, or multipliers and shifts, with which VQRDMULH and VRSHL are the rounding."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tilewright.api.graph import DoubleRounding, MultiplyShift, Requant, requantise
from tilewright.api.kernel import AccumulatorBounds
from tilewright_cortexm.kernels.mve_requant import MveForm, mve_form, taken_form


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


@given(multiplier=st.integers(1, 900), addend=st.integers(-(2**22), 2**22), shift=st.integers(0, 20), data=st.data())
def test_what_is_added_to_and_shifted_is_in_32_bits(
    multiplier: int, addend: int, shift: int, data: st.DataObject
) -> None:
    rounding, reach = MultiplyShift(multiplier=(multiplier,), addend=(addend,), shift=(shift,)), 10**5
    requant = Requant(scale=(multiplier / 2.0**shift,), zero_point=-3, low=-128, high=127, rounding=rounding)
    form = taken_form(requant, bounds(reach))
    assert (form.kind, form.suffix, form.stored) == ("shift", "_shift", 3) and form.needs()
    assert form.described() == {"channels": 1, "rounding": "multiply-shift"}
    (factor,), (added,), (left,) = form.words.astype(object)
    for acc in [-reach, reach, -1, 0, 1, *data.draw(st.lists(st.integers(-reach, reach), max_size=20))]:
        product = acc * factor + added  # VMUL, VADD
        assert -(2**31) <= product < 2**31
        (wanted,) = requantise(np.array([acc], np.int64), requant, 0)
        assert min(max((product >> -left) - 3, -128), 127) == wanted, acc  # VSHL


def test_what_needs_more_than_32_bits_has_no_form() -> None:
    rounding = MultiplyShift(multiplier=(900,), shift=(20,), bits=64)
    requant = Requant(scale=(900 / 2.0**20,), zero_point=0, low=-128, high=127, rounding=rounding)
    assert mve_form(requant, bounds(10**7)) == "a product with its addend needs more than 32 bits"
