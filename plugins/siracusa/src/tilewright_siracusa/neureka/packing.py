"""Knows how N-EUREKA has weights in memory: cut into bits, in words of 32 bytes, bit k of a word in byte k / 8.
Does not know layers.

Weights are stored unsigned, as `w - offset`, in as many bits as the largest of a layer needs; places that no channel
fills are zeros, which the engine never uses. A word of a 1x1 convolution has room for eight bits of each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tilewright.api import ceil_div

if TYPE_CHECKING:
    import numpy.typing as npt

    Integers = npt.NDArray[np.int64]
    Bytes = npt.NDArray[np.uint8]

BITS = 8  # at most, and of words of 1x1 convolutions
FEWEST_BITS = 2
OFFSETS = (-128, 127)  # what register 21 takes back
WORD_BYTES = 32
POINT_INPUTS = 32  # channels of a word of a 1x1 convolution
TAP_INPUTS = 28  # of a 3x3 one, and of a depthwise one
OUTPUTS = 32  # channels that a tile of the engine computes; depthwise TAP_INPUTS


def offset_and_bits(weights: Integers) -> tuple[int, int] | None:
    """What is taken from all weights of a layer, and the bits of the largest difference; None beyond `BITS`."""
    least, most = int(weights.min()), int(weights.max())
    offset = min(max(least, OFFSETS[0]), OFFSETS[1])
    bits = max((most - offset).bit_length(), FEWEST_BITS)
    return (offset, bits) if offset <= least and bits <= BITS else None


def packed_points(weights: Integers, offset: int) -> Bytes:
    """[outputs, inputs] -> [outputs, words * 32]: bit `quad * 32 + b * 4 + c` is bit b of channel 4 quad + c."""
    outputs, inputs = weights.shape
    words = ceil_div(inputs, POINT_INPUTS)
    stored = np.zeros((outputs, words * POINT_INPUTS), np.uint8)
    stored[:, :inputs] = weights - offset
    planes = _planes(stored.reshape(outputs, words, POINT_INPUTS // 4, 4), BITS)  # [.., quad, channel, bit]
    return _packed(planes.swapaxes(-1, -2).reshape(outputs, words, -1)).reshape(outputs, -1)


def packed_taps(weights: Integers, offset: int, bits: int) -> Bytes:
    """[outputs, 3, 3, inputs] -> [outputs, words * bits * 32]: a word for each bit, bit `tap * 28 + c` of 252."""
    outputs, inputs = weights.shape[0], weights.shape[-1]
    words = ceil_div(inputs, TAP_INPUTS)
    stored = np.zeros((outputs, 9, words * TAP_INPUTS), np.uint8)
    stored[:, :, :inputs] = weights.reshape(outputs, 9, inputs) - offset
    planes = _planes(stored.reshape(outputs, 9, words, TAP_INPUTS), bits)  # [output, tap, word, channel, bit]
    taps = planes.transpose(0, 2, 4, 1, 3).reshape(outputs, words, bits, -1)
    return _packed(np.pad(taps, ((0, 0), (0, 0), (0, 0), (0, 8 * WORD_BYTES - taps.shape[-1])))).reshape(outputs, -1)


def packed_channels(weights: Integers, offset: int, bits: int) -> Bytes:
    """[channels, 3, 3] of a depthwise convolution -> [words, bits * 32]: as one output of a 3x3 one has its inputs."""
    return packed_taps(np.moveaxis(weights, 0, -1)[None], offset, bits).reshape(-1, bits * WORD_BYTES)


def _planes(stored: Bytes, bits: int) -> Bytes:
    return np.unpackbits(stored[..., None], axis=-1, count=bits, bitorder="little")


def _packed(bits: Bytes) -> Bytes:
    return np.packbits(bits, axis=-1, bitorder="little")
