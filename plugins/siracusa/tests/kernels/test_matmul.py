"""Products of two computed tensors of bytes on the cluster: right, and not deeper than sums of 32 bits allow."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tilewright.api.graph import Requant
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
