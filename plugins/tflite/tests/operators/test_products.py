"""Products of matrices: of floats, of integers, of both, and biases in steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from flat_models import G, Op, T, constant, file_of, one_operator

from tilewright.errors import TilewrightError

RANDOM = np.random.default_rng(3)
X = RANDOM.integers(-128, 128, (1, 6)).astype(np.int8)
W = RANDOM.integers(-127, 128, (4, 6)).astype(np.int8)


def layer(bias: T, *, x: T | None = None, shape: tuple[int, ...] = (1, 4), w: T | None = None, **options: Any) -> G:
    """y = x w' + bias, quantised."""
    tensors = [
        x or T(name="x", shape=(1, 6), scale=(0.5,), zero=(2,)),
        w or constant(W, scale=(0.25,), zero=(0,)),
        bias,
        T(name="y", shape=shape, scale=(4.0,), zero=(-1,)),
    ]
    return one_operator("FULLY_CONNECTED", tensors, kind=8, options={}, **options)


def wanted(bias: Any, scale: Any = 0.25) -> Any:
    real = ((X.astype(np.int64) - 2) @ W.T.astype(np.int64) + bias) * 0.5 * scale
    return np.clip(np.rint(real / 4) - 1, -128, 127).astype(np.int8)


@pytest.mark.parametrize("kind", [np.int32, np.int64])
def test_a_bias_counts_in_steps_of_both_scales(
    kind: type[Any], compute: Callable[..., list[Any]], rewritten: Callable[[bytes], Any]
) -> None:
    steps = np.array([100, -200, 3000, 0], kind)
    for bias in (constant(steps), constant(steps, scale=(77.0,), zero=(0,))):
        assert compute(layer(bias), X)[0].tolist() == wanted(steps).tolist()
        assert [node.op for node in rewritten(file_of(layer(bias))).nodes] == ["QGemm"]


def test_a_bias_of_more_than_32_bits_is_added_as_real_numbers(compute: Callable[..., list[Any]]) -> None:
    steps = np.array([1 << 40, -(1 << 40), 0, 5], np.int64)
    assert compute(layer(constant(steps)), X)[0].tolist() == wanted(steps).tolist()


def test_scales_for_each_row(compute: Callable[..., list[Any]]) -> None:
    scales = (0.25, 0.5, 0.125, 1.0)
    w = constant(W, scale=scales, zero=(0,) * 4)
    assert compute(layer(constant(np.zeros(4, np.int32)), w=w), X)[0].tolist() == wanted(0, np.array(scales)).tolist()


def test_axes_before_the_last_are_rows(compute: Callable[..., list[Any]]) -> None:
    x = T(name="x", shape=(1, 2, 6), scale=(0.5,), zero=(2,))
    graph = layer(constant(np.zeros(4, np.int32)), x=x, shape=(1, 2, 4))
    (y,) = compute(graph, np.stack([X, X], 1))
    assert y.tolist() == [[wanted(0)[0].tolist()] * 2]


def test_weights_of_8_bits_of_a_float_layer(compute: Callable[..., list[Any]]) -> None:
    tensors = [
        T(name="x", type="float32", shape=(1, 6)),
        constant(W, scale=(0.5,), zero=(0,)),
        T(name="y", type="float32", shape=(1, 4)),
    ]
    x = RANDOM.normal(size=(1, 6)).astype(np.float32)
    (y,) = compute(one_operator("FULLY_CONNECTED", tensors, kind=8, options={}), x)
    assert np.allclose(y, x @ (W.T * np.float32(0.5)), rtol=1e-5, atol=1e-4)


def test_weights_of_4_bits_are_two_to_a_byte(compute: Callable[..., list[Any]]) -> None:
    numbers = np.array([[1, -8, 7], [-1, 0, 3]])
    flat = [int(each) & 15 for each in numbers.reshape(-1)]
    packed = bytes(low | high << 4 for low, high in zip(flat[::2], flat[1::2], strict=True))
    tensors = [
        T(name="x", type="float32", shape=(1, 3)),
        T(name="w", type="int4", shape=(2, 3), scale=(2.0,), zero=(0,), data=packed),
        T(name="y", type="float32", shape=(1, 2)),
    ]
    (y,) = compute(one_operator("FULLY_CONNECTED", tensors, kind=8, options={}), np.float32([[1, 2, 3]]))
    assert y.tolist() == [[12.0, 16.0]]


