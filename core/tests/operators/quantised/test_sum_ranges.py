"""Every integer operator that is requantised has a range of its sums."""

from __future__ import annotations

import numpy as np

from tilewright.builtin import tilewright_operators
from tilewright.ir.tensors.requant import Requant
from tilewright.operators.quantised.sum_ranges import BOUNDS
from tilewright.testing.operator_sites import site_of


def test_each_is_an_operator_of_integers() -> None:
    names = {operator.name for operator in tilewright_operators()}
    assert set(BOUNDS) <= names and all(name.startswith("Q") for name in BOUNDS)


def test_a_product_of_two_bytes() -> None:
    operator = next(each for each in tilewright_operators() if each.name == "QMul")
    requant = Requant(scale=(0.5,), zero_point=0, low=-128, high=127)
    site = site_of(operator, [np.zeros(2, np.int8), np.zeros(2, np.uint8)], {"requant": requant, "b_zero_point": 128})
    bounds = BOUNDS["QMul"](site)
    assert (bounds.lowest, bounds.highest) == ((-128 * 127,), (128 * 128,))
