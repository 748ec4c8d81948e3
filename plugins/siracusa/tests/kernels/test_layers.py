"""Integer layers in one form: played as sums of products of stored values they are the operators' references."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from tilewright.api.graph import Requant
from tilewright.api.testing import site_of
from tilewright.ir.graphs.graph import Attribute, Site
from tilewright.ir.tensors.requant import requantise
from tilewright.operators.quantised.qconv import QCONV
from tilewright.operators.quantised.qgemm import QGEMM
from tilewright_siracusa.kernels.layers import BLOCK, ProductLayer, bias_and_scale, layer_of

RNG = np.random.default_rng(5)
REQUANT = Requant(scale=(0.001, 0.002, 0.0005, 0.001, 0.003), zero_point=-7, low=-128, high=127)


def numbers(low: int, high: int, *shape: int) -> np.ndarray:
    kind = np.int8 if low >= -128 and high <= 128 else np.int32
    return RNG.integers(low, high, shape).astype(kind)


def conv(rank: int = 2, **more: Attribute) -> tuple[Site, list[np.ndarray]]:
    """Five channels of three, padding on one side only, two steps at a time."""
    inputs = [
        numbers(-128, 128, 1, 3, *(6, 7)[-rank:]),
        numbers(-100, 100, 5, 3, *(2, 3)[-rank:]),
        numbers(-999, 999, 5),
    ]
    attributes: dict[str, Attribute] = {
        "kernel_shape": (2, 3)[-rank:], "strides": (1, 2)[-rank:], "dilations": (1, 1)[-rank:],
        "pads": (*(0,) * rank, *(1,) * rank), "ceil_mode": 0, "group": 1, "requant": REQUANT, "x_zero_point": 9,
        "pad_value": 9, "w_zero_point": (1, -2, 3, 0, 5), "output_type": "i8", **more,
    }  # fmt: skip
    return site_of(QCONV, inputs, attributes, (1, 2)), inputs


def gemm(**more: Attribute) -> tuple[Site, list[np.ndarray]]:
    inputs = [numbers(-128, 128, 2, 11), numbers(-100, 100, 11, 5), numbers(-999, 999, 5)]
    attributes: dict[str, Attribute] = {"requant": REQUANT, "a_zero_point": -3, "b_zero_point": 4, "output_type": "i8"}
    return site_of(QGEMM, inputs, {**attributes, **more}, (1, 2)), inputs


def played(layer: ProductLayer, x: np.ndarray) -> np.ndarray:
    """Sums over [rows, columns, inputs], as they are stored, padding included; results channels last."""
    windows = layer.windows
    margins = [*zip(windows.before, windows.after, strict=True), (0, 0)]
    padded = np.pad(x.astype(np.int64), margins, constant_values=layer.pad)
    rows, columns = windows.outputs(x.shape[:2])
    found = np.zeros((rows, columns, layer.outputs), np.int64)
    for row, column in product(range(rows), range(columns)):
        top, left = row * windows.strides[0], column * windows.strides[1]
        seen = padded[top : top + windows.kernel[0], left : left + windows.kernel[1]]
        found[row, column] = layer.bias + (layer.weights * seen).sum(axis=(1, 2, 3))
    return requantise(found, layer.requant, -1)


@pytest.mark.parametrize("rank", [1, 2])
def test_convolutions(rank: int) -> None:
    site, inputs = conv(rank)
    layer = layer_of(site)
    assert isinstance(layer, ProductLayer) and layer.padded and (layer.outputs, layer.blocks) == (5, 2)
    x = np.moveaxis(inputs[0][0], 0, -1)
    found = played(layer, x if rank == 2 else x[None])
    (expected,) = QCONV.reference(site, inputs)
    assert np.array_equal(np.moveaxis(expected[0], 0, -1).reshape(found.shape), found)


def test_fully_connected_layers() -> None:
    site, inputs = gemm()
    layer = layer_of(site)
    assert isinstance(layer, ProductLayer) and not layer.padded
    (expected,) = QGEMM.reference(site, inputs)
    assert np.array_equal(played(layer, inputs[0][:, None, :])[:, 0], expected)


def test_bias_and_scale_of_blocks() -> None:
    """Four biases, then the bits of four scales; the last block is filled up with zeros."""
    layer: Any = layer_of(gemm()[0])
    rows = bias_and_scale(layer)
    assert rows.shape == (2, 2 * BLOCK) and rows.dtype == np.int32
    assert [*rows[0, :4], rows[1, 0]] == layer.bias.tolist() and not rows[1, 1:4].any() and not rows[1, 5:].any()
    scales = np.array([*rows[0, 4:], rows[1, 4]], np.int32).view(np.float32)
    assert scales.tolist() == np.array(REQUANT.scale, np.float32).tolist()


@pytest.mark.parametrize(("site", "reason"), [
    (gemm(b_zero_point=-100)[0], "weights minus their zero points do not fit 8 bits"),
    (site_of(QGEMM, gemm()[1], dict(gemm()[0].node.attributes), (2,)), "weights and bias must be constants"),
    (site_of(QCONV, [numbers(-9, 9, 1, 1, 40), numbers(-9, 9, 5, 1, 33)], {
        "kernel_shape": (33,), "strides": (1,), "dilations": (1,), "pads": (0, 0), "ceil_mode": 0, "group": 1,
        "requant": REQUANT,
    }, (1,)), "more than 32 taps"),
])  # fmt: skip
def test_what_has_no_such_form(site: Site, reason: str) -> None:
    assert reason in str(layer_of(site))
