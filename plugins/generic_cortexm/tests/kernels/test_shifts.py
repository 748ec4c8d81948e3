"""The numbers of what multiplies, adds and shifts: with them a sum becomes its result, exactly."""

from __future__ import annotations

from typing import Literal

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tilewright.api.graph import MultiplyShift, Rational, Requant, requantise
from tilewright.api.kernel import AccumulatorBounds
from tilewright_cortexm.kernels.shifts import divides, multiplies_and_shifts, quotient_numbers, shift_numbers


def bounds(*reach: int) -> AccumulatorBounds:
    low = tuple(-each for each in reach)
    return AccumulatorBounds(lowest=low, highest=reach, partial_lowest=low, partial_highest=reach)


def requant(rounding: MultiplyShift, zero_point: int = 0) -> Requant:
    scales = tuple(m / 2.0 ** rounding.shift[0] for m in rounding.multiplier)
    return Requant(scale=scales, zero_point=zero_point, low=-128, high=127, rounding=rounding)


@given(
    multiplier=st.integers(0, 2000), addend=st.integers(-(2**20), 2**20), shift=st.integers(0, 20),
    kind=st.sampled_from(["floor", "half-up"]), zero_point=st.integers(-128, 127), data=st.data(),
)  # fmt: skip
def test_they_compute_what_the_rounding_does(
    multiplier: int, addend: int, shift: int, kind: Literal["floor", "half-up"], zero_point: int, data: st.DataObject
) -> None:
    rounding = MultiplyShift(multiplier=(multiplier,), addend=(addend,), shift=(shift,), rounding=kind)
    one, reach = requant(rounding, zero_point), 10**5
    found = shift_numbers(one, bounds(reach))
    assert not isinstance(found, str) and found[0].reach == reach
    for acc in [-reach, reach, -1, 0, 1, *data.draw(st.lists(st.integers(-reach, reach), max_size=20))]:
        value = ((acc * found[0].multiplier + found[0].addend) >> found[0].shift) + zero_point
        (wanted,) = requantise(np.array([acc], np.int64), one, 0)
        assert min(max(value, -128), 127) == wanted, acc


def test_one_number_is_that_of_every_channel() -> None:
    found = shift_numbers(requant(MultiplyShift(multiplier=(3, 5), addend=(7,), shift=(4,))), bounds(9, 10))
    assert not isinstance(found, str)
    assert [(one.multiplier, one.addend, one.shift, one.reach) for one in found] == [(3, 15, 4, 9), (5, 15, 4, 10)]


def test_what_has_none_says_why() -> None:
    def reason(
        reach: int = 100, multiplier: int = 3, bits: int = 32, kind: Literal["floor", "half-even"] = "floor"
    ) -> str:
        rounding = MultiplyShift(multiplier=(multiplier,), shift=(4,), rounding=kind, bits=bits)
        return str(shift_numbers(requant(rounding), bounds(reach)))

    assert "halves go to even" in reason(kind="half-even")
    assert "negative" in reason(multiplier=-3)
    assert "leave its register of 32 bits" in reason(2**30)
    assert "register" not in reason(2**30, bits=64)
    plain = Requant(scale=(0.5,), zero_point=0, low=-128, high=127)
    assert shift_numbers(plain, bounds(9)) == "does not multiply, add and shift" and not multiplies_and_shifts(plain)


@given(divisor=st.integers(1, 3000), each=st.sampled_from([128, 255]), data=st.data())
def test_quotients_take_halves_away_from_zero(divisor: int, each: int, data: st.DataObject) -> None:
    rounding, reach = Rational(numerator=(1,), denominator=(divisor,), halves="away"), each * divisor
    one = Requant(scale=(1 / divisor,), zero_point=0, low=-256, high=255, rounding=rounding)
    found = quotient_numbers(one, bounds(reach))
    assert divides(one) and not isinstance(found, str)
    halves = [(2 * whole + 1) * divisor // 2 + beside for whole in (-each, -1, 0, each - 1) for beside in (-1, 0, 1)]
    drawn = data.draw(st.lists(st.integers(-reach, reach), max_size=20))
    for acc in [-reach, reach, *(acc for acc in halves if abs(acc) <= reach), *drawn]:
        (wanted,) = requantise(np.array([acc], np.int64), one, 0)
        assert (acc * found[0].multiplier + found[0].addend) >> found[0].shift == wanted, acc


def test_other_quotients_have_none() -> None:
    for rounding in (
        Rational(numerator=(1,), denominator=(9,)), Rational(numerator=(2,), denominator=(9,), halves="away")
    ):  # fmt: skip
        one = Requant(scale=(0.1,), zero_point=0, low=-128, high=127, rounding=rounding)
        assert quotient_numbers(one, bounds(9)) == "is no quotient whose halves go away from zero"
    far = Rational(numerator=(1, 1), denominator=(1, 2**20), halves="away")
    one = Requant(scale=(1.0, 2.0**-20), zero_point=0, low=-128, high=127, rounding=far)
    assert "does not fit 32 bits" in str(quotient_numbers(one, bounds(128, 2**27)))
