"""Words of weights, taken apart bit by bit as the engine's documents say where bits are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tilewright_siracusa.neureka.packing import BITS, OFFSET, packed_channels, packed_points, packed_taps


def bit(word: Any, at: int) -> int:
    return int(word[at // 8]) >> (at % 8) & 1


def random_weights(*shape: int) -> Any:
    return np.random.default_rng(sum(shape)).integers(-128, 128, shape)


@pytest.mark.parametrize(("outputs", "inputs"), [(1, 32), (3, 40), (33, 5), (2, 96)])
def test_points(outputs: int, inputs: int) -> None:
    weights = random_weights(outputs, inputs)
    words = packed_points(weights).reshape(outputs, -1, 32)
    assert words.shape[1] == -(-inputs // 32)
    for output in range(outputs):
        for channel in range(inputs):
            word, lane = words[output, channel // 32], channel % 32
            stored = sum(bit(word, lane // 4 * 32 + b * 4 + lane % 4) << b for b in range(BITS))
            assert stored - OFFSET == weights[output, channel]


@pytest.mark.parametrize(("outputs", "inputs"), [(1, 28), (2, 3), (3, 30)])
def test_taps(outputs: int, inputs: int) -> None:
    weights = random_weights(outputs, 3, 3, inputs)
    words = packed_taps(weights).reshape(outputs, -1, BITS, 32)
    assert words.shape[1] == -(-inputs // 28)
    for output in range(outputs):
        for channel in range(inputs):
            for tap in range(9):
                planes = words[output, channel // 28]
                stored = sum(bit(planes[b], tap * 28 + channel % 28) << b for b in range(BITS))
                assert stored - OFFSET == weights[output, tap // 3, tap % 3, channel]


def test_channels_are_the_inputs_of_one_output() -> None:
    weights = random_weights(30, 3, 3)
    words = packed_channels(weights)
    assert words.shape == (2, BITS * 32)
    np.testing.assert_array_equal(words.reshape(1, -1), packed_taps(np.moveaxis(weights, 0, -1)[None]))


def test_places_that_no_channel_fills_are_zeros() -> None:
    assert not packed_points(np.full((1, 1), -128)).any()
    assert packed_points(np.full((1, 1), 127)).any()
