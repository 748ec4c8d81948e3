"""How weights of a layer of products lie: blocks of four channels, word by word, and two where a number has both."""

from __future__ import annotations

import numpy as np

from tilewright.api.graph import Requant
from tilewright.api.kernel import Kernel
from tilewright.api.testing import site_of, vocabulary
from tilewright.ir.plans.layer import layer_of
from tilewright_siracusa.kernels.products import CONV, WORDS


def packed(kernel: Kernel, dtype: type, pad: int) -> dict[str, np.ndarray]:
    weights = np.arange(1, 3 * 4 + 1, dtype=np.int8).reshape(3, 4, 1, 1)
    bits = np.iinfo(dtype).bits
    attributes = {
        "kernel_shape": (1, 1), "strides": (1, 1), "dilations": (1, 1), "pads": (1, 1, 1, 1), "group": 1,
        "ceil_mode": 0,
        "requant": Requant(scale=(1.0,), zero_point=0, low=-(2 ** (bits - 1)), high=2 ** (bits - 1) - 1),
        "x_zero_point": 0, "pad_value": pad, "w_zero_point": (0,), "output_type": f"i{bits}",
    }  # fmt: skip
    inputs = [np.zeros((1, 4, 3, 3), dtype), weights]
    layer = layer_of(vocabulary()["QConv"], kernel, site_of(vocabulary()["QConv"], inputs, attributes, (1,)))
    return {name: np.asarray(array) for name, array in layer.packed.items()}


def test_four_weights_of_a_channel_are_a_word() -> None:
    found = packed(CONV, np.int8, -3)
    assert found["W"].reshape(4, 4).tolist() == [[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12], [0, 0, 0, 0]]
    assert found["P"].tolist() == [[0] * 4 + [0x3F800000] * 3 + [0]]
    assert set(found["Z"].view(np.int8).ravel().tolist()) == {-3}


def test_two_weights_of_two_channels_are_a_word_where_values_have_16_bits() -> None:
    """Bytes are what bytes would take."""
    found = packed(WORDS[0], np.int16, 500)
    halves = found["W"].reshape(-1).view("<i2").reshape(2, 2, 2)  # words of values, pairs of channels, values
    wanted = [[[256 * 5 + 1, 256 * 6 + 2], [9, 10]], [[256 * 7 + 3, 256 * 8 + 4], [11, 12]]]
    assert (halves - 128).tolist() == wanted
    assert found["W"].nbytes == packed(CONV, np.int8, 0)["W"].nbytes
    assert set(found["Z"].view("<i2").ravel().tolist()) == {500}
