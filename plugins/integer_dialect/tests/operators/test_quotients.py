"""IntegerMean and IntegerDiv: C, reference, and what their authors compute."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from dialect_models import Net


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32])
@pytest.mark.parametrize("count", [8, 7])
def test_the_c_of_means_is_exact(dtype: Any, count: int, right_in_c: Callable[..., list[str]]) -> None:
    x = np.random.default_rng(6).integers(0 if dtype is np.uint8 else -100, 100, (3, count, 5)).astype(dtype)
    assert right_in_c("integer.Mean", [x], {}) == []


def test_the_c_of_quotients_is_exact(right_in_c: Callable[..., list[str]]) -> None:
    rng = np.random.default_rng(7)
    a, b = rng.integers(-5000, 5000, (3, 4, 6)).astype(np.int32), rng.integers(0, 300, (4, 1)).astype(np.int32)
    assert right_in_c("integer.Div", [a, b], {"delta": 256, "eta": 7, "eps": 1}) == []


@pytest.mark.parametrize("op", ["IntegerMean", "ReduceMean"])
@pytest.mark.parametrize(("axes", "keepdims"), [([1], 0), ([-1], 1), ([1, 2], 1), ([0, 2], 0)])
def test_means_go_to_the_nearest(op: str, axes: list[int], keepdims: int, compute: Callable[..., list[Any]]) -> None:
    net = Net(8)
    x = net.rng.integers(-128, 128, (3, 4, 5)).astype(np.int8)
    sums = x.astype(int).sum(axis=tuple(axes), keepdims=bool(keepdims))
    count = int(np.prod([x.shape[axis] for axis in axes]))
    if count & (count - 1):
        expected = np.sign(sums) * ((np.abs(sums) + count // 2) // count)
    else:
        expected = (sums + count // 2) >> (count.bit_length() - 1)
    model = net.model(net.node(op, net.input("x", x.shape), axes=axes, keepdims=keepdims))
    np.testing.assert_array_equal(compute(model, {"x": x})[0], expected)


def test_quotients_go_to_the_nearest(compute: Callable[..., list[Any]]) -> None:
    net = Net(9)
    a, b = net.rng.integers(-128, 128, (4, 6)).astype(np.int8), net.rng.integers(0, 128, (4, 1)).astype(np.int8)
    bounded = net.node("Relu", net.input("b", b.shape))
    model = net.model(net.node("IntegerDiv", net.input("a", a.shape), bounded, Delta=256, eps=1, eta=7))
    above, below = 256 * 7 * a.astype(int), 7 * b.astype(int) + 1
    expected = np.sign(above) * ((np.abs(above) + below // 2) // below)
    np.testing.assert_array_equal(compute(model, {"a": a, "b": b})[0], expected)


def test_a_divisor_that_may_be_zero_is_refused(read_in: Callable[..., Any]) -> None:
    net = Net()
    model = net.model(net.node("IntegerDiv", net.input("a", (4,)), net.input("b", (4,)), Delta=2, eps=1, eta=7))
    with pytest.raises(Exception, match="cannot be taken") as caught:
        read_in(model)
    assert "its divisor may be -895" in str(caught.value)
