"""Requantisation in C whatever its rounding: what is called, what is stored for a channel, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from tilewright.arithmetic.bounds import AccumulatorBounds
from tilewright.ir.tensors.requant import ONNX, Requant
from tilewright.ir.tensors.roundings import DoubleRounding, MultiplyShift, Rational, Rounding
from tilewright.operators.shared.c_rounding import (
    c_requant,
    c_rounding,
    c_words,
    channel_words,
    described,
    too_wide,
    words_index,
    words_shape,
)

SHIFT = MultiplyShift(multiplier=(3, 5), shift=(7,), addend=(-1, 2**40), bits=48, rounding="floor")
ROUNDINGS: tuple[Rounding, ...] = (ONNX, DoubleRounding(), Rational(numerator=(1,), denominator=(2**33,)), SHIFT)


def requant(rounding: Rounding) -> Requant:
    return Requant(scale=(0.011, 0.25), zero_point=-3, low=-128, high=127, rounding=rounding)


def bounds_of(reach: int) -> AccumulatorBounds:
    low, high = (-reach,) * 2, (reach,) * 2
    return AccumulatorBounds(lowest=low, highest=high, partial_lowest=low, partial_highest=high)


@pytest.mark.parametrize(("rounding", "call", "at"), [
    (ONNX, "tw_requant_int32(acc, r[o], p)", "r + o"),
    (DoubleRounding(), "tw_requant_tflm(acc, &r[(o) * 2], p)", "r + (o * 2)"),
    (ROUNDINGS[2], "tw_requant_rational_even(acc, &r[(o) * 4], p)", "r + (o * 4)"),
    (SHIFT, "tw_requant_shift_floor_wraps48(acc, &r[(o) * 4], p)", "r + (o * 4)"),
])  # fmt: skip
def test_what_is_called(rounding: Rounding, call: str, at: str) -> None:
    made = c_rounding(requant(rounding))
    assert (made.of("acc", "r", "o", "p"), made.at("r", "o")) == (call, at)
    assert made.handed("acc", made.picked("r", "o"), "p") == call


@pytest.mark.parametrize("rounding", ROUNDINGS)
def test_words_have_their_shape(rounding: Rounding) -> None:
    words = channel_words(requant(rounding), bounds_of(1000), "conv")
    assert words.shape == words_shape(requant(rounding), 2) and words.dtype == np.int32
    assert words_index(requant(rounding), "o") == ("R[o]" if words.ndim == 1 else "R[o,:]")
    assert c_words(words[0]).startswith("(const int32_t[]){" if words.ndim > 1 else ("", "-"))


def test_what_words_hold() -> None:
    assert channel_words(requant(DoubleRounding()), bounds_of(9), "")[1].tolist() == [2**30, -1]
    assert channel_words(requant(ROUNDINGS[2]), bounds_of(9), "")[0].tolist() == [1, 0, 0, 2]
    assert channel_words(requant(SHIFT), bounds_of(9), "").tolist() == [[3, 7, -1, -1], [5, 7, 0, 256]]


def test_what_is_told() -> None:
    assert described(requant(SHIFT), bounds_of(9), "") == {
        "accumulator_bits": 32, "requant": {"channels": 2, "rounding": "multiply-shift"}
    }  # fmt: skip
    assert "proved" in str(described(requant(ONNX), bounds_of(9), ""))
    assert ".fixed = 1, .exact = 1}" in c_requant(requant(ONNX), bounds_of(9), "")
    assert c_requant(requant(SHIFT), bounds_of(9), "") == "{.zero_point = -3, .low = -128, .high = 127}"


@pytest.mark.parametrize(("rounding", "reach", "reason"), [
    (ONNX, 2**50, None), (DoubleRounding(), 2**31 - 1, None), (DoubleRounding(), 2**31, "32 bits"),
    (SHIFT, 2**50, None), (SHIFT, 2**61, "64 bits"), (ROUNDINGS[2], 2**61, None),
    (Rational(numerator=(2**40,), denominator=(3,)), 2**23, "64 bits"),
    (MultiplyShift(multiplier=(2**31,), shift=(1,)), 1, "32 bits"),
    (MultiplyShift(multiplier=(1,), shift=(63,)), 1, "0 to 62"),
])  # fmt: skip
def test_what_portable_c_cannot_do(rounding: Rounding, reach: int, reason: str | None) -> None:
    found = too_wide(requant(rounding), bounds_of(reach))
    assert (found is None) if reason is None else (reason in str(found))
