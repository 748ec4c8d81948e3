"""What looks at whole rows; its numbers are in the tests of the operators."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from dialect_models import Net


@pytest.mark.parametrize("form", ["attribute", "input"])
def test_sums_along_axes_have_32_bits(form: str, compute: Callable[..., list[Any]]) -> None:
    net = Net()
    x = net.rng.integers(-128, 128, (3, 4, 5)).astype(np.int8)
    given = net.shift(net.input("x", x.shape), 1, 0, 1)
    if form == "attribute":
        total = net.node("ReduceSum", given, axes=[1], keepdims=0)
    else:
        total = net.node("ReduceSum", given, net.constant([1], np.int64), keepdims=0)
    (found,) = compute(net.model(total), {"x": x})
    assert found.dtype == np.int32
    np.testing.assert_array_equal(found, x.astype(int).sum(axis=1))


def test_rows_of_more_than_8_bits_are_refused(read_in: Callable[..., Any]) -> None:
    net = Net()
    x = net.input("x", (4,))
    with pytest.raises(Exception, match="cannot be taken") as caught:
        read_in(net.model(net.node("ITAMax", net.node("Mul", x, x), n_levels=256)))
    assert "more than 8 bits" in str(caught.value)


def test_groups_of_nothing_are_refused(read_in: Callable[..., Any]) -> None:
    net = Net()
    with pytest.raises(Exception, match="cannot be taken") as caught:
        read_in(net.model(net.node("ITAPartialMax", net.input("x", (4,)), n_levels=256, group_width=0)))
    assert "groups of 0" in str(caught.value)
