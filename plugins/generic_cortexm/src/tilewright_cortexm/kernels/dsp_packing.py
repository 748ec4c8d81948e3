"""Knows the words that hold the weights of a block of channels, and what its sums begin with, in each of three forms:
bytes, words of two channels (`dsp_pairs`), nibbles (`dsp_nibbles`). Does not know which of them a layer has, nor why.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tilewright_cortexm.kernels.dsp_blocks import channel_runs, pairs_of_channels
from tilewright_cortexm.kernels.dsp_nibbles import nibble_biases, nibble_words, words_of
from tilewright_cortexm.kernels.dsp_pairs import joint_biases, joint_words, pairs_of
from tilewright_cortexm.kernels.products import Products

if TYPE_CHECKING:
    import numpy.typing as npt

    Integers = npt.NDArray[np.int64]
    Bytes = npt.NDArray[np.int8]


def block_weights(layer: Products, fours: Bytes, block: range) -> Bytes:
    """Of every four values in turn, the words of a block of channels."""
    if layer.nibbles:
        return nibble_words(fours[block.start : block.stop], pairs_of(range(len(block))))
    parts = [
        joint_words(fours[pair]) if layer.paired and len(pair) == 2 else fours[pair].swapaxes(0, 1).reshape(-1)
        for pair in pairs_of(block)
    ]
    return np.concatenate([part.reshape(fours.shape[1], -1) for part in parts], axis=1).reshape(-1)


def begun(layer: Products) -> Integers:
    """What sums begin with."""
    if layer.nibbles:
        return nibble_biases(layer.bias, pairs_of_channels(layer.rows))
    return joint_biases(layer.bias, pairs_of_channels(layer.rows)) if layer.paired else layer.bias


def words_of_four(layer: Products) -> int:
    """Words that four values of all channels of one group take."""
    if not layer.nibbles:
        return layer.rows.outputs
    return sum(count * words_of(channels) for _, count, channels in channel_runs(layer.rows))
