"""Biases and scales of float32 with which the float unit multiplies, adds and shifts: equal on each sum, or refused."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tilewright.api.graph import DoubleRounding, MultiplyShift, Requant, requantise
from tilewright.api.kernel import AccumulatorBounds
from tilewright_snitch.kernels.byte_rounding import float_parameters


def bounds(*reach: int) -> AccumulatorBounds:
    low = tuple(-each for each in reach)
    return AccumulatorBounds(lowest=low, highest=reach, partial_lowest=low, partial_highest=reach)


def requant(rounding: MultiplyShift, *, zero_point: int = 0, low: int = -128, high: int = 127) -> Requant:
    scale = tuple(m / 2.0 ** rounding.shift[0] for m in rounding.multiplier)
    return Requant(scale=scale, zero_point=zero_point, low=low, high=high, rounding=rounding)


def bias(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


@given(
    multiplier=st.integers(1, 600), addend=st.integers(-(2**20), 2**20), shift=st.integers(6, 16),
    kind=st.sampled_from(["floor", "half-up"]), zero_point=st.integers(-100, 100), own=st.integers(-500, 500),
)  # fmt: skip
def test_what_is_taken_is_equal_on_every_sum(
    multiplier: int, addend: int, shift: int, kind: Literal["floor", "half-up"], zero_point: int, own: int
) -> None:
    rounding = MultiplyShift(multiplier=(multiplier,), addend=(addend,), shift=(shift,), rounding=kind)
    one, reach = requant(rounding, zero_point=zero_point), 40_000
    found = float_parameters(one, bias(own), bounds(reach))
    if isinstance(found, str):
        assert found == "no bias and scale of float32 are equal on every sum"
        return
    totals = np.arange(-reach, reach + 1)
    rounded = np.rint(((totals - own).astype(np.float32) + found[0]) * found[1]).astype(np.int64) + zero_point
    np.testing.assert_array_equal(np.clip(rounded, -128, 127), requantise(totals, one, 0))


def test_the_networks_of_the_pulp_world_are_taken() -> None:
    for multiplier, low, high in ((514, 0, 255), (257, -128, 127)):
        rounding = MultiplyShift(multiplier=(multiplier,), shift=(16,))
        found = float_parameters(requant(rounding, low=low, high=high), bias(0), bounds(2**17))
        assert not isinstance(found, str) and found[1] == np.float32(multiplier / 2**16) and found[0] > 0


def test_the_formula_has_its_own_numbers() -> None:
    plain = Requant(scale=(0.25, 0.5), zero_point=0, low=-128, high=127)
    found = float_parameters(plain, bias(3, -4), bounds(9, 9))
    assert not isinstance(found, str) and found.tolist() == [[3, -4], [0.25, 0.5]]
    assert "is no float32" in str(float_parameters(plain, bias(3, (1 << 26) + 1), bounds(9, 9)))


def test_what_has_none_says_why() -> None:
    def reason(reach: int = 100, multiplier: int = 3, shift: int = 4, **more: Any) -> str:
        rounding = MultiplyShift(multiplier=(multiplier,), shift=(shift,), **more)
        return str(float_parameters(requant(rounding), bias(0), bounds(reach)))

    assert "neither rounded" in reason(rounding="half-even")
    assert "more than floats can prove" in reason(multiplier=0)
    assert "register of 32 bits" in reason(2**30)
    assert "no bias and scale" in reason(2**23, multiplier=(1 << 14) + 1, shift=30, bits=64)
    twice = Requant(scale=(0.5,), zero_point=0, low=-128, high=127, rounding=DoubleRounding())
    assert "neither rounded" in str(float_parameters(twice, bias(0), bounds(9)))
