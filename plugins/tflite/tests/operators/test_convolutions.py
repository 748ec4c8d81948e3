"""Convolutions, pools and resizes against loops over pixels, and what of them is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from flat_models import G, Op, T, constant, file_of, one_operator

from tilewright.errors import TilewrightError

Array = npt.NDArray[Any]
RANDOM = np.random.default_rng(7)


def padding(extent: int, size: int, stride: int, same: bool) -> tuple[int, int]:
    """Extent of the result, and how many elements are added before the first."""
    if not same:
        return (extent - size) // stride + 1, 0
    out = -(-extent // stride)
    return out, max((out - 1) * stride + size - extent, 0) // 2


def convolved(x: Array, w: Array, stride: tuple[int, int], dilation: tuple[int, int], same: bool) -> Array:
    """Channels last; w [H, W, I, O] for each pixel and tap; elements outside are 0."""
    taps = [(size - 1) * dil + 1 for size, dil in zip(w.shape[:2], dilation, strict=True)]
    (rows, top), (columns, left) = (padding(*each, same) for each in zip(x.shape[1:3], taps, stride, strict=True))
    y = np.zeros((x.shape[0], rows, columns, w.shape[3]))
    for row, column, i, j in np.ndindex(rows, columns, *w.shape[:2]):
        r, c = row * stride[0] + i * dilation[0] - top, column * stride[1] + j * dilation[1] - left
        if 0 <= r < x.shape[1] and 0 <= c < x.shape[2]:
            y[:, row, column] += x[:, r, c] @ w[i, j]
    return y


@pytest.mark.parametrize("same", [True, False])
@pytest.mark.parametrize(
    ("stride", "dilation"), [((1, 1), (1, 1)), ((2, 1), (1, 1)), ((1, 1), (2, 1)), ((2, 3), (1, 1))]
)
def test_convolution(
    same: bool, stride: tuple[int, int], dilation: tuple[int, int], compute: Callable[..., list[Any]]
) -> None:
    x, w = RANDOM.normal(size=(1, 7, 6, 3)).astype(np.float32), RANDOM.normal(size=(4, 3, 2, 3)).astype(np.float32)
    bias = np.float32([1, 2, 3, 4])
    wanted = np.maximum(convolved(x, w.transpose(1, 2, 3, 0), stride, dilation, same) + bias, 0)
    tensors = [
        T(name="x", type="float32", shape=x.shape),
        constant(w),
        constant(bias),
        T(name="y", type="float32", shape=wanted.shape),
    ]
    options = {0: ("<b", 0 if same else 1), 1: ("<i", stride[1]), 2: ("<i", stride[0]), 3: ("<b", 1)}
    options |= {4: ("<i", dilation[1]), 5: ("<i", dilation[0])}
    (y,) = compute(one_operator("CONV_2D", tensors, kind=1, options=options), x)
    assert np.allclose(y, wanted, atol=1e-4)


def test_groups_are_what_the_weights_leave(compute: Callable[..., list[Any]]) -> None:
    x, w = RANDOM.normal(size=(1, 3, 3, 4)).astype(np.float32), RANDOM.normal(size=(6, 1, 1, 2)).astype(np.float32)
    tensors = [T(name="x", type="float32", shape=x.shape), constant(w), T(name="y", type="float32", shape=(1, 3, 3, 6))]
    options = {1: ("<i", 1), 2: ("<i", 1)}
    (y,) = compute(one_operator("CONV_2D", tensors, kind=1, options=options), x)
    halves = [x[..., :2] @ w[:3, 0, 0].T, x[..., 2:] @ w[3:, 0, 0].T]
    assert np.allclose(y, np.concatenate(halves, -1), atol=1e-5)


@pytest.mark.parametrize("multiplier", [1, 2])
def test_depthwise_convolution_of_integers(multiplier: int, compute: Callable[..., list[Any]]) -> None:
    channels = 3 * multiplier
    x, w = RANDOM.integers(-128, 128, (1, 5, 5, 3)), RANDOM.integers(-127, 128, (1, 3, 3, channels))
    steps, scales = RANDOM.integers(-900, 900, channels), tuple(np.float32(np.linspace(0.01, 0.03, channels)).tolist())
    tensors = [
        T(name="x", shape=x.shape, scale=(0.5,), zero=(-3,)),
        constant(w.astype(np.int8), scale=scales, zero=(0,) * channels, axis=3),
        constant(steps.astype(np.int32), "bias", scale=(9.0,) * channels, zero=(0,) * channels),  # of another scale
        T(name="y", shape=(1, 3, 3, channels), scale=(0.25,), zero=(4,)),
    ]
    options = {0: ("<b", 0), 1: ("<i", 2), 2: ("<i", 2), 3: ("<i", multiplier), 4: ("<b", 3)}
    (y,) = compute(one_operator("DEPTHWISE_CONV_2D", tensors, kind=2, options=options), x.astype(np.int8))
    taps = np.zeros((3, 3, 3, channels))
    for channel in range(channels):
        taps[:, :, channel // multiplier, channel] = w[0, :, :, channel]
    sums = convolved(x + 3.0, taps, (2, 2), (1, 1), True) + steps
    real = np.clip(sums * 0.5 * np.float32(scales), 0, 6)
    assert np.abs(y - np.clip(np.rint(real / 0.25) + 4, -128, 127)).max() <= 1
    assert np.mean(y == np.clip(np.rint(real / 0.25) + 4, -128, 127)) > 0.95


def test_quantised_convolutions_are_integer_steps_without_transposes(rewritten: Callable[[bytes], Any]) -> None:
    tensors = [T(name="x", shape=(1, 8, 8, 3), scale=(0.5,), zero=(0,))]
    ops, channels = [], 3
    for index in range(3):
        w = RANDOM.integers(-127, 128, (4, 3, 3, channels)).astype(np.int8)
        tensors += [constant(w, f"w{index}", scale=(0.01,), zero=(0,))]
        tensors += [T(name=f"y{index}", shape=(1, 8, 8, 4), scale=(0.5,), zero=(0,))]
        options = {0: ("<b", 0), 1: ("<i", 1), 2: ("<i", 1)}
        ops.append(
            Op(code="CONV_2D", inputs=(2 * index, 2 * index + 1), outputs=(2 * index + 2,), options=options, kind=1)
        )
        channels = 4
    graph = rewritten(file_of(G(tensors=tensors, ops=ops, inputs=(0,), outputs=(6,))))
    assert [node.op for node in graph.nodes].count("QConv") == 3
    assert {node.op for node in graph.nodes} <= {"QConv", "Transpose"}
    assert [node.op for node in graph.nodes].count("Transpose") == 2  # at the border alone: kernels take channels last
    assert graph.tensors["x"].shape == (1, 8, 8, 3) and graph.tensors["y2"].shape == (1, 8, 8, 4)


def test_zeros_around_an_image_are_added_by_the_convolution_behind_them(
    compute: Callable[..., list[Any]], rewritten: Callable[[bytes], Any]
) -> None:
    x, w = RANDOM.integers(-128, 128, (1, 5, 6, 2)), RANDOM.integers(-127, 128, (3, 3, 3, 2))
    amounts = ((0, 0), (1, 2), (0, 1), (0, 0))
    wanted = convolved(np.pad(x + 1.0, amounts), w.transpose(1, 2, 3, 0), (2, 2), (1, 1), False) * 0.05
    scales: dict[str, Any] = {"scale": (0.5,), "zero": (-1,)}
    tensors = [
        T(name="x", shape=x.shape, **scales),
        constant(np.int32(amounts)),
        T(name="wide", shape=(1, 8, 7, 2), **scales),
        constant(w.astype(np.int8), scale=(0.1,), zero=(0,)),
        T(name="y", shape=wanted.shape, scale=(1.0,), zero=(0,)),
    ]
    options = {0: ("<b", 1), 1: ("<i", 2), 2: ("<i", 2)}
    ops = [Op(code="PAD", inputs=(0, 1), outputs=(2,))]
    ops.append(Op(code="CONV_2D", inputs=(2, 3), outputs=(4,), options=options, kind=1))
    graph = G(tensors=tensors, ops=ops, inputs=(0,), outputs=(4,))
    (y,) = compute(graph, x.astype(np.int8))
    assert np.abs(y - np.clip(np.rint(wanted), -128, 127)).max() <= 1
    assert "Pad" not in [node.op for node in rewritten(file_of(graph)).nodes]


@pytest.mark.parametrize("same", [True, False])
def test_transposed_convolution(same: bool, compute: Callable[..., list[Any]]) -> None:
    x, w = RANDOM.normal(size=(1, 3, 4, 2)).astype(np.float32), RANDOM.normal(size=(5, 3, 3, 2)).astype(np.float32)
    rows, columns = (6, 8) if same else (7, 9)
    full = np.zeros((1, 9, 11, 5))
    for r, c, i, j in np.ndindex(3, 4, 3, 3):
        full[:, 2 * r + i, 2 * c + j] += x[:, r, c] @ w[:, i, j].T
    wanted = full[:, :rows, :columns]
    tensors = [
        T(name="x", type="float32", shape=x.shape),
        constant(np.int32([1, rows, columns, 5]), "shape"),
        constant(w, "w"),
        T(name="y", type="float32", shape=(1, rows, columns, 5)),
    ]
    options = {0: ("<b", 0 if same else 1), 1: ("<i", 2), 2: ("<i", 2)}
    op = Op(code="TRANSPOSE_CONV", inputs=(1, 2, 0), outputs=(3,), options=options, kind=49)
    (y,) = compute(G(tensors=tensors, ops=[op], inputs=(0,), outputs=(3,)), x)
    assert np.allclose(y, wanted, atol=1e-4)


def test_pools(compute: Callable[..., list[Any]]) -> None:
    x = RANDOM.integers(-128, 128, (1, 5, 4, 2)).astype(np.int8)
    tensors = [
        T(name=name, shape=shape, scale=(0.5,), zero=(3,)) for name, shape in (("x", x.shape), ("y", (1, 3, 2, 2)))
    ]
    options = {0: ("<b", 0), 1: ("<i", 2), 2: ("<i", 2), 3: ("<i", 2), 4: ("<i", 2)}
    (largest,) = compute(one_operator("MAX_POOL_2D", tensors, kind=5, options=options), x)
    (mean,) = compute(one_operator("AVERAGE_POOL_2D", tensors, kind=5, options=options), x)
    for row, column in np.ndindex(3, 2):
        window = x[0, 2 * row : 2 * row + 2, 2 * column : 2 * column + 2].reshape(-1, 2)  # the last row: one alone
        assert largest[0, row, column].tolist() == window.max(0).tolist()
        assert np.abs(mean[0, row, column] - window.mean(0)).max() <= 0.5 + 1e-6
    floats = [T(name=each.name, type="float32", shape=each.shape) for each in tensors]
    (norm,) = compute(one_operator("L2_POOL_2D", floats, kind=5, options=options), x.astype(np.float32))
    assert np.allclose(norm[0, 0, 0], np.sqrt(np.square(x[0, :2, :2].astype(np.float32)).mean((0, 1))), rtol=1e-6)


@pytest.mark.parametrize(("corners", "centres"), [(False, False), (False, True), (True, False)])
@pytest.mark.parametrize("size", [(4, 6), (3, 5), (1, 1)])
def test_nearest_rows(size: tuple[int, int], corners: bool, centres: bool, compute: Callable[..., list[Any]]) -> None:
    x = np.arange(6, dtype=np.int8).reshape(1, 2, 3, 1)
    tensors = [T(name="x", shape=x.shape), constant(np.int32(size)), T(name="y", shape=(1, *size, 1))]
    options = {0: ("<B", int(corners)), 1: ("<B", int(centres))}
    (y,) = compute(one_operator("RESIZE_NEAREST_NEIGHBOR", tensors, kind=74, options=options), x)
    for row, column in np.ndindex(*size):
        at = []
        for place, extent, out in ((row, 2, size[0]), (column, 3, size[1])):
            scale = (extent - 1) / (out - 1) if corners and out > 1 else extent / out
            exact = (place + (0.5 if centres else 0)) * scale
            at.append(min(int(np.floor(exact + 0.5) if corners else np.floor(exact)), extent - 1))
        assert y[0, row, column, 0] == x[0, at[0], at[1], 0]


def test_linear_rows(compute: Callable[..., list[Any]]) -> None:
    x = np.float32([[[[0.0], [4.0]]]])
    tensors = [
        T(name="x", type="float32", shape=(1, 1, 2, 1)),
        constant(np.int32([1, 4])),
        T(name="y", type="float32", shape=(1, 1, 4, 1)),
    ]
    wanted = {(0, 0): [0, 2, 4, 4], (1, 0): [0, 4 / 3, 8 / 3, 4], (0, 1): [0, 1, 3, 4]}
    for (corners, centres), row in wanted.items():
        options = {2: ("<B", corners), 3: ("<B", centres)}
        (y,) = compute(one_operator("RESIZE_BILINEAR", tensors, kind=15, options=options), x)
        assert np.allclose(y.reshape(-1), row, atol=1e-5)


@pytest.mark.parametrize(
    ("options", "shape", "said"),
    [
        ({}, (1, 3, 3, 2), "its strides are [0, 0]"),
        ({1: ("<i", 1), 2: ("<i", 1), 4: ("<i", 0)}, (1, 3, 3, 2), "its dilations are [1, 0]"),
        ({1: ("<i", 1), 2: ("<i", 1)}, (1, 3, 3, 3), "its input has 3 channels"),
        ({1: ("<i", 1), 2: ("<i", 1)}, (3, 3, 2), "no image of four axes"),
    ],
)
def test_what_makes_no_sense_is_refused(
    options: dict[int, Any], shape: tuple[int, ...], said: str, compute: Callable[..., list[Any]]
) -> None:
    w = constant(np.zeros((2, 1, 1, 2), np.float32))
    x, y = T(name="x", type="float32", shape=shape), T(name="y", type="float32", shape=(1, 3, 3, 2))
    with pytest.raises(TilewrightError) as caught:
        compute(one_operator("CONV_2D", [x, w, y], kind=1, options=options), np.zeros(shape, np.float32))
    assert said in caught.value.details[0] and "CONV_2D version 1, operator 0" in caught.value.details[0]
