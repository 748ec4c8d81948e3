"""ConvInteger: the C against exact sums in any layout and tile; padding adds nothing; zero points that are computed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tilewright.errors import TilewrightError
from tilewright.operators.quantised.integer_conv import KERNELS, OPERATORS
from tilewright.testing.kernels.kernel_checks import kernel_errors
from tilewright.testing.operator_sites import site_of

(CONV,), (KERNEL,) = OPERATORS, KERNELS
SAME = {"kernel_shape": (3, 3), "strides": (1, 1), "dilations": (1, 1), "pads": (1, 1, 1, 1), "ceil_mode": 0}
UNEVEN = {**SAME, "strides": (2, 1), "dilations": (1, 2), "pads": (0, 2, 1, 1)}


def numbers(random: np.random.Generator, dtype: str, *shape: int) -> np.ndarray:
    info = np.iinfo(dtype)
    return random.integers(info.min, info.max + 1, shape).astype(dtype)


@pytest.mark.parametrize(("x_type", "w_type"), [("int8", "int8"), ("uint8", "int8"), ("uint8", "uint8")])
@pytest.mark.parametrize(("group", "zeros"), [(1, (None, None)), (2, (1, 1)), (4, (1, 4)), (1, (None, 4))])
@pytest.mark.parametrize("windows", [SAME, UNEVEN], ids=["same", "uneven"])
def test_any_layout_and_tile(
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
    site = site_of(CONV, inputs, {**windows, "group": group}, constants=(1,) if group == 1 else ())
    assert kernel_errors(CONV, KERNEL, site, inputs, random, tmp_path) == []


def test_padding_is_the_zero_point() -> None:
    x, w = np.full((1, 1, 1, 1), 9, np.uint8), np.ones((1, 1, 3, 3), np.uint8)
    inputs = [x, w, np.array([4], np.uint8)]
    assert CONV.reference(site_of(CONV, inputs, {**SAME, "group": 1}), inputs)[0].tolist() == [[[[5]]]]


def test_zero_points_that_do_not_fit() -> None:
    x, w = np.zeros((1, 2, 5, 5), np.int8), np.zeros((3, 2, 3, 3), np.int8)
    with pytest.raises(TilewrightError, match="one or 3"):
        site_of(CONV, [x, w, None, np.zeros(2, np.int8)], {**SAME, "group": 1})
    with pytest.raises(TilewrightError, match="is i8"):
        site_of(CONV, [x, w, np.zeros(1, np.uint8)], {**SAME, "group": 1})
