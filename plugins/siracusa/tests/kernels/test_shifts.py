"""Words that finish sums: the same numbers as the rounding's own, for every sum, and refusals that say why."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tilewright.api.graph import MultiplyShift, Requant, requantise
from tilewright.api.kernel import AccumulatorBounds
from tilewright_siracusa.kernels.shifts import ShiftWords, shift_words

LOW, HIGH = (-(2**20),) * 3, (2**20,) * 3
BOUNDS = AccumulatorBounds(lowest=LOW, highest=HIGH, partial_lowest=LOW, partial_highest=HIGH)


def _requant(multiplier: tuple[int, ...], addend: tuple[int, ...], zero_point: int = 0, **more: Any) -> Requant:
    rounding = MultiplyShift(multiplier=multiplier, addend=addend, **{"shift": (12,), **more})
    scale = tuple(number / 4096 for number in multiplier)
    return Requant(scale=scale, zero_point=zero_point, low=-128, high=127, rounding=rounding)


@pytest.mark.parametrize("rounding", ["half-up", "floor"])
def test_sums_are_finished_by_one_word(rounding: Any) -> None:
    requant = _requant((3, 65535, 700), (-(2**30), 5, 123456), rounding=rounding)
    words = shift_words(requant, BOUNDS)
    assert isinstance(words, ShiftWords)
    sums = np.random.default_rng(1).integers(-(2**20), 2**20, (500, 3))
    bits = words.words.astype(np.uint32).astype(np.int64)
    moved = (sums + words.moved) * (bits & 0xFFFF) + (bits >> 16)
    wrapped = ((moved + 2**31) & 0xFFFFFFFF) - 2**31
    np.testing.assert_array_equal(np.clip(wrapped >> words.shift, -128, 127), requantise(sums, requant, -1))


@pytest.mark.parametrize("zero_point", [-128, 7, 127])
def test_a_zero_point_is_part_of_what_is_added(zero_point: int) -> None:
    requant = _requant((3, 2000, 700), (-(2**20), 5, 1234), zero_point)
    words = shift_words(requant, BOUNDS)
    assert isinstance(words, ShiftWords)
    sums = np.random.default_rng(1).integers(-(2**20), 2**20, (500, 3))
    bits = words.words.astype(np.uint32).astype(np.int64)
    moved = (sums + words.moved) * (bits & 0xFFFF) + (bits >> 16)
    np.testing.assert_array_equal(np.clip(moved >> words.shift, -128, 127), requantise(sums, requant, -1))


def test_a_zero_point_beside_sums_that_may_wrap_around_is_refused() -> None:
    assert shift_words(_requant((3, 65535, 700), (0,), 1), BOUNDS) == "sums and their zero point may leave 32 bits"


def test_another_rounding_has_no_words() -> None:
    assert shift_words(Requant(scale=(0.5,), zero_point=0, low=0, high=1), BOUNDS) is None


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"multiplier": (0, 1, 1)}, "between 1 and 65535"),
        ({"multiplier": (1, 1, 65536)}, "between 1 and 65535"),
        ({"shift": (1, 2, 3)}, "different numbers"),
        ({"rounding": "half-even"}, "halves to even"),
        ({"addend": (2**31,), "multiplier": (1,) * 3, "bits": 64}, "may leave 32 bits"),
        ({"overflow": "saturates"}, "that saturates"),
        ({"bits": 40}, "a register of 40 bits"),
    ],
)
def test_refusals_say_why(changes: Any, reason: str) -> None:
    words = {"multiplier": (3, 4, 5), "addend": (0,), **changes}
    found = shift_words(_requant(words.pop("multiplier"), words.pop("addend"), **words), BOUNDS)
    assert isinstance(found, str) and reason in found


def test_registers_of_64_bits_are_taken() -> None:
    assert isinstance(shift_words(_requant((9999,) * 3, (2**40,), bits=64), BOUNDS), ShiftWords)
