"""iLayerNorm and iRMSNorm: C, reference, and what their authors compute."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from dialect_models import Net, scalar

from tilewright.api.testing import site_of
from tilewright_integer_dialect.operators import norms

RMS_NORM = next(operator for operator in norms.OPERATORS if operator.name == "integer.RMSNorm")

WORDS = {"shift": 10, "low": -128, "high": 127}


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32])
def test_the_c_is_exact(dtype: Any, right_in_c: Callable[..., list[str]]) -> None:
    rng = np.random.default_rng(5)
    x = rng.integers(*((0, 256) if dtype is np.uint8 else (-128, 128)), (2, 3, 17)).astype(dtype)
    x[0, 0], x[1, 2] = 0, 127
    w, b = (rng.integers(-9999, 9999, 17).astype(np.int32) for _ in "wb")
    for constants in ((1, 2), ()):  # 32 bits are enough for bytes where constants are known
        assert right_in_c("integer.LayerNorm", [x, w, b], WORDS, constants) == []
        assert right_in_c("integer.RMSNorm", [x, w], WORDS, constants[:1]) == []


@pytest.mark.parametrize(("largest", "bits"), [(2**23, 32), (2**24, 64)])
def test_32_bits_are_taken_where_no_product_leaves_them(
    largest: int, bits: int, right_in_c: Callable[..., list[str]]
) -> None:
    x, w = np.array([[-128] * 9, [127] * 9, [0] * 8 + [1]], np.int8), np.full(9, -largest, np.int32)
    site = site_of(RMS_NORM, [x, w], WORDS, (1,))
    assert norms._bits(site) == bits
    assert right_in_c("integer.RMSNorm", [x, w], {**WORDS, "shift": 17}, (1,)) == []


def test_rows_are_what_their_authors_compute(compute: Callable[..., list[Any]]) -> None:
    net = Net(1)
    x = net.rng.integers(-128, 128, (6, 13)).astype(np.int8)
    w, b = (net.rng.integers(-5000, 5000, 13) for _ in "wb")
    numbers = {"D": scalar(1024), "n_levels": scalar(256)}
    given = net.input("x", x.shape)
    layer = net.node("iLayerNorm", given, net.constant(w), net.constant(b), **numbers)
    root = net.node("iRMSNorm", given, net.constant(w), D=1024, n_levels=256)
    found = compute(net.model(layer, root), {"x": x})
    for row, first, second in zip(x.astype(int).tolist(), *(each.tolist() for each in found), strict=True):
        mean = int(sum(row) / 13)
        deviation = math.isqrt(sum((v - mean) ** 2 for v in row) // 13 + 1)
        expected = [(int((v - mean) * int(w[i]) / deviation) + int(b[i])) >> 10 for i, v in enumerate(row)]
        assert first == [max(-128, min(127, v)) for v in expected]
        size = math.isqrt(sum(v * v for v in row) // 13 + 1)
        assert second == [max(-128, min(127, int(v * int(w[i]) / size) >> 10)) for i, v in enumerate(row)]
