"""Operators whose sums are requantised: their ranges, and a function that changes only how."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tilewright.builtin import tilewright_operators
from tilewright.ir.graphs.graph import Attribute
from tilewright.ir.tensors.requant import Requant, StoredScales
from tilewright.operators.arithmetics.sums import both_sides, requantised
from tilewright.operators.quantised.qrescale import QRESCALE
from tilewright.operators.quantised.sum_ranges import BOUNDS
from tilewright.testing.operator_sites import site_of

STORED = StoredScales(x=0.5, y=0.25)
REQUANT = Requant(scale=(0.5,), zero_point=0, low=-128, high=127, stored=STORED)


@pytest.mark.parametrize(("op", "shapes", "constants", "highest"), [
    ("QMul", [(4,), (4,)], (), 128 * 128), ("QMatMul", [(2, 3), (3, 2)], (), 3 * 128 * 128),
    ("QReduceMean", [(4, 6)], (), 24 * 127), ("QGemm", [(1, 3), (3, 1)], (1,), 3 * 127),
])  # fmt: skip
def test_the_range_of_sums_goes_with_their_scales(
    op: str, shapes: list[tuple[int, ...]], constants: tuple[int, ...], highest: int
) -> None:
    operator = next(each for each in tilewright_operators() if each.name == op)
    attributes: dict[str, Attribute] = {"requant": REQUANT, "b_zero_point": (0,) if op == "QGemm" else 0}
    site = site_of(operator, [np.ones(shape, np.int8) for shape in shapes], attributes, constants)
    told = []
    answer = requantised(lambda *each: told.append(each) or replace(each[0], scale=(0.125,)))(site)
    assert answer == {"requant": replace(REQUANT, scale=(0.125,))}
    assert told == [(REQUANT, STORED, BOUNDS[op](site))]
    assert max(BOUNDS[op](site).highest) == highest
    assert requantised(lambda *each: "no")(site) == "no"


def test_both_sides_of_a_zero_point_are_changed() -> None:
    values = np.ones(4, np.int16)
    above, below = replace(REQUANT, zero_point=3), replace(REQUANT, zero_point=5)
    site = site_of(QRESCALE, [values], {"requant": above, "negative": below})
    answer = both_sides(lambda requant, *_: replace(requant, scale=(0.125,)))(site)
    assert answer == {"requant": replace(above, scale=(0.125,)), "negative": replace(below, scale=(0.125,))}
    assert both_sides(lambda requant, *_: "no")(site) == "no"
    unknown = site_of(QRESCALE, [values], {"requant": replace(above, stored=None)})
    assert both_sides(lambda requant, *_: requant)(unknown) == "the scales of the file are not known here"
