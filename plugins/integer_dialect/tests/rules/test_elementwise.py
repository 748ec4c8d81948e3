"""Sums, products, clips, and what the dialect has beside them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from dialect_models import Net, requantised, scalar

Compute = Callable[..., list[Any]]


def test_sums_have_32_bits(compute: Compute) -> None:
    net = Net(1)
    a, b = (net.rng.integers(-128, 128, (3, 4)).astype(np.int8) for _ in "ab")
    names = net.input("a", a.shape), net.input("b", b.shape)
    model = net.model(*(net.node(op, *names) for op in ("Add", "Sub", "Mul")), net.node("Neg", names[0]))
    wide = a.astype(int), b.astype(int)
    for found, expected in zip(
        compute(model, {"a": a, "b": b}),
        (wide[0] + wide[1], wide[0] - wide[1], wide[0] * wide[1], -wide[0]),
        strict=True,
    ):
        assert found.dtype == np.int32
        np.testing.assert_array_equal(found, expected)


def test_a_sum_between_requantisations(compute: Compute) -> None:
    net = Net(2)
    a, b = (net.rng.integers(-128, 128, (3, 4)).astype(np.int8) for _ in "ab")
    names = net.input("a", a.shape), net.input("b", b.shape)
    sums = net.node("Add", net.shift(names[0], 150, 3), net.shift(names[1], 90, -7))
    model = net.model(net.shift(sums, 200, 5, signed=0))
    total = requantised(a, 150, 3, 256, -128, 127) + requantised(b, 90, -7, 256, -128, 127)
    np.testing.assert_array_equal(compute(model, {"a": a, "b": b})[0], requantised(total, 200, 5, 256, 0, 255))


def test_requantized_add_has_three_stages(compute: Compute) -> None:
    net = Net(3)
    a, b = (net.rng.integers(-128, 128, (3, 4)).astype(np.int8) for _ in "ab")
    words = {
        "rqs1_mul": 150,
        "rqs1_add": 131,
        "rqs1_div": scalar(256),
        "rqsOut_mul": 3,
        "rqsOut_div": 4,
        "rqsOut_add": 2,
    }
    model = net.model(net.node("RequantizedAdd", net.input("a", a.shape), net.input("b", b.shape), **words))
    total = requantised(a, 150, 3, 256, -128, 127) + b.astype(int)
    np.testing.assert_array_equal(compute(model, {"a": a, "b": b})[0], requantised(total, 3, 0, 4, -128, 127))


def test_a_constant_quotient_is_a_factor(compute: Compute) -> None:
    net = Net()
    x = np.arange(-128, 128, dtype=np.int8)
    model = net.model(net.node("TrueIntegerDiv", net.input("x", (256,)), Delta=16384, eps=1, eta=200000, y=2))
    np.testing.assert_array_equal(compute(model, {"x": x})[0], x.astype(int) * 8191)


def test_no_norm_rounds_down(compute: Compute) -> None:
    net = Net(4)
    x = net.rng.integers(-128, 128, (2, 3, 5)).astype(np.int8)
    w, b = net.rng.integers(-99, 99, (3, 5)), net.rng.integers(-999, 999, 5)
    numbers = {"D": scalar(4096), "mul": scalar(42), "n_levels": scalar(256)}
    model = net.model(net.node("iNoNorm", net.input("x", x.shape), net.constant(w), net.constant(b), **numbers))
    expected = np.clip(((x * w + b) * 42) >> 12, -128, 127)
    np.testing.assert_array_equal(compute(model, {"x": x})[0], expected)


def test_merged_activations_have_the_half_in_their_addend(compute: Compute) -> None:
    net = Net(5)
    x = np.arange(-128, 128, dtype=np.int8)
    numbers = {"div": 1 << 14, "n_levels": 256, "signed": 1}
    given = net.input("x", (256,)), net.constant(7), net.constant(100 + (1 << 13))
    words = {"three": 122, "six": 244, "one_over_six": 42}
    gelu = net.node("RequantizediGELU", *given, b=-40, one=1743, **numbers)
    found = compute(net.model(net.node("RequantizediHardswish", *given, **words, **numbers), gelu), {"x": x})
    acc = x.astype(int) * (np.clip(x.astype(int) + 122, 0, 244) * 42)
    np.testing.assert_array_equal(found[0], requantised(acc, 7, 100, 1 << 14, -128, 127))
    curve = np.where(x < 0, -1, 1) * (1743 - (np.minimum(abs(x.astype(int)), 40) - 40) ** 2)
    np.testing.assert_array_equal(found[1], requantised(x * ((1743 + curve) >> 1), 7, 100, 1 << 14, -128, 127))


@pytest.mark.parametrize("opset", [6, 13])
def test_clips_keep_the_type(opset: int, compute: Compute) -> None:
    net = Net()
    x = np.arange(-128, 128, dtype=np.int8)
    given = net.input("x", (256,))
    if opset == 6:
        clip = net.node("Clip", given, min=-3.0, max=9.0)
    else:
        clip = net.node("Clip", given, net.constant(-3), net.constant(9))
    found = compute(
        net.model(
            clip,
            net.node("Relu", given),
            net.node("RequantShift", clip, net.constant(1), net.constant(0), div=1),
            opset=13,
        ),
        {"x": x},
    )
    assert found[0].dtype == found[1].dtype == np.int8
    np.testing.assert_array_equal(found[0], np.clip(x, -3, 9))
    np.testing.assert_array_equal(found[1], np.maximum(x, 0))


def test_a_sum_that_may_wrap_around_is_told(read_in: Callable[..., Any]) -> None:
    net = Net()
    x = net.input("x", (4,))
    wide = net.node("Mul", net.node("Mul", net.node("Mul", x, x), net.node("Mul", x, x)), x)
    (warning,) = read_in(net.model(wide)).diagnostics
    assert warning.code == "TW1252" and "-34,359,738,368 to" in warning.details[0]
