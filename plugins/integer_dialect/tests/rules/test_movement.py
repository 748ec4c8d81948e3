"""What only moves elements: types stay, and older forms become those of operator set 18."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from dialect_models import Net
from onnx import TensorProto

Compute = Callable[..., list[Any]]


def _checked(net: Net, name: str, x: Any, expected: Any, compute: Compute, types: Any = None) -> None:
    (found,) = compute(net.model(name), {"x": x}, types)
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(
    ("op", "words", "others", "turned"),
    [
        ("Transpose", {"perm": [2, 0, 1]}, (), lambda x: x.transpose(2, 0, 1)), ("Flatten", {"axis": 2}, (), lambda x:
        x.reshape(6, 4)), ("Reshape", {}, ([4, -1],), lambda x: x.reshape(4, 6)), ("Unsqueeze", {"axes": [1]}, (),
        lambda x: x[:, None]), ("Unsqueeze", {}, ([0],), lambda x: x[None]), ("Squeeze", {"axes": [0]}, (), lambda x:
        x), ("Slice", {"starts": [1], "ends": [3], "axes": [2]}, (), lambda x: x[:, :, 1:3]), ("Slice", {}, ([1],
        [2**62], [2], [2]), lambda x: x[:, :, 1::2]), ("Gather", {"axis": 1}, ([2, 0],), lambda x: x[:, [2, 0]]),
        ("Pad", {"pads": [0, 1, 0, 0, 0, 2], "value": 5.0}, (), lambda x: np.pad(x, [(0, 0), (1, 0), (0, 2)],
        constant_values=5)), ("Pad", {}, ([0, 1, 0, 0, 0, 2],), lambda x: np.pad(x, [(0, 0), (1, 0), (0, 2)])),
        ("Identity", {}, (), lambda x: x),
    ],
)  # fmt: skip
def test_elements_move_and_types_stay(op: str, words: Any, others: Any, turned: Any, compute: Compute) -> None:
    net = Net()
    x = net.rng.integers(-128, 128, (2, 3, 4)).astype(np.int8)
    given = net.shift(net.input("x", x.shape), 1, 0, 1)
    if op == "Squeeze":
        given = net.node("Unsqueeze", given, axes=[0])
    moved = net.node(op, given, *(net.constant(each, np.int64) for each in others), **words)
    _checked(net, moved, x, turned(x), compute)


def test_pools_take_bytes(compute: Compute) -> None:
    net = Net()
    x = net.rng.integers(0, 256, (1, 2, 4, 6)).astype(np.uint8)
    given = net.shift(net.input("x", x.shape), 1, 0, 1, signed=0)
    pooled = net.node("MaxPool", given, kernel_shape=[2, 2], strides=[2, 2])
    _checked(net, pooled, x, x.reshape(1, 2, 2, 2, 3, 2).max(axis=(3, 5)), compute, {"x": "uint8"})


def test_concat_takes_the_type_that_holds_all(compute: Compute) -> None:
    net = Net()
    x = net.rng.integers(-128, 128, (2, 3)).astype(np.int8)
    given = net.input("x", x.shape)
    byte = net.shift(given, 1, 0, 1, signed=0)
    joined = net.node("Concat", given, byte, axis=1)
    expected = np.concatenate([x.astype(np.int32), np.maximum(x, 0).astype(np.int32)], axis=1)
    _checked(net, joined, x, expected, compute)


def test_indices_may_be_an_input(compute: Compute) -> None:
    net = Net()
    x = net.rng.integers(-128, 128, (5, 3)).astype(np.int8)
    given = net.shift(net.input("x", x.shape), 1, 0, 1)
    picked = net.node("Gather", given, net.input("i", (2,), TensorProto.INT64))
    indices = np.array([3, 1], np.int64)
    (found,) = compute(net.model(picked), {"x": x, "i": indices}, {"i": ""})
    np.testing.assert_array_equal(found, x[indices])


def test_axes_that_are_computed_are_refused(read_in: Callable[..., Any]) -> None:
    net = Net()
    x = net.shift(net.input("x", (4,)), 1, 0)
    with pytest.raises(Exception, match="cannot be taken") as caught:
        read_in(net.model(net.node("Reshape", x, net.input("s", (1,), TensorProto.INT64))), {"s": ""})
    assert "input 1 (s) must be a constant" in str(caught.value)
