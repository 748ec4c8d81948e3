"""What becomes a table of 256, and what does not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from dialect_models import Net


def test_constant_sums_and_products_are_in_the_table(compute: Callable[..., list[Any]], rewritten: Any) -> None:
    net = Net()
    scaled = net.node("Mul", net.node("Add", net.input("x", (256,)), net.constant(7)), net.constant(-3))
    model = net.model(net.shift(scaled, 5, 1, 64, signed=0))
    x = np.arange(-128, 128, dtype=np.int8)
    expected = np.clip((((x.astype(int) + 7) * -3) * 5 + 1 + 32) >> 6, 0, 255)
    np.testing.assert_array_equal(compute(model, {"x": x})[0], expected)
    assert [node.op for node in rewritten(model).nodes] == ["QLookup"]


def test_channels_and_wide_values_are_computed(rewritten: Callable[..., Any]) -> None:
    net = Net()
    each = net.shift(net.input("x", (1, 3, 4, 4)), np.array([1, 2, 3]).reshape(3, 1, 1), 0)
    assert [node.op for node in rewritten(net.model(each)).nodes] == ["integer.Shift"]
    other = Net()
    product = other.node("Mul", *(other.input(name, (4,)) for name in "ab"))
    assert "QLookup" not in [node.op for node in rewritten(other.model(other.shift(product, 1, 0))).nodes]


def test_what_others_read_is_computed_beside_the_table(compute: Callable[..., list[Any]]) -> None:
    net = Net()
    wide = net.node("iHardswish", net.input("x", (256,)), three=3, six=6, one_over_six=2)
    x = np.arange(-128, 128, dtype=np.int8)
    found = compute(net.model(net.shift(wide, 3, 0), wide), {"x": x})
    np.testing.assert_array_equal(found[1], x.astype(int) * np.clip(x.astype(int) + 3, 0, 6) * 2)
    np.testing.assert_array_equal(found[0], np.clip((found[1].astype(int) * 3 + 128) >> 8, -128, 127))
