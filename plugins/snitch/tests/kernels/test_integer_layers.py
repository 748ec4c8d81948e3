"""Integer layers in one form: zero points are in the bias, and what has no such form says why."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tilewright.api.testing import site_of
from tilewright.ir.graphs.graph import Attribute, Site
from tilewright.ir.tensors.requant import Requant
from tilewright.operators.quantised.qconv import QCONV
from tilewright.operators.quantised.qgemm import QGEMM
from tilewright_snitch.kernels.integer_layers import IntegerLayer, integer_layer

Array = npt.NDArray[np.generic]
REQUANT = Requant(scale=(2.0**-10,), zero_point=0, low=-128, high=127)


def conv_site(x: Array, w: Array, **changes: Attribute) -> Site:
    rank = w.ndim - 2
    attributes: dict[str, Attribute] = {
        "kernel_shape": w.shape[2:], "strides": (1,) * rank, "dilations": (1,) * rank, "pads": (0,) * (2 * rank),
        "group": 1, "ceil_mode": 0, "requant": REQUANT, "x_zero_point": 0, "pad_value": 0, "w_zero_point": (0,),
    }  # fmt: skip
    return site_of(QCONV, [x, w], {**attributes, **changes}, (1,))


def gemm_site(a: Array, b: Array, constants: tuple[int, ...] = (1,), **changes: Attribute) -> Site:
    return site_of(QGEMM, [a, b], {"requant": REQUANT, **changes}, constants)


def test_zero_points_are_in_the_bias() -> None:
    layer = integer_layer(gemm_site(np.zeros((2, 3), np.uint8), np.full((3, 2), 5, np.uint8), a_zero_point=7,
                                    b_zero_point=(1, 2)))  # fmt: skip
    assert isinstance(layer, IntegerLayer)
    np.testing.assert_array_equal(layer.weights, [[4, 4, 4], [3, 3, 3]])
    np.testing.assert_array_equal(layer.bias, [-7 * 12, -7 * 9])


def test_windows_are_of_two_axes() -> None:
    layer = integer_layer(conv_site(np.zeros((1, 2, 9), np.int8), np.ones((3, 2, 4), np.int8)))
    assert isinstance(layer, IntegerLayer)
    assert (layer.windows.kernel, layer.inputs, layer.weights.shape) == ((1, 4), 2, (3, 8))


def test_refusals_say_why() -> None:
    x, w = np.zeros((1, 4, 5, 5), np.int8), np.ones((4, 4, 3, 3), np.int8)
    assert "more than one group" in str(integer_layer(conv_site(x, w[:, :2], group=2)))
    volume = conv_site(np.zeros((1, 4, 5, 5, 5), np.int8), np.ones((4, 4, 1, 1, 1), np.int8))
    assert "3 spatial axes" in str(integer_layer(volume))
    assert "do not fit 8 bits" in str(integer_layer(conv_site(x, np.full((4, 4, 3, 3), 255, np.uint8))))
    assert "does not hold" in str(integer_layer(conv_site(x, w, pads=(1,) * 4, pad_value=200)))
    long = np.full((1, 140_000, 1), -128, np.int8)
    assert "more than 32 bits" in str(integer_layer(conv_site(np.zeros((1, 140_000, 1), np.int8), long)))
    a, b = np.zeros((2, 3), np.int8), np.ones((3, 2), np.int8)
    assert "must be constants" in str(integer_layer(gemm_site(a, b, ())))
    assert "4 axes of rows" in str(integer_layer(gemm_site(np.zeros((1, 2, 1, 2, 3), np.int8), b)))
