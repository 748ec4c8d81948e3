"""Operators of one element at a time, by what their numbers are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest
from flat_models import G, Op, T, constant, file_of, one_operator

from tilewright.errors import TilewrightError

X = np.array([[-3.0, -0.5, 0.25, 7.0]], np.float32)
FLOATS = T(name="x", type="float32", shape=(1, 4))
OUT = T(name="y", type="float32", shape=(1, 4))


@pytest.mark.parametrize(
    ("code", "function"),
    [
        ("RELU", lambda x: np.maximum(x, 0)),
        ("RELU6", lambda x: np.clip(x, 0, 6)),
        ("RELU_N1_TO_1", lambda x: np.clip(x, -1, 1)),
        ("RELU_0_TO_1", lambda x: np.clip(x, 0, 1)),
        ("LOGISTIC", lambda x: 1 / (1 + np.exp(-x))),
        ("TANH", np.tanh),
        ("ABS", np.abs),
        ("NEG", np.negative),
        ("EXP", np.exp),
        ("FLOOR", np.floor),
        ("SQUARE", np.square),
        ("HARD_SWISH", lambda x: x * np.clip(x + 3, 0, 6) / 6),
        ("ELU", lambda x: np.where(x > 0, x, np.exp(x) - 1)),
    ],
)
def test_functions_of_one_tensor(code: str, function: Callable[[Any], Any], compute: Callable[..., list[Any]]) -> None:
    (y,) = compute(one_operator(code, [FLOATS, OUT]), X)
    assert np.allclose(y, function(X), rtol=1e-5, atol=1e-6)


def test_slopes(compute: Callable[..., list[Any]]) -> None:
    (y,) = compute(one_operator("LEAKY_RELU", [FLOATS, OUT], kind=75, options={0: ("<f", 0.5)}), X)
    assert y.tolist() == [[-1.5, -0.25, 0.25, 7.0]]
    slope = constant(np.float32([[2, 3, 4, 5]]))
    (y,) = compute(one_operator("PRELU", [FLOATS, slope, OUT]), X)
    assert y.tolist() == [[-6.0, -1.5, 0.25, 7.0]]
    (y,) = compute(one_operator("RSQRT", [FLOATS, OUT]), np.abs(X))
    assert np.allclose(y, 1 / np.sqrt(np.abs(X)), rtol=1e-5)


@pytest.mark.parametrize(
    ("code", "kind", "function"),
    [("ADD", 11, np.add), ("SUB", 28, np.subtract), ("MUL", 21, np.multiply), ("DIV", 29, np.divide)],
)
def test_arithmetic_has_an_activation(
    code: str, kind: int, function: Callable[[Any, Any], Any], compute: Callable[..., list[Any]]
) -> None:
    other = constant(np.float32([[2, -2, 4, 5]]))
    (y,) = compute(one_operator(code, [FLOATS, other, OUT], kind=kind, options={0: ("<b", 1)}), X)
    assert np.allclose(y, np.maximum(function(X, other.data), 0), rtol=1e-6)


@pytest.mark.parametrize(("act", "low", "high"), [(0, -9, 9), (1, 0, 9), (2, -1, 1), (3, 0, 6), (4, -1, 1)])
def test_activations_by_their_numbers(act: int, low: float, high: float, compute: Callable[..., list[Any]]) -> None:
    zero = constant(np.zeros((1, 4), np.float32))
    (y,) = compute(one_operator("ADD", [FLOATS, zero, OUT], kind=11, options={0: ("<b", act)}), X)
    assert np.allclose(y, np.tanh(X) if act == 4 else np.clip(X, low, high), atol=1e-6)


def test_an_activation_of_signs_is_refused(compute: Callable[..., list[Any]]) -> None:
    with pytest.raises(TilewrightError, match="1 of 1 operators cannot") as caught:
        compute(one_operator("ADD", [FLOATS, FLOATS, OUT], inputs=(0, 1), kind=11, options={0: ("<b", 5)}), X, X)
    assert "activation 5 is not known" in caught.value.details[0]


def test_sums_of_quantised_tensors_are_rounded_once(compute: Callable[..., list[Any]]) -> None:
    a = T(name="a", shape=(1, 3), scale=(0.5,), zero=(3,))
    b = constant(np.int8([[10, -20, 127]]), scale=(0.25,), zero=(-4,))
    y = T(name="y", shape=(1, 3), scale=(1.0,), zero=(5,))
    (got,) = compute(one_operator("ADD", [a, b, y], kind=11, options={}), np.int8([[-128, 4, 127]]))
    real = (np.float64([[-128, 4, 127]]) - 3) * 0.5 + (np.float64([[10, -20, 127]]) + 4) * 0.25
    assert got.dtype == np.int8 and got.tolist() == np.clip(np.rint(real) + 5, -128, 127).tolist()


def test_extremes_and_choices_of_equal_scales_are_taken_as_they_are(compute: Callable[..., list[Any]]) -> None:
    a, b, y = (T(name=name, shape=(4,), scale=(0.3,), zero=(7,)) for name in "aby")
    pair = np.int8([1, -5, 127, 0]), np.int8([2, -6, -128, 0])
    assert compute(one_operator("MAXIMUM", [a, b, y], inputs=(0, 1)), *pair)[0].tolist() == [2, -5, 127, 0]
    assert compute(one_operator("MINIMUM", [a, b, y], inputs=(0, 1)), *pair)[0].tolist() == [1, -6, -128, 0]
    which = constant(np.array([True, False, True, False]))
    (chosen,) = compute(one_operator("SELECT_V2", [which, a, b, y], inputs=(1, 2)), *pair)
    assert chosen.tolist() == [1, -6, 127, 0]


def test_comparisons_are_of_what_integers_stand_for(compute: Callable[..., list[Any]]) -> None:
    a, b = T(name="a", shape=(3,), scale=(1.0,), zero=(0,)), T(name="b", shape=(3,), scale=(2.0,), zero=(1,))
    y = T(name="y", type="bool", shape=(3,))
    pair = np.int8([2, 3, -2]), np.int8([2, 2, 0])
    assert compute(one_operator("GREATER", [a, b, y], inputs=(0, 1)), *pair)[0].tolist() == [False, True, False]
    assert compute(one_operator("LESS", [a, b, y], inputs=(0, 1)), *pair)[0].tolist() == [False, False, False]
    assert compute(one_operator("NOT_EQUAL", [a, b, y], inputs=(0, 1)), *pair)[0].tolist() == [False, True, False]


def test_differences_and_many_terms(compute: Callable[..., list[Any]]) -> None:
    three = constant(np.full((1, 4), 3, np.float32))
    (y,) = compute(one_operator("SQUARED_DIFFERENCE", [FLOATS, three, OUT]), X)
    assert np.allclose(y, (X - 3) ** 2)
    (y,) = compute(one_operator("ADD_N", [FLOATS, three, three, OUT]), X)
    assert np.allclose(y, X + 6)


@pytest.mark.parametrize(("code", "function"), [("FLOOR_MOD", np.mod), ("FLOOR_DIV", np.floor_divide)])
@pytest.mark.parametrize("kind", ["int32", "float32"])
def test_quotients_and_remainders_are_rounded_down(
    code: str, function: Callable[[Any, Any], Any], kind: str, compute: Callable[..., list[Any]]
) -> None:
    a = np.array([7, -7, 7, -7, 6, -6, 0, 2**24], kind)
    b = np.array([3, 3, -3, -3, 3, 3, -5, 7], kind)
    tensors = [T(name=name, type=kind, shape=(8,)) for name in "aby"]
    (got,) = compute(one_operator(code, tensors, inputs=(0, 1)), a, b)
    assert got.dtype == a.dtype and got.tolist() == function(a, b).tolist()


def behind_a_pool(code: str, other: T, *, kind: int = 0, quantised: Mapping[str, Any] | None = None) -> G:
    """y = code(pool(x), other), then a pool again; axes of different extents."""
    form: dict[str, Any] = {"shape": (1, 2, 3, 5), **(quantised or {"type": "float32"})}
    tensors = [T(name="x", **form), T(name="p", **form), other, T(name="y", **form), T(name="z", **form)]
    size = {0: ("<b", 0), **dict.fromkeys((1, 2, 3, 4), ("<i", 1))}
    ops = [
        Op(code="MAX_POOL_2D", inputs=(0,), outputs=(1,), options=size, kind=5),
        Op(code=code, inputs=(1, 2), outputs=(3,), options={} if kind else None, kind=kind),
        Op(code="MAX_POOL_2D", inputs=(3,), outputs=(4,), options=size, kind=5),
    ]
    return G(tensors=tensors, ops=ops, inputs=(0,), outputs=(4,))


IMAGE = np.arange(-15, 15, dtype=np.float32).reshape(1, 2, 3, 5)
OTHERS = {
    "image": (IMAGE[:, ::-1], 2),
    "channels": (np.float32([1, -2, 3, -4, 5]).reshape(1, 1, 1, 5), 2),
    "rows": (np.float32([10, 20]).reshape(1, 2, 1, 1), 2),
    "one": (np.float32([7]), 2),
    "last axis": (np.float32([1, -2, 3, -4, 5]), 4),  # of rank 1: aligned with channels that come last
    "two axes": (IMAGE[0, 0], 4),
}


@pytest.mark.parametrize("other", OTHERS)
@pytest.mark.parametrize(("code", "kind", "function"), [("ADD", 11, np.add), ("PRELU", 0, None)])
def test_images_stay_as_their_neighbours_have_them(
    other: str, code: str, kind: int, function: Any, compute: Any, rewritten: Callable[[bytes], Any]
) -> None:
    operand, moves = OTHERS[other]
    data = file_of(behind_a_pool(code, constant(operand), kind=kind))
    (z,) = compute(data, IMAGE)
    expected = np.where(IMAGE < 0, IMAGE * operand, IMAGE) if function is None else function(IMAGE, operand)
    assert np.array_equal(z, expected)
    assert [node.op for node in rewritten(data).nodes].count("Transpose") <= moves


def test_integers_stay_so_too(compute: Any, rewritten: Callable[[bytes], Any]) -> None:
    quantised: dict[str, Any] = {"scale": (0.5,), "zero": (3,)}
    other = constant(np.int8([4, -5, 6, 7, 8]).reshape(1, 1, 1, 5), **quantised)
    data = file_of(behind_a_pool("ADD", other, kind=11, quantised=quantised))
    (z,) = compute(data, IMAGE.astype(np.int8))
    assert np.array_equal(z, IMAGE - 3 + other.data)
    assert [node.op for node in rewritten(data).nodes].count("Transpose") <= 2
