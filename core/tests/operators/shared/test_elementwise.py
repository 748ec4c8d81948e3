"""What operators of two tensors share: broadcasting, one type where they need it, and sharing bytes with an input."""

from __future__ import annotations

import numpy as np
import pytest

from tilewright.errors import TilewrightError
from tilewright.operators.shared.elementwise import Expression, broadcast_output, pair_kernel, pair_operator
from tilewright.testing.operator_sites import site_of

SUM = pair_operator("Sum2", "", lambda site, inputs: (np.add(*inputs),), (), infer=broadcast_output)
SAME = pair_operator("Same2", "", lambda site, inputs: (np.add(*inputs),), ())
KERNEL = pair_kernel("Sum2", lambda site: None, lambda site: Expression(name="sum2", text="a + b"))


def test_shapes_broadcast() -> None:
    assert site_of(SUM, [np.zeros((3, 1)), np.zeros((2, 1, 4))]).output.shape == (2, 3, 4)
    with pytest.raises(TilewrightError, match="do not broadcast"):
        site_of(SUM, [np.zeros(3), np.zeros(4)])


def test_one_type() -> None:
    assert site_of(SUM, [np.zeros(3, np.float32), np.zeros(3, np.int8)]).output.dtype.value == "f32"
    with pytest.raises(TilewrightError, match="one type"):
        site_of(SAME, [np.zeros(3, np.float32), np.zeros(3, np.int8)])


def test_in_place_where_type_and_shape_are_the_outputs() -> None:
    site = site_of(SUM, [np.zeros((3, 4), np.float32), np.zeros((3, 4), np.int32)])
    assert KERNEL.in_place(site) == (("A", "Y"),)
    assert KERNEL.in_place(site_of(SUM, [np.zeros(4), np.zeros((3, 1))])) == ()
