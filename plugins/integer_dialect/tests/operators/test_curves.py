"""iGELU and iHardswish: C and reference, and a table where a byte becomes a byte."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from dialect_models import Net, requantised


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16])
def test_the_c_is_exact(dtype: Any, right_in_c: Callable[..., list[str]]) -> None:
    limits = np.iinfo(dtype)
    ends = np.array([limits.min, limits.max, 0, 1, 39, 40, 41, 120], np.int64)
    x = np.concatenate([ends, np.random.default_rng(1).integers(-100, 100, 34)]).clip(limits.min, limits.max)
    x = x.reshape(6, 7).astype(dtype)
    assert right_in_c("integer.GELU", [x], {"b": -40, "one": 1743}) == []
    assert right_in_c("integer.GELU", [x], {"b": -60, "one": 11}) == []  # the polynomial falls below 0
    assert right_in_c("integer.Hardswish", [x], {"three": 122, "six": 244, "one_over_six": 42}) == []


def test_gelu_is_what_its_authors_compute(compute: Callable[..., list[Any]]) -> None:
    net, b, one = Net(), -40, 1743
    x = np.arange(-128, 128, dtype=np.int8)
    sign, q = np.sign(x.astype(int)), np.minimum(np.abs(x.astype(int)), -b)
    curve = sign * (one - (q + b) ** 2)
    expected = x.astype(int) * ((one + curve) >> 1)
    np.testing.assert_array_equal(
        compute(net.model(net.node("iGELU", net.input("x", (256,)), b=b, one=one)), {"x": x})[0], expected
    )


def test_a_byte_that_becomes_a_byte_is_a_table(
    compute: Callable[..., list[Any]], rewritten: Callable[..., Any]
) -> None:
    net = Net()
    wide = net.node("iHardswish", net.input("x", (256,)), three=122, six=244, one_over_six=42)
    model = net.model(net.shift(wide, 7, 100, 1 << 14))
    x = np.arange(-128, 128, dtype=np.int8)
    acc = x.astype(int) * (np.clip(x.astype(int) + 122, 0, 244) * 42)
    np.testing.assert_array_equal(compute(model, {"x": x})[0], requantised(acc, 7, 100, 1 << 14, -128, 127))
    assert [node.op for node in rewritten(model).nodes] == ["QLookup"]
