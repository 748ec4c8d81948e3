"""`pulp-shift` and a unit of a vendor: the numbers that layers get, and results beside the formula."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import numpy.typing as npt

from tilewright.arithmetic.shift_unit import ShiftUnit
from tilewright.ir.graphs.graph import Attribute
from tilewright.ir.tensors.requant import Requant, StoredScales
from tilewright.ir.tensors.roundings import MultiplyShift
from tilewright.operators.arithmetics.shifts import PULP_SHIFT, shift_arithmetic
from tilewright.operators.quantised.qgemm import QGEMM
from tilewright.testing.operator_sites import site_of

RNG = np.random.default_rng(5)
STORED = StoredScales(x=float(np.float32(0.05)), w=(float(np.float32(0.02)), float(np.float32(0.009))), y=0.125)
REQUANT = Requant(scale=(0.008, 0.0036), zero_point=4, low=-128, high=127, stored=STORED)
ZEROS: dict[str, Attribute] = {"a_zero_point": -3, "b_zero_point": (0,), "requant": REQUANT}
A, B = (RNG.integers(-128, 128, shape).astype(np.int8) for shape in ((7, 50), (50, 2)))


def numbers(attributes: object) -> MultiplyShift:
    assert isinstance(attributes, dict)
    rounding = attributes["requant"].rounding
    assert isinstance(rounding, MultiplyShift)
    return rounding


def test_products_are_shifted_in_32_bits() -> None:
    answer = PULP_SHIFT.declared(site_of(QGEMM, [A, B, None], ZEROS, (1,)))
    assert not isinstance(answer, str)
    made = numbers(answer)
    (shift,) = made.shift
    assert made.multiplier == tuple(round(ratio * 2**shift) for ratio in STORED.ratios())
    sums: npt.NDArray[np.int64] = (A.astype(np.int64) + 3) @ B.astype(np.int64)
    products = sums * np.array(made.multiplier) + 2 ** (shift - 1)
    assert np.abs(products).max() < 2**31
    expected = np.clip((products >> shift) + 4, -128, 127)
    site = site_of(QGEMM, [A, B, None], {**ZEROS, **answer}, (1,))
    assert np.array_equal(QGEMM.reference(site, [A, B, None])[0], expected)


def test_a_unit_of_a_vendor() -> None:
    unit = ShiftUnit(multiplier_bits=8, rounding="floor", shift_per_channel=True)
    made = numbers(shift_arithmetic("acme", "8 bits", unit).declared(site_of(QGEMM, [A, B, None], ZEROS, (1,))))
    assert max(made.multiplier) < 256 <= 2 * min(made.multiplier) + 2
    for multiplier, addend, shift, ratio in zip(made.multiplier, made.addend, made.shift, STORED.ratios(), strict=True):
        assert addend == 2 ** (shift - 1)
        assert abs(Fraction(multiplier, 2**shift) / ratio - 1) < Fraction(1, 200)


def test_a_register_that_is_too_small_is_a_reason() -> None:
    tiny = shift_arithmetic("tiny", "8 bits", ShiftUnit(bits=8))
    assert "within 8 bits" in str(tiny.declared(site_of(QGEMM, [A, B, None], ZEROS, (1,))))
