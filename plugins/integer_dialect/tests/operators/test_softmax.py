"""iSoftmax and ITAMax: C, reference, and what their authors compute."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from dialect_models import Net, scalar

NUMBERS = {"coeffA": 1, "coeffB": 86, "coeffC": 3888, "log2": 64, "n_levels": 256}
WORDS = {"coeffa": 1, "coeffb": 86, "coeffc": 3888, "log2": 64, "levels": 256}


@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
def test_the_c_is_exact(dtype: Any, right_in_c: Callable[..., list[str]]) -> None:
    limits = np.iinfo(dtype)
    x = np.random.default_rng(2).integers(limits.min, limits.max + 1, (3, 4, 20)).astype(dtype)
    x[0, 0], x[0, 1] = limits.min, limits.max
    assert right_in_c("integer.Softmax", [x], WORDS) == []
    assert right_in_c("integer.Softmax", [x], {**WORDS, "log2": 3, "coeffb": 4, "coeffc": 9, "levels": 128}) == []
    wide = {**WORDS, "coeffa": 90, "coeffc": 2**30}  # powers and sums beyond 32 bits
    assert right_in_c("integer.Softmax", [x], wide) == []
    assert right_in_c("integer.Softmax", [x], {**WORDS, "coeffb": -20}) == []
    assert right_in_c("integer.ITAMax", [x], {"group": 0, "levels": 256}) == []
    assert right_in_c("integer.ITAMax", [x], {"group": 7, "levels": 256}) == []


def test_a_row_is_what_its_authors_compute(compute: Callable[..., list[Any]]) -> None:
    net = Net()
    x = net.rng.integers(-128, 128, (5, 9)).astype(np.int8)
    model = net.model(
        net.node("iSoftmax", net.input("x", (5, 9)), **{name: scalar(value) for name, value in NUMBERS.items()})
    )
    (found,) = compute(model, {"x": x})
    for row, result in zip(x.astype(int).tolist(), found.tolist(), strict=True):
        powers = []
        for value in row:
            distance = value - max(row)
            times = max(0, min(31, int(-distance / 64)))
            p = distance + times * 64
            powers.append((1 * (p + 86) ** 2 + 3888) >> times)
        assert result == [power * 255 // sum(powers) for power in powers]


def test_groups_that_arrive_in_turns(compute: Callable[..., list[Any]]) -> None:
    net = Net(4)
    x = net.rng.integers(-128, 128, (4, 32)).astype(np.int8)
    model = net.model(net.node("ITAPartialMax", net.input("x", (4, 32)), group_width=16, n_levels=scalar(256)))
    (found,) = compute(model, {"x": x})
    for row, result in zip(x.astype(int), found, strict=True):
        largest, total = -128, 0
        for part in (row[:16], row[16:]):
            own = int(part.max())
            total >>= ((own - largest + 16) >> 5) if own > largest else 0
            largest = max(largest, own)
            total += int((256 >> ((largest - part + 16) >> 5)).sum())
        np.testing.assert_array_equal(result, (127 * 256 // total) >> ((largest - row + 16) >> 5))


def test_coefficients_that_may_divide_by_zero_are_refused(read_in: Callable[..., Any]) -> None:
    net = Net()
    model = net.model(net.node("iSoftmax", net.input("x", (5, 9)), **{**NUMBERS, "coeffB": 0, "coeffC": 0}))
    with pytest.raises(Exception, match="coefficients 1, 0, 0"):
        read_in(model)
