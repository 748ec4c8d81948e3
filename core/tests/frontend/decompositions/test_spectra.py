"""Spectra as products with constant matrices: beside onnx's own reference, for every attribute and odd lengths."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from onnx import helper

from tilewright.errors import TilewrightError

Both = Callable[..., tuple[list[np.ndarray], list[np.ndarray]]]


def near(pair: tuple[list[np.ndarray], list[np.ndarray]]) -> bool:
    ((found,), (expected,)) = pair
    same = (found.dtype, found.shape) == (expected.dtype, expected.shape)
    return same and bool(np.allclose(found, expected, rtol=1e-4, atol=1e-4))


def signal(*shape: int) -> np.ndarray:
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(np.float32)


@pytest.mark.parametrize("length", [None, 5, 8, 11])
@pytest.mark.parametrize(("axis", "shape"), [(1, (2, 8, 3)), (-2, (2, 3, 7)), (0, (6, 2))])
@pytest.mark.parametrize("inverse", [0, 1])
@pytest.mark.parametrize(("onesided", "parts"), [(0, 1), (0, 2), (1, None)])
def test_dft(
    beside_onnx: Both,
    onesided: int,
    parts: int | None,
    inverse: int,
    axis: int,
    shape: tuple[int, ...],
    length: int | None,
) -> None:
    constants = {"a": np.array(axis)} | ({"n": np.array(length)} if length else {})
    node = helper.make_node("DFT", ["x", "n" if length else "", "a"], ["y"], inverse=inverse, onesided=onesided)
    x = signal(*shape, parts or (2 if inverse else 1))
    assert near(beside_onnx(node, {"x": x}, constants, opset=20))


def test_the_axis_was_an_attribute(beside_onnx: Both) -> None:
    node = helper.make_node("DFT", ["x"], ["y"], axis=2)
    assert near(beside_onnx(node, {"x": signal(2, 3, 6, 1)}, opset=17))


@pytest.mark.parametrize(("axis", "reason"), [(2, "no axis of the signal"), (7, "no axis of the signal")])
def test_an_axis_that_is_none(beside_onnx: Both, axis: int, reason: str) -> None:
    node = helper.make_node("DFT", ["x"], ["y"], axis=axis)
    with pytest.raises(TilewrightError, match=reason):
        beside_onnx(node, {"x": signal(2, 3, 1)}, opset=17)


@pytest.mark.parametrize("onesided", [0, 1])
@pytest.mark.parametrize("window", ["none", "constant", "computed"])
@pytest.mark.parametrize(("length", "step"), [(8, 3), (7, 7), (5, 1)])
def test_stft(beside_onnx: Both, length: int, step: int, window: str, onesided: int) -> None:
    constants = {"s": np.array(step), "n": np.array(length)}
    given = {"x": signal(2, 29, 1)}
    (given if window == "computed" else constants).update({"w": np.hanning(length + 2)[1:-1].astype(np.float32)})
    names = ["x", "s", "" if window == "none" else "w", "n"]
    if window == "none":
        del constants["w"]
    node = helper.make_node("STFT", names, ["y"], onesided=onesided)
    assert near(beside_onnx(node, given, constants, opset=17))


@pytest.mark.parametrize("parameters", [(8, 64, 8000, 0.0, 4000.0), (20, 257, 16000, 80.0, 7600.0)])
def test_mel_weights(beside_onnx: Both, parameters: tuple[float, ...]) -> None:
    values = [np.array(value, np.float32 if isinstance(value, float) else np.int64) for value in parameters]
    constants = dict(zip("abcde", values, strict=True))
    node = helper.make_node("MelWeightMatrix", list(constants), ["m"])
    (found,), (expected,) = beside_onnx(node, {}, constants, opset=17)
    assert found.shape == expected.shape and np.allclose(found, expected)
