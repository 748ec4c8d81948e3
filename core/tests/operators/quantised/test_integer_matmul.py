"""MatMulInteger: the C against sums of Python integers, in any layout and tile; zero points that are computed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tilewright.errors import TilewrightError
from tilewright.operators.quantised.integer_matmul import KERNELS, OPERATORS
from tilewright.testing.kernels.kernel_checks import kernel_errors
from tilewright.testing.operator_sites import site_of

(PRODUCT,), (KERNEL,) = OPERATORS, KERNELS


def numbers(random: np.random.Generator, dtype: str, *shape: int) -> np.ndarray:
    info = np.iinfo(dtype)
    return random.integers(info.min, info.max + 1, shape).astype(dtype)


@pytest.mark.parametrize(("a_type", "b_type"), [("int8", "uint8"), ("uint8", "int8"), ("uint8", "uint8")])
@pytest.mark.parametrize(("rows", "columns"), [(None, None), (1, 1), (4, 1), (1, 5), (4, 5), (None, 5)])
def test_any_layout_and_tile(rows: int | None, columns: int | None, a_type: str, b_type: str, tmp_path: Path) -> None:
    random = np.random.default_rng(7)
    a, b = numbers(random, a_type, 3, 1, 4, 6), numbers(random, b_type, 2, 6, 5)
    zeros = [
        None if count is None else numbers(random, kind, count) for count, kind in ((rows, a_type), (columns, b_type))
    ]
    inputs = [a, b, *zeros]
    site = site_of(PRODUCT, inputs, constants=(1,) if columns else ())
    assert kernel_errors(PRODUCT, KERNEL, site, inputs, random, tmp_path) == []


def test_sums_wrap_around() -> None:
    a, b = np.full((1, 70000), 255, np.uint8), np.full((70000, 1), 255, np.uint8)
    (y,) = PRODUCT.reference(site_of(PRODUCT, [a, b]), [a, b])
    assert y.tolist() == [[70000 * 255 * 255 - 2**32]]


@pytest.mark.parametrize(
    ("shapes", "reason"), [(((2, 3), (4, 5)), "must be equal"), (((2, 2, 3), (3, 3, 5)), "do not broadcast")]
)
def test_shapes_that_do_not_fit(shapes: tuple[tuple[int, ...], ...], reason: str) -> None:
    with pytest.raises(TilewrightError, match=reason):
        site_of(PRODUCT, [np.zeros(shape, np.int8) for shape in shapes])


def test_zero_points_that_do_not_fit() -> None:
    a, b = np.zeros((2, 3), np.int8), np.zeros((3, 4), np.int8)
    with pytest.raises(TilewrightError, match="one element, or 4"):
        site_of(PRODUCT, [a, b, None, np.zeros(3, np.int8)])
    with pytest.raises(TilewrightError, match="is i8"):
        site_of(PRODUCT, [a, b, np.zeros(1, np.uint8)])
