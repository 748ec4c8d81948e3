"""MaxPoolIndices: the C against the reference in any layout and tile, the reference against windows one by one."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pytest

from tilewright.operators.pooling.max_pool_indices import KERNELS, OPERATORS
from tilewright.testing.kernels.kernel_checks import kernel_errors
from tilewright.testing.operator_sites import site_of

(POOL,), (KERNEL,) = OPERATORS, KERNELS
WINDOWS = {
    "row": {"kernel_shape": (3,), "strides": (2,), "dilations": (2,), "pads": (2, 1), "ceil_mode": 1},
    "image": {"kernel_shape": (2, 3), "strides": (1, 2), "dilations": (2, 1), "pads": (1, 0, 0, 2), "ceil_mode": 0},
    "volume": {
        "kernel_shape": (2, 1, 2), "strides": (2, 1, 1), "dilations": (1, 1, 1), "pads": (0, 0, 1, 1, 0, 0),
        "ceil_mode": 0,
    },
}  # fmt: skip
SHAPES = {"row": (2, 3, 9), "image": (2, 3, 5, 7), "volume": (1, 2, 4, 3, 5)}


@pytest.mark.parametrize("dtype", ["float32", "int8", "uint8"])
@pytest.mark.parametrize("column_major", [0, 1])
@pytest.mark.parametrize("kind", sorted(WINDOWS))
def test_any_layout_and_tile(kind: str, column_major: int, dtype: str, tmp_path: Path) -> None:
    random = np.random.default_rng(column_major)
    x = random.integers(0, 5, SHAPES[kind]).astype(dtype)
    if dtype == "float32":
        x[x == 4], x[x == 3] = np.nan, -np.inf
    site = site_of(POOL, [x], {**WINDOWS[kind], "column_major": column_major})
    assert kernel_errors(POOL, KERNEL, site, [x], random, tmp_path) == []


@pytest.mark.parametrize("column_major", [0, 1])
def test_places_are_those_of_the_largest(column_major: int) -> None:
    x = np.random.default_rng(3).integers(-9, 9, (2, 2, 4, 5)).astype(np.int8)
    attributes = {"kernel_shape": (2, 2), "strides": (2, 2), "dilations": (1, 1), "pads": (0, 0, 0, 0), "ceil_mode": 0}
    values, places = POOL.reference(site_of(POOL, [x], {**attributes, "column_major": column_major}), [x])
    images = x.transpose(0, 1, 3, 2) if column_major else x
    assert np.array_equal(images.reshape(-1)[places], values)
    for n, c, h, w in product(range(2), range(2), range(2), range(2)):
        assert values[n, c, h, w] == x[n, c, 2 * h : 2 * h + 2, 2 * w : 2 * w + 2].max()


def test_nothing_but_padding() -> None:
    x = np.ones((1, 1, 2), np.uint8)
    attributes = {"kernel_shape": (1,), "strides": (1,), "dilations": (1,), "pads": (1, 0), "ceil_mode": 0}
    values, places = POOL.reference(site_of(POOL, [x], {**attributes, "column_major": 0}), [x])
    assert (values.tolist(), places.tolist()) == ([[[0, 1, 1]]], [[[-1, 0, 1]]])
