"""Where windows are read, and how many are copied together: from sizes that are counted by hand."""

from __future__ import annotations

import numpy as np
import pytest

from tilewright.api.graph import Requant
from tilewright.api.testing import site_of, vocabulary
from tilewright_siracusa.kernels.forms import Form, form_of
from tilewright_siracusa.kernels.layers import ProductLayer, layer_of


def form(channels: int, taps: int, *, nibbles: bool = False) -> Form:
    attributes = {
        "kernel_shape": (taps, taps), "strides": (1, 1), "dilations": (1, 1), "pads": (0, 0, 0, 0), "group": 1,
        "ceil_mode": 0, "requant": Requant(scale=(0.01,), zero_point=0, low=-128, high=127), "x_zero_point": 0,
        "pad_value": 0, "w_zero_point": (0,),
    }  # fmt: skip
    inputs = [np.zeros((1, channels, 9, 9), np.int8), np.ones((5, channels, taps, taps), np.int8)]
    layer = layer_of(site_of(vocabulary()["QConv"], inputs, attributes, (1,)))
    assert isinstance(layer, ProductLayer)
    return form_of(layer, nibbles=nibbles)


def test_windows_of_whole_words_stay_where_they_are() -> None:
    assert form(8, 3).direct
    assert not form(3, 3).direct
    assert (form(3, 3).column_bytes, form(3, 3).run_bytes, form(3, 3).pitch_bytes) == (28, 9, 9)


def test_as_many_windows_are_copied_together_as_a_strip_holds() -> None:
    three = form(3, 3)
    assert three.strip_windows == 256 // 9 - 3 + 1
    assert three.strip_bytes(2) == 4 * 9 + 4


def test_values_of_16_bits_are_twice_as_long_and_share_weights() -> None:
    layer = form(3, 3).layer
    wide = form_of(layer, value_bytes=2)
    assert (wide.tap_bytes, wide.run_bytes, wide.column_bytes, wide.weight_bytes) == (6, 18, 56, 8)
    assert not wide.direct
    assert form_of(form(2, 3).layer, value_bytes=2).direct


@pytest.mark.parametrize(("nibbles", "weight_bytes"), [(False, 16), (True, 8)])
def test_four_channels_of_a_word_of_values(nibbles: bool, weight_bytes: int) -> None:
    assert form(8, 3, nibbles=nibbles).weight_bytes == weight_bytes
