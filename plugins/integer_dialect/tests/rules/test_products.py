"""Convolutions and products on whole numbers, with what is behind them: exact, and one step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from dialect_models import Net, requantised, scalar

Compute = Callable[..., list[Any]]


def _images(net: Net, *shape: int) -> Any:
    return net.rng.integers(-128, 128, shape).astype(np.int8)


def _correlated(x: Any, w: Any, pad: int) -> Any:
    padded = np.pad(x.astype(int), [(0, 0), (0, 0), (pad, pad), (pad, pad)])
    windows = np.lib.stride_tricks.sliding_window_view(padded, w.shape[2:], (2, 3))
    return np.einsum("nchwyx,ocyx->nohw", windows, w)


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("signed", [0, 1])
def test_a_convolution_and_its_requantisation(bias: bool, signed: int, compute: Compute, rewritten: Any) -> None:
    net = Net(1)
    x, w = _images(net, 1, 3, 6, 5), net.rng.integers(-128, 128, (4, 3, 3, 3))
    b, mul, add = (
        net.rng.integers(-999, 999, 4),
        net.rng.integers(1, 99, (4, 1, 1)),
        net.rng.integers(-9999, 9999, (4, 1, 1)),
    )
    more = (net.constant(b),) if bias else ()
    sums = net.node("Conv", net.input("x", x.shape), net.constant(w), *more, pads=[1] * 4, kernel_shape=[3, 3])
    model = net.model(net.shift(sums, mul, add, 1 << 12, signed=signed))
    acc = _correlated(x, w, 1) + (b.reshape(1, 4, 1, 1) if bias else 0)
    low, high = (-128, 127) if signed else (0, 255)
    np.testing.assert_array_equal(compute(model, {"x": x})[0], requantised(acc, mul, add, 1 << 12, low, high))
    assert [node.op for node in rewritten(model).nodes] == ["QConv"]


def test_a_border_of_unsigned_values_is_zero(compute: Compute) -> None:
    net = Net(2)
    x, w = net.rng.integers(0, 256, (1, 2, 4, 4)).astype(np.uint8), net.rng.integers(-9, 9, (3, 2, 3, 3))
    sums = net.node("Conv", net.input("x", x.shape), net.constant(w), pads=[1] * 4)
    found = compute(net.model(sums), {"x": x}, {"x": "uint8"})[0]
    np.testing.assert_array_equal(found, _correlated(x, w, 1))


@pytest.mark.parametrize(("alpha", "beta"), [(1, 1), (2, 3)])
def test_gemm_with_factors_and_turned_operands(alpha: int, beta: int, compute: Compute) -> None:
    net = Net(3)
    a, b, c = _images(net, 7, 4), net.rng.integers(-128, 128, (7, 5)), net.rng.integers(-99, 99, 5)
    given = (net.input("a", a.shape), net.constant(b), net.constant(c))
    model = net.model(net.node("Gemm", *given, alpha=float(alpha), beta=float(beta), transA=1))
    expected = alpha * (a.astype(int).T @ b) + beta * c
    np.testing.assert_array_equal(compute(model, {"a": a})[0], expected)


@pytest.mark.parametrize("per_column", [False, True])
def test_a_product_with_weights_is_one_step(per_column: bool, compute: Compute, rewritten: Any) -> None:
    net = Net(4)
    x, w, b = _images(net, 3, 8), net.rng.integers(-128, 128, (8, 6)), net.rng.integers(-999, 999, 6)
    mul, add = (net.rng.integers(1, 99, 6 if per_column else ()) for _ in "ma")
    sums = net.node("Add", net.node("MatMul", net.input("x", x.shape), net.constant(w)), net.constant(b))
    model = net.model(net.shift(sums, mul, add, 1 << 10))
    expected = requantised(x.astype(int) @ w + b, mul, add, 1 << 10, -128, 127)
    np.testing.assert_array_equal(compute(model, {"x": x})[0], expected)
    (node,) = rewritten(model).nodes
    assert node.op == "QGemm" and node.rounding == "multiply-shift" and node.requant().rounding.bits == 32


def test_numbers_that_leave_32_bits_are_held_in_64(compute: Compute, rewritten: Any) -> None:
    net = Net(5)
    x, w = np.full((1, 64), -128, np.int8), np.full((64, 2), -128)
    model = net.model(net.shift(net.node("MatMul", net.input("x", x.shape), net.constant(w)), 2**20, 0, 2**34))
    expected = requantised(x.astype(int) @ w, 2**20, 0, 2**34, -128, 127)
    np.testing.assert_array_equal(compute(model, {"x": x})[0], expected)
    assert rewritten(model).nodes[0].requant().rounding.bits == 64


def test_two_computed_operands_are_one_step(compute: Compute, rewritten: Any) -> None:
    net = Net(6)
    a, b = _images(net, 2, 3, 4), _images(net, 2, 4, 5)
    model = net.model(net.shift(net.node("MatMul", net.input("a", a.shape), net.input("b", b.shape)), 5, 77, 1 << 9))
    expected = requantised(a.astype(int) @ b.astype(int), 5, 77, 1 << 9, -128, 127)
    np.testing.assert_array_equal(compute(model, {"a": a, "b": b})[0], expected)
    assert [node.op for node in rewritten(model).nodes] == ["QMatMul"]


def test_numbers_for_each_row_stay_two_steps(compute: Compute, rewritten: Any) -> None:
    net = Net(7)
    x, w, mul = _images(net, 5, 4), net.rng.integers(-128, 128, (4, 6)), net.rng.integers(1, 99, (5, 1))
    model = net.model(net.shift(net.node("MatMul", net.input("x", x.shape), net.constant(w)), mul, 0, 1 << 9))
    expected = requantised(x.astype(int) @ w, mul, 0, 1 << 9, -128, 127)
    np.testing.assert_array_equal(compute(model, {"x": x})[0], expected)
    assert [node.op for node in rewritten(model).nodes] == ["MatMulInteger", "integer.Shift"]


def test_merged_operators_have_the_half_in_their_addend(compute: Compute) -> None:
    net = Net(8)
    x, w = _images(net, 1, 2, 4, 4), net.rng.integers(-128, 128, (3, 2, 1, 1))
    mul, add = net.rng.integers(1, 99, (3, 1, 1)), net.rng.integers(-99, 99, (3, 1, 1))
    numbers = {"div": scalar(256), "n_levels": scalar(256), "signed": scalar(1)}
    given = (net.input("x", x.shape), net.constant(w), net.constant(mul), net.constant(add + 128))
    a, b = _images(net, 3, 4), net.rng.integers(-128, 128, (4, 2))
    gemm = net.node(
        "RequantizedGemm", net.input("a", a.shape), net.constant(b), net.constant(3), net.constant(128), **numbers
    )
    found = compute(net.model(net.node("RequantizedConv", *given, **numbers), gemm), {"x": x, "a": a})
    np.testing.assert_array_equal(found[0], requantised(_correlated(x, w, 0), mul, add, 256, -128, 127))
    np.testing.assert_array_equal(found[1], requantised(a.astype(int) @ b, 3, 0, 256, -128, 127))


def test_operands_of_more_than_8_bits_are_refused(read_in: Callable[..., Any]) -> None:
    net = Net()
    x = net.input("x", (2, 3))
    wide = net.node("Add", x, x)
    with pytest.raises(Exception, match="cannot be taken") as caught:
        read_in(net.model(net.node("MatMul", wide, net.weights(3, 4))))
    assert "holds -256 to 254, more than 8 bits" in str(caught.value)
