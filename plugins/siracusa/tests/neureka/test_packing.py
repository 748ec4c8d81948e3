"""Words of weights, taken apart bit by bit as the engine's documents say where bits are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tilewright_siracusa.neureka.packing import BITS, offset_and_bits, packed_channels, packed_points, packed_taps

OFFSET = -128


def bit(word: Any, at: int) -> int:
    return int(word[at // 8]) >> (at % 8) & 1


def random_weights(*shape: int) -> Any:
    return np.random.default_rng(sum(shape)).integers(-128, 128, shape)


@pytest.mark.parametrize(("outputs", "inputs"), [(1, 32), (3, 40), (33, 5), (2, 96)])
def test_points(outputs: int, inputs: int) -> None:
    weights = random_weights(outputs, inputs)
    words = packed_points(weights, OFFSET).reshape(outputs, -1, 32)
    assert words.shape[1] == -(-inputs // 32)
    for output in range(outputs):
        for channel in range(inputs):
            word, lane = words[output, channel // 32], channel % 32
            stored = sum(bit(word, lane // 4 * 32 + b * 4 + lane % 4) << b for b in range(BITS))
            assert stored + OFFSET == weights[output, channel]


@pytest.mark.parametrize(("outputs", "inputs", "bits"), [(1, 28, 8), (2, 3, 8), (3, 30, 8), (2, 30, 5), (2, 28, 2)])
def test_taps(outputs: int, inputs: int, bits: int) -> None:
    offset = -(2 ** (bits - 1))
    weights = random_weights(outputs, 3, 3, inputs) >> (8 - bits)
    words = packed_taps(weights, offset, bits).reshape(outputs, -1, bits, 32)
    assert words.shape[1] == -(-inputs // 28)
    for output in range(outputs):
        for channel in range(inputs):
            for tap in range(9):
                planes = words[output, channel // 28]
                stored = sum(bit(planes[b], tap * 28 + channel % 28) << b for b in range(bits))
                assert stored + offset == weights[output, tap // 3, tap % 3, channel]


def test_channels_are_the_inputs_of_one_output() -> None:
    weights = random_weights(30, 3, 3)
    words = packed_channels(weights, OFFSET, BITS)
    assert words.shape == (2, BITS * 32)
    np.testing.assert_array_equal(words.reshape(1, -1), packed_taps(np.moveaxis(weights, 0, -1)[None], OFFSET, BITS))


def test_places_that_no_channel_fills_are_zeros() -> None:
    assert not packed_points(np.full((1, 1), -128), OFFSET).any()
    assert packed_points(np.full((1, 1), 127), OFFSET).any()


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ((-128, 127), (-128, 8)), ((-8, 7), (-8, 4)), ((-8, 8), (-8, 5)), ((-1, 1), (-1, 2)), ((5, 5), (5, 2)),
        ((0, 255), (0, 8)), ((100, 255), (100, 8)), ((130, 255), (127, 8)), ((-129, 0), None), ((-1, 255), None),
    ],
)  # fmt: skip
def test_as_many_bits_as_weights_need(values: tuple[int, int], expected: tuple[int, int] | None) -> None:
    assert offset_and_bits(np.array(values)) == expected
