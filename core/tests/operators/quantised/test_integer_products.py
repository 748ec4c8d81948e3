"""MatMulInteger: the C against sums of Python integers, in any layout and tile; zero points that are computed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tilewright.errors import TilewrightError
from tilewright.operators.quantised.integer_products import (
    CONV_INTEGER,
    CONV_INTEGER_PORTABLE,
    MATMUL_INTEGER,
    MATMUL_INTEGER_PORTABLE,
)
from tilewright.testing.kernels.kernel_checks import kernel_errors
from tilewright.testing.operator_sites import site_of


def numbers(random: np.random.Generator, dtype: str, *shape: int) -> np.ndarray:
    info = np.iinfo(dtype)
    return random.integers(info.min, info.max + 1, shape).astype(dtype)


@pytest.mark.parametrize(("a_type", "b_type"), [("int8", "uint8"), ("uint8", "int8"), ("uint8", "uint8")])
@pytest.mark.parametrize(("rows", "columns"), [(None, None), (0, 1), (4, 0), (1, 5), (4, 5), (None, 5)])
def test_any_layout_and_tile(rows: int | None, columns: int | None, a_type: str, b_type: str, tmp_path: Path) -> None:
    random = np.random.default_rng(7)
    a, b = numbers(random, a_type, 3, 1, 4, 6), numbers(random, b_type, 2, 6, 5)
    zeros = [
        None if count is None else numbers(random, kind, *(count,) * bool(count))  # 0: a scalar
        for count, kind in ((rows, a_type), (columns, b_type))
    ]
    inputs = [a, b, *zeros]
    site = site_of(MATMUL_INTEGER, inputs, constants=(1,) if columns else ())
    assert kernel_errors(MATMUL_INTEGER, MATMUL_INTEGER_PORTABLE, site, inputs, random, tmp_path) == []


def test_sums_wrap_around() -> None:
    a, b = np.full((1, 70000), 255, np.uint8), np.full((70000, 1), 255, np.uint8)
    (y,) = MATMUL_INTEGER.reference(site_of(MATMUL_INTEGER, [a, b]), [a, b])
    assert y.tolist() == [[70000 * 255 * 255 - 2**32]]


@pytest.mark.parametrize(
    ("shapes", "reason"), [(((2, 3), (4, 5)), "must be equal"), (((2, 2, 3), (3, 3, 5)), "do not broadcast")]
)
def test_shapes_that_do_not_fit(shapes: tuple[tuple[int, ...], ...], reason: str) -> None:
    with pytest.raises(TilewrightError, match=reason):
        site_of(MATMUL_INTEGER, [np.zeros(shape, np.int8) for shape in shapes])


def test_zero_points_that_do_not_fit() -> None:
    a, b = np.zeros((2, 3), np.int8), np.zeros((3, 4), np.int8)
    with pytest.raises(TilewrightError, match="one element, or 4"):
        site_of(MATMUL_INTEGER, [a, b, None, np.zeros(3, np.int8)])
    with pytest.raises(TilewrightError, match="is i8"):
        site_of(MATMUL_INTEGER, [a, b, np.zeros(1, np.uint8)])


SAME = {"kernel_shape": (3, 3), "strides": (1, 1), "dilations": (1, 1), "pads": (1, 1, 1, 1), "ceil_mode": 0}
UNEVEN = {**SAME, "strides": (2, 1), "dilations": (1, 2), "pads": (0, 2, 1, 1)}


@pytest.mark.parametrize(("x_type", "w_type"), [("int8", "int8"), ("uint8", "int8"), ("uint8", "uint8")])
@pytest.mark.parametrize(("group", "zeros"), [(1, (None, None)), (2, (1, 1)), (4, (1, 4)), (1, (None, 4))])
@pytest.mark.parametrize("windows", [SAME, UNEVEN], ids=["same", "uneven"])
def test_convolutions_any_layout_and_tile(
    windows: dict[str, tuple[int, ...]],
    group: int,
    zeros: tuple[int | None, int | None],
    x_type: str,
    w_type: str,
    tmp_path: Path,
) -> None:
    random = np.random.default_rng(group)
    x, w = numbers(random, x_type, 2, 4, 6, 7), numbers(random, w_type, 4, 4 // group, 3, 3)
    given = [
        None if count is None else numbers(random, kind, count)
        for count, kind in zip(zeros, (x_type, w_type), strict=True)
    ]
    inputs = [x, w, *given]
    site = site_of(CONV_INTEGER, inputs, {**windows, "group": group}, constants=(1,) if group == 1 else ())
    assert kernel_errors(CONV_INTEGER, CONV_INTEGER_PORTABLE, site, inputs, random, tmp_path) == []


def test_padding_is_the_zero_point() -> None:
    x, w = np.full((1, 1, 1, 1), 9, np.uint8), np.ones((1, 1, 3, 3), np.uint8)
    inputs = [x, w, np.array([4], np.uint8)]
    assert CONV_INTEGER.reference(site_of(CONV_INTEGER, inputs, {**SAME, "group": 1}), inputs)[0].tolist() == [[[[5]]]]


def test_convolutions_zero_points_that_do_not_fit() -> None:
    x, w = np.zeros((1, 2, 5, 5), np.int8), np.zeros((3, 2, 3, 3), np.int8)
    with pytest.raises(TilewrightError, match="one or 3"):
        site_of(CONV_INTEGER, [x, w, None, np.zeros(2, np.int8)], {**SAME, "group": 1})
    with pytest.raises(TilewrightError, match="is i8"):
        site_of(CONV_INTEGER, [x, w, np.zeros(1, np.uint8)], {**SAME, "group": 1})