def test_weights_of_4_bits_of_an_integer_layer_stay_packed(rewritten: Callable[[bytes], Any]) -> None:
    flat = [int(each) & 15 for each in np.random.default_rng(4).integers(-8, 8, 24)]
    packed = bytes(low | high << 4 for low, high in zip(flat[::2], flat[1::2], strict=True))
    w = T(name="w", type="int4", shape=(4, 6), scale=(0.25,), zero=(0,), data=packed)
    steps = np.array([100, -200, 3000, 0], np.int32)
    (node,) = [node for node in rewritten(file_of(layer(constant(steps), w=w))).nodes if node.op == "QGemm"]
    assert node.integer("weight_bits") == 4


def test_weights_of_16_bits_behind_their_dequantisation(compute: Callable[..., list[Any]]) -> None:
    w = np.float16([[1, 2.5, -3]])
    tensors = [
        T(name="x", type="float32", shape=(1, 3)),
        constant(w, "w16"),
        T(name="w", type="float32", shape=(1, 3)),
        T(name="y", type="float32", shape=(1, 1)),
    ]
    ops = [
        Op(code="DEQUANTIZE", inputs=(1,), outputs=(2,)),
        Op(code="FULLY_CONNECTED", inputs=(0, 2), outputs=(3,), options={}, kind=8),
    ]
    (y,) = compute(G(tensors=tensors, ops=ops, inputs=(0,), outputs=(3,)), np.float32([[1, 2, 3]]))
    assert y.tolist() == [[-3.0]]


def test_products_of_what_is_computed(compute: Callable[..., list[Any]]) -> None:
    a, b = RANDOM.normal(size=(2, 3, 4)).astype(np.float32), RANDOM.normal(size=(2, 5, 4)).astype(np.float32)
    tensors = [T(name=name, type="float32", shape=each.shape) for name, each in (("a", a), ("b", b))]
    tensors.append(T(name="y", type="float32", shape=(2, 3, 5)))
    graph = one_operator("BATCH_MATMUL", tensors, inputs=(0, 1), kind=101, options={1: ("<B", 1)})
    assert np.allclose(compute(graph, a, b)[0], a @ b.transpose(0, 2, 1), atol=1e-5)
    tensors = [T(name="a", type="float32", shape=(3, 4)), T(name="b", type="float32", shape=(5, 4))]
    tensors.append(T(name="y", type="float32", shape=(3, 5)))
    graph = one_operator("FULLY_CONNECTED", tensors, inputs=(0, 1), kind=8, options={})
    assert np.allclose(compute(graph, a[0], b[0])[0], a[0] @ b[0].T, atol=1e-5)


@pytest.mark.parametrize(
    ("graph", "said"),
    [
        (layer(constant(np.zeros(4, np.int32)), w=constant(W[0], scale=(1.0,), zero=(0,))), "no matrix"),
        (layer(constant(np.zeros(4, np.int32)), shape=(1, 1, 3)), "its weights have 4 rows"),
        (
            layer(constant(np.zeros(3, np.int32)), w=constant(W, scale=(1.0,) * 4, zero=(0,) * 4)),
            "its bias 'c' has 3 elements",
        ),
    ],
)
def test_what_does_not_fit_is_refused(graph: G, said: str, compute: Callable[..., list[Any]]) -> None:
    with pytest.raises(TilewrightError) as caught:
        compute(graph, X)
    assert said in caught.value.details[0]


def test_shuffled_weights_are_refused(compute: Callable[..., list[Any]]) -> None:
    tensors = [T(name="x", type="float32", shape=(1, 6)), constant(np.zeros((4, 6), np.float32))]
    tensors.append(T(name="y", type="float32", shape=(1, 4)))
    with pytest.raises(TilewrightError) as caught:
        compute(one_operator("FULLY_CONNECTED", tensors, kind=8, options={1: ("<b", 1)}), X)
    assert "shuffled" in caught.value.details[0]
