"""Operators over whole axes, changes of scale, and changes of type."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from flat_models import G, T, constant, file_of, one_operator

from tilewright.errors import TilewrightError

RANDOM = np.random.default_rng(11)
FLOATS = RANDOM.normal(size=(1, 3, 4, 2)).astype(np.float32)


@pytest.mark.parametrize(("op", "function"), [("MEAN", np.mean), ("SUM", np.sum), ("REDUCE_MAX", np.max)])
@pytest.mark.parametrize("kept", [False, True])
def test_reductions_of_floats(
    op: str, function: Callable[..., Any], kept: bool, compute: Callable[..., list[Any]]
) -> None:
    wanted = function(FLOATS, (1, 2), keepdims=kept)
    x, y = T(name="x", type="float32", shape=FLOATS.shape), T(name="y", type="float32", shape=wanted.shape)
    graph = one_operator(op, [x, constant(np.int32([-2, 1])), y], kind=27, options={0: ("<B", int(kept))})
    assert np.allclose(compute(graph, FLOATS)[0], wanted, atol=1e-5)


def test_means_of_integers_are_one_step(compute: Callable[..., list[Any]], rewritten: Callable[[bytes], Any]) -> None:
    x, y = T(name="x", shape=(1, 4, 4, 3), scale=(0.5,), zero=(3,)), T(name="y", shape=(1, 3), scale=(0.25,), zero=(0,))
    graph = one_operator("MEAN", [x, constant(np.int32([1, 2])), y], kind=27, options={})
    numbers = RANDOM.integers(-128, 128, (1, 4, 4, 3)).astype(np.int8)
    wanted = np.clip(np.rint((numbers.astype(np.float64).mean((1, 2)) - 3) * 0.5 / 0.25), -128, 127)
    assert compute(graph, numbers)[0].tolist() == wanted.tolist()
    assert [node.op for node in rewritten(file_of(graph)).nodes] == ["QReduceMean"]


def test_extremes_of_integers_are_those_of_what_is_stored(compute: Callable[..., list[Any]]) -> None:
    x, y = T(name="x", shape=(2, 3), scale=(0.5,), zero=(3,)), T(name="y", shape=(2,), scale=(0.5,), zero=(3,))
    graph = one_operator("REDUCE_MAX", [x, constant(np.int32(1)), y], kind=27, options={})
    assert compute(graph, np.int8([[1, -5, 0], [-7, -9, -8]]))[0].tolist() == [1, -7]


def test_whether_any_is_true(compute: Callable[..., list[Any]]) -> None:
    x, y = T(name="x", type="bool", shape=(2, 3)), T(name="y", type="bool", shape=(2,))
    graph = one_operator("REDUCE_ANY", [x, constant(np.int32([1])), y], kind=27, options={})
    assert compute(graph, np.array([[False, True, False], [False] * 3]))[0].tolist() == [True, False]


@pytest.mark.parametrize("kind", ["int32", "int64"])
def test_places_of_extremes(kind: str, compute: Callable[..., list[Any]]) -> None:
    x, y = T(name="x", shape=(2, 3)), T(name="y", type=kind, shape=(2,))
    graph = one_operator("ARG_MAX", [x, constant(np.int32(-1)), y], kind=40, options={0: ("<b", 2)})
    (places,) = compute(graph, np.int8([[1, 5, 5], [7, -9, -8]]))
    assert places.tolist() == [1, 0] and places.dtype == kind


@pytest.mark.parametrize("beta", [1.0, 0.5])
def test_softmax_has_a_temperature(beta: float, compute: Callable[..., list[Any]]) -> None:
    x, y = T(name="x", type="float32", shape=(1, 3)), T(name="y", type="float32", shape=(1, 3))
    numbers = np.float32([[1, 2, 4]])
    (got,) = compute(one_operator("SOFTMAX", [x, y], kind=9, options={0: ("<f", beta)}), numbers)
    powers = np.exp(beta * numbers)
    assert np.allclose(got, powers / powers.sum(), atol=1e-6)
    (logs,) = compute(one_operator("LOG_SOFTMAX", [x, y]), numbers)
    assert np.allclose(logs, numbers - np.log(np.exp(numbers).sum()), atol=1e-5)


def test_norms(compute: Callable[..., list[Any]]) -> None:
    x, y = T(name="x", type="float32", shape=(2, 2)), T(name="y", type="float32", shape=(2, 2))
    (got,) = compute(one_operator("L2_NORMALIZATION", [x, y], kind=12, options={}), np.float32([[3, 4], [0, 0]]))
    assert np.allclose(got, [[0.6, 0.8], [0, 0]])


@pytest.mark.parametrize("exclusive", [False, True])
@pytest.mark.parametrize("reverse", [False, True])
def test_running_sums(exclusive: bool, reverse: bool, compute: Callable[..., list[Any]]) -> None:
    x, y = T(name="x", type="float32", shape=(3,)), T(name="y", type="float32", shape=(3,))
    options = {0: ("<B", int(exclusive)), 1: ("<B", int(reverse))}
    graph = one_operator("CUMSUM", [x, constant(np.int32(0)), y], kind=102, options=options)
    way = np.float32([1, 2, 4])[:: -1 if reverse else 1]
    wanted = (np.cumsum(way) - (way if exclusive else 0))[:: -1 if reverse else 1]
    assert compute(graph, np.float32([1, 2, 4]))[0].tolist() == wanted.tolist()


def test_quantised_and_back(compute: Callable[..., list[Any]]) -> None:
    floats, stored = T(name="x", type="float32", shape=(3,)), T(name="q", shape=(3,), scale=(0.5,), zero=(-1,))
    assert compute(one_operator("QUANTIZE", [floats, stored]), np.float32([0, 1, 99]))[0].tolist() == [-1, 1, 127]
    assert compute(one_operator("DEQUANTIZE", [stored, floats]), np.int8([-1, 1, 127]))[0].tolist() == [0, 1, 64]
    other = T(name="r", shape=(3,), type="uint8", scale=(1.0,), zero=(128,))
    assert compute(one_operator("QUANTIZE", [stored, other]), np.int8([-1, 1, 127]))[0].tolist() == [128, 129, 192]


def test_numbers_of_32_bits_have_scales_too(compute: Callable[..., list[Any]]) -> None:
    stored, wide = (
        T(name="q", shape=(3,), scale=(0.5,), zero=(-1,)),
        T(name="w", type="int32", shape=(3,), scale=(0.25,), zero=(3,)),
    )
    assert compute(one_operator("QUANTIZE", [stored, wide]), np.int8([-1, 1, 127]))[0].tolist() == [3, 7, 259]
    floats = T(name="x", type="float32", shape=(3,))
    assert compute(one_operator("DEQUANTIZE", [wide, floats]), np.int32([3, 7, 259]))[0].tolist() == [0, 1, 64]


def test_types(compute: Callable[..., list[Any]]) -> None:
    x, y = T(name="x", type="float32", shape=(2,)), T(name="y", type="int32", shape=(2,))
    assert compute(one_operator("CAST", [x, y]), np.float32([1.7, -2.7]))[0].tolist() == [1, -2]


@pytest.mark.parametrize(
    ("graph", "said"),
    [
        (one_operator("QUANTIZE", [T(name="x", type="float32"), T(name="y", type="float32")]), "is quantised"),
        (one_operator("QUANTIZE", [T(name="x", type="float32"), T(name="y", type="int32")]), "has no scale"),
        (
            one_operator("QUANTIZE", [T(name="x", type="float32"), T(name="y", scale=(0.0,), zero=(0,))]),
            "or one that is 0",
        ),
        (
            one_operator("ARG_MAX", [T(name="x", shape=(2,)), constant(np.int32(0)), T(name="y")], kind=40),
            "its output is int8 scalar",
        ),
    ],
)
def test_what_is_refused(graph: G, said: str, compute: Callable[..., list[Any]]) -> None:
    with pytest.raises(TilewrightError) as caught:
        compute(graph, np.zeros((), np.float32))
    assert said in caught.value.details[0]
