"""Moves to computed places, and determinants: beside onnx's own reference."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from onnx import helper

from tilewright.errors import TilewrightError

Both = Callable[..., tuple[list[np.ndarray], list[np.ndarray]]]


def numbers(*shape: int) -> np.ndarray:
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(np.float32)


@pytest.mark.parametrize("time", [0, 1])
@pytest.mark.parametrize("shape", [(4, 5), (5, 3, 2), (3, 4, 2, 2)])
@pytest.mark.parametrize("constant", [True, False])
def test_sequences_reversed(beside_onnx: Both, time: int, shape: tuple[int, ...], constant: bool) -> None:
    lengths = np.random.default_rng(0).integers(1, shape[time] + 1, shape[1 - time])
    node = helper.make_node("ReverseSequence", ["x", "n"], ["y"], time_axis=time, batch_axis=1 - time)
    given = {"x": numbers(*shape)} | ({} if constant else {"n": lengths})
    (found,), (expected,) = beside_onnx(node, given, {"n": lengths} if constant else {}, opset=10)
    assert np.array_equal(found, expected)


def test_axes_that_are_not_the_first_two(beside_onnx: Both) -> None:
    node = helper.make_node("ReverseSequence", ["x", "n"], ["y"], time_axis=2, batch_axis=1)
    with pytest.raises(TilewrightError, match="one must be 0"):
        beside_onnx(node, {"x": numbers(2, 3, 4), "n": np.ones(3, np.int64)}, opset=10)


@pytest.mark.parametrize("mode", ["linear", "circular"])
@pytest.mark.parametrize(("cache", "steps", "axis"), [((3, 4, 5), 2, -2), ((2, 3, 6, 4), 3, 2), ((2, 5), 1, 1)])
def test_steps_into_a_cache(beside_onnx: Both, cache: tuple[int, ...], steps: int, axis: int, mode: str) -> None:
    shape = list(cache)
    shape[axis] = steps
    highest = cache[axis] - steps if mode == "linear" else cache[axis] - 1
    at = np.random.default_rng(1).integers(0, highest + 1, cache[0])
    node = helper.make_node("TensorScatter", ["c", "u", "w"], ["y"], mode=mode, axis=axis)
    (found,), (expected,) = beside_onnx(node, {"c": numbers(*cache), "u": numbers(*shape), "w": at}, opset=24)
    assert np.array_equal(found, expected)


def test_without_places_steps_begin_at_the_front(beside_onnx: Both) -> None:
    node = helper.make_node("TensorScatter", ["c", "u"], ["y"])
    (found,), (expected,) = beside_onnx(node, {"c": numbers(2, 4, 3), "u": numbers(2, 2, 3)}, opset=24)
    assert np.array_equal(found, expected)


@pytest.mark.parametrize("shape", [(1, 1), (2, 2), (3, 3), (2, 4, 3, 3)])
def test_determinants(beside_onnx: Both, shape: tuple[int, ...]) -> None:
    (found,), (expected,) = beside_onnx(helper.make_node("Det", ["x"], ["y"]), {"x": numbers(*shape)}, opset=22)
    assert found.shape == np.shape(expected) and np.allclose(found, expected, atol=1e-5)


def test_a_determinant_of_four_rows(beside_onnx: Both) -> None:
    with pytest.raises(TilewrightError, match="up to 3 rows"):
        beside_onnx(helper.make_node("Det", ["x"], ["y"]), {"x": numbers(4, 4)}, opset=22)


@pytest.mark.parametrize("align", [0, 1])
@pytest.mark.parametrize("size", [(1, 1, 4, 5), (3, 2, 2, 3), (2, 1, 3, 4, 2)])
def test_grids_by_a_matrix(beside_onnx: Both, size: tuple[int, ...], align: int) -> None:
    rank = len(size) - 2
    node = helper.make_node("AffineGrid", ["t", "s"], ["y"], align_corners=align)
    given, constants = {"t": numbers(size[0], rank, rank + 1)}, {"s": np.array(size)}
    (found,), (expected,) = beside_onnx(node, given, constants, opset=20)
    assert found.shape == expected.shape and np.allclose(found, expected, atol=1e-5)


def test_a_matrix_of_another_rank(beside_onnx: Both) -> None:
    node = helper.make_node("AffineGrid", ["t", "s"], ["y"])
    with pytest.raises(TilewrightError, match="theta is"):
        beside_onnx(node, {"t": numbers(1, 3, 4)}, {"s": np.array([1, 1, 4, 5])}, opset=20)
