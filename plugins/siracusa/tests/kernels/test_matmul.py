"""Products of two computed tensors of bytes on the cluster: right, and not deeper than sums of 32 bits allow."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tilewright.api.graph import MultiplyShift, Requant
from tilewright.api.testing import layers_taken, refusal, site_of, vocabulary
from tilewright_siracusa.kernels.matmul import KERNELS


def test_layers_that_are_taken_agree_with_the_reference(tmp_path: Path) -> None:
    assert layers_taken(KERNELS, tmp_path) == {"siracusa.qmatmul": {""}}


@pytest.mark.parametrize(("depth", "taken"), [(8192, True), (8193, False)])
def test_a_product_that_is_too_deep_for_32_bits_is_refused(depth: int, taken: bool) -> None:
    arrays = [np.zeros((2, depth), np.int8), np.zeros((depth, 2), np.int8)]
    requant = Requant(scale=(1e-4,), zero_point=0, low=-128, high=127)
    site = site_of(
        vocabulary()["QMatMul"], arrays,
        {"a_zero_point": 0, "b_zero_point": (0,), "requant": requant, "output_type": "i8"},
    )  # fmt: skip
    assert (refusal(KERNELS[0], site) is None) is taken


@pytest.mark.parametrize("bits", [32, 64])
@pytest.mark.parametrize("shift", [0, 9, 20])
@pytest.mark.parametrize("dtypes", [(np.int8, np.int8), (np.uint8, np.int8), (np.int8, np.uint8)])
def test_sums_that_are_multiplied_and_shifted(bits: int, shift: int, dtypes: Any, check: Any) -> None:
    rng = np.random.default_rng(shift)
    arrays = [
        rng.integers(0, 100, shape).astype(dtype) for shape, dtype in zip(((2, 5, 18), (2, 18, 7)), dtypes, strict=True)
    ]
    numbers = MultiplyShift(multiplier=(77,), addend=(-123456,), shift=(shift,), bits=bits)
    requant = Requant(scale=(77 / 2**shift,), zero_point=0, low=-128, high=100, rounding=numbers)
    words = {"a_zero_point": 3, "b_zero_point": (5,), "requant": requant, "output_type": "i8"}
    operator = vocabulary()["QMatMul"]
    site = site_of(operator, arrays, words)
    assert refusal(KERNELS[0], site) is None
    check(operator, KERNELS[0], site, arrays, rng)
