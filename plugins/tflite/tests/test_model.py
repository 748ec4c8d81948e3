"""Tensors of a file: which have scales, and which have the same."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tilewright_tflite.flatbuffer import Buffer
from tilewright_tflite.model import Operator, Tensor

TENSOR = Tensor(
    index=3,
    name="t",
    type="int8",
    shape=(2, 3),
    scales=np.float32([0.5]),
    zero_points=np.array([4]),
)


def test_integers_with_scales_are_quantised() -> None:
    assert TENSOR.quantised and (TENSOR.scale, TENSOR.zero_point) == (np.float32(0.5), 4)
    assert not replace(TENSOR, type="int32").quantised  # a bias: its scale follows from others
    assert not replace(TENSOR, scales=np.zeros(0, np.float32)).quantised
    assert replace(TENSOR, zero_points=np.zeros(0, np.int64)).zero_point == 0


def test_it_is_constant_where_its_elements_are_in_the_file() -> None:
    assert not TENSOR.constant and replace(TENSOR, data=np.zeros(6, np.uint8)).constant
    assert TENSOR.described == "int8 2x3" and replace(TENSOR, shape=()).described == "int8 scalar"


@pytest.mark.parametrize(
    ("other", "same"),
    [
        (TENSOR, True),
        (replace(TENSOR, shape=(9,)), True),
        (replace(TENSOR, type="uint8"), False),
        (replace(TENSOR, scales=np.float32([0.25])), False),
        (replace(TENSOR, zero_points=np.array([5])), False),
        (replace(TENSOR, scales=np.zeros(0, np.float32)), False),
    ],
)
def test_integers_mean_the_same_where_scales_are_the_same(other: Tensor, same: bool) -> None:
    assert TENSOR.same_scale(other) is same


def test_numbers_without_scales_mean_themselves() -> None:
    plain = replace(TENSOR, scales=np.zeros(0, np.float32), zero_points=np.zeros(0, np.int64))
    assert plain.same_scale(replace(plain, shape=()))


def test_an_operator_has_its_place_in_its_name() -> None:
    options = Buffer(data=b"\x04\x00\x04\x00\x04\x00\x00\x00", tables=1, numbers=0, letters=0, longest_name=0).table(4)
    op = Operator(code="CONV_2D", index=7, version=3, inputs=(), outputs=(), options=options, options_type=1)
    assert op.title == "CONV_2D_7"
