"""LpPool, MaxUnpool and Col2Im: beside numpy, window by window, and onnx's own reference."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from onnx import helper

from tilewright.errors import TilewrightError

Both = Callable[..., tuple[list[np.ndarray], list[np.ndarray]]]


def numbers(*shape: int) -> np.ndarray:
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(np.float32)


@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("ceil_mode", [0, 1])
def test_a_sum_of_powers(beside_onnx: Both, order: int, ceil_mode: int) -> None:
    x, pads, stride, taps = numbers(1, 2, 7, 6), (1, 0, 0, 1), (2, 3), (3, 2)
    node = helper.make_node(
        "LpPool", ["x"], ["y"], p=order, kernel_shape=taps, strides=stride, pads=pads, ceil_mode=ceil_mode
    )
    (found,), (theirs,) = beside_onnx(node, {"x": x}, opset=18)
    padded = np.pad(np.abs(x.astype(np.float64)), ((0, 0), (0, 0), (1, 4), (0, 5)))
    assert found.shape == theirs.shape
    for n, c, h, w in np.ndindex(found.shape):
        window = padded[n, c, h * stride[0] : h * stride[0] + taps[0], w * stride[1] : w * stride[1] + taps[1]]
        assert found[n, c, h, w] == pytest.approx((window**order).sum() ** (1 / order), rel=1e-5)


@pytest.mark.parametrize("order", [1, 2, 4])
def test_one_window_over_everything(beside_onnx: Both, order: int) -> None:
    x = numbers(2, 3, 4, 5)
    node = helper.make_node("GlobalLpPool", ["x"], ["y"], p=order)
    (found,), _ = beside_onnx(node, {"x": x}, opset=18, theirs=False)
    expected = (np.abs(x.astype(np.float64)) ** order).sum(axis=(2, 3), keepdims=True) ** (1 / order)
    assert np.allclose(found, expected, rtol=1e-5)


def test_an_order_that_is_none(beside_onnx: Both) -> None:
    node = helper.make_node("LpPool", ["x"], ["y"], p=0, kernel_shape=[2])
    with pytest.raises(TilewrightError, match="greater than 0"):
        beside_onnx(node, {"x": numbers(1, 1, 4)}, opset=18)


@pytest.mark.parametrize("shape", [None, (1, 2, 4, 6), (1, 2, 5, 7)])
def test_elements_back_where_they_were(beside_onnx: Both, shape: tuple[int, ...] | None) -> None:
    places = np.array([[[[0, 2], [13, 23]], [[25, 27], [36, 40]]]])
    node = helper.make_node(
        "MaxUnpool", ["x", "i", *(["s"] if shape else [])], ["y"], kernel_shape=[2, 3], strides=[2, 3]
    )
    constants = {"s": np.array(shape)} if shape else {}
    (found,), (expected,) = beside_onnx(node, {"x": numbers(1, 2, 2, 2), "i": places}, constants, opset=11)
    assert np.array_equal(found, expected)


@pytest.mark.parametrize(
    ("image", "block", "attributes"),
    [
        ((5, 5), (1, 5), {}),
        ((6, 5), (2, 3), {"strides": [2, 1], "pads": [1, 0, 1, 2]}),
        ((7, 6), (2, 2), {"dilations": [2, 1], "strides": [3, 2]}),
        ((9,), (3,), {"strides": [2]}),
        ((3, 4, 5), (1, 2, 2), {}),
    ],
)
def test_blocks_added_up(
    beside_onnx: Both, image: tuple[int, ...], block: tuple[int, ...], attributes: dict[str, list[int]]
) -> None:
    rank = len(image)
    strides, dilations = (attributes.get(name, [1] * rank) for name in ("strides", "dilations"))
    pads = attributes.get("pads", [0] * 2 * rank)
    counts = [
        (image[at] + pads[at] + pads[rank + at] - (block[at] - 1) * dilations[at] - 1) // strides[at] + 1
        for at in range(rank)
    ]
    x = numbers(2, 3 * int(np.prod(block)), int(np.prod(counts)))
    constants = {"i": np.array(image), "b": np.array(block)}
    node = helper.make_node("Col2Im", ["x", "i", "b"], ["y"], **attributes)
    (found,), (expected,) = beside_onnx(node, {"x": x}, constants, opset=18)
    assert found.shape == expected.shape and np.allclose(found, expected, atol=1e-5)


def test_blocks_that_do_not_make_the_image(beside_onnx: Both) -> None:
    constants = {"i": np.array([5, 5]), "b": np.array([2, 2])}
    with pytest.raises(TilewrightError, match="do not make its input"):
        beside_onnx(helper.make_node("Col2Im", ["x", "i", "b"], ["y"]), {"x": numbers(1, 4, 15)}, constants, opset=18)
