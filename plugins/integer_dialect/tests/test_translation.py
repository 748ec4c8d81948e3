"""A whole network of the dialect: types of inputs and outputs, warnings, refusals, and what it computes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from dialect_models import Net, requantised

from tilewright.errors import Exit, TilewrightError


def _small() -> Net:
    net = Net(7)
    sums = net.node("Conv", net.input("x", (1, 2, 6, 6)), net.weights(4, 2, 3, 3), kernel_shape=[3, 3])
    value = net.shift(sums, net.rng.integers(1, 99, (4, 1, 1)), 77, 1 << 12, signed=0)
    pooled = net.node("MaxPool", value, kernel_shape=[2, 2], strides=[2, 2])
    net.node("Gemm", net.node("Flatten", pooled), net.weights(5, 16), net.weights(5), transB=1)
    return net


def test_types_follow_from_what_nodes_mean(read_in: Callable[..., Any]) -> None:
    net = _small()
    graph = read_in(net.model("v4", "v1"), {"x": "uint8"}).graph
    assert [graph.tensors[name].dtype.value for name in (*graph.inputs, *graph.outputs)] == ["u8", "i32", "u8"]


def test_an_input_whose_type_nobody_says_is_int8_and_that_is_told(read_in: Callable[..., Any]) -> None:
    found = read_in(_small().model("v4"), {"x": ""})
    assert found.graph.tensors["x"].dtype.value == "i8"
    (warning,) = found.diagnostics
    assert warning.code == "TW1251" and "--io-type x=uint8" in warning.fix[0]


def test_nodes_may_stand_in_any_order(compute: Callable[..., list[Any]]) -> None:
    net = _small()
    x = net.rng.integers(-128, 128, (1, 2, 6, 6)).astype(np.int8)
    before = compute(net.model("v4"), {"x": x})
    net.nodes.reverse()
    np.testing.assert_array_equal(before[0], compute(net.model("v4"), {"x": x})[0])


def test_all_refusals_are_shown_together(read_in: Callable[..., Any]) -> None:
    net = Net()
    x = net.input("x", (4,))
    both = net.node("Sin", x), net.shift(x, 1, 0, 100)
    with pytest.raises(TilewrightError) as caught:
        read_in(net.model(net.node("Add", *both)))
    assert caught.value.exit_code is Exit.UNSUPPORTED and caught.value.code == "TW2101"
    assert "no meaning on whole numbers" in str(caught.value) and "div is 100" in str(caught.value)


def test_an_output_that_is_a_byte_is_one(compute: Callable[..., list[Any]]) -> None:
    net = Net()
    x = np.arange(0, 256, dtype=np.uint8)
    (found,) = compute(net.model(net.shift(net.input("x", (256,)), 1, 0, 2)), {"x": x}, {"x": "uint8"})
    assert found.dtype == np.int8
    np.testing.assert_array_equal(found, requantised(x, 1, 0, 2, -128, 127))
