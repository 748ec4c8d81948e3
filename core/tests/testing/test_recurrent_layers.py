"""Layers of LSTM, GRU and RNN: plain ones, and ones with everything that is optional."""

from __future__ import annotations

import numpy as np

from tilewright.testing.recurrent_layers import recurrent_layers


def test_every_kind_plain_and_with_everything() -> None:
    layers = list(recurrent_layers(np.random.default_rng(0)))
    assert len({layer.name for layer in layers}) == len(layers) == 7
    assert {len(layer.inputs) for layer in layers} == {2, 7}
