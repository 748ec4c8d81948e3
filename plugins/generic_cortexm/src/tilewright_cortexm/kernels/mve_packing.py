"""Knows the bytes that hold the weights of blocks of four channels for Helium, and their parameters. Does not know what
pixels read, nor what is made of sums.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from tilewright.api import align_down
from tilewright_cortexm.kernels.dsp_nibbles import nibble_biases, nibble_bytes
from tilewright_cortexm.kernels.dsp_pairs import pairs_of
from tilewright_cortexm.kernels.products import Products

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]
    Bytes = npt.NDArray[np.int8]

LANES = 16
CHANNELS = 4


def packed(layer: Products, blocks: Sequence[range], flip: int, words: Iterable[Array]) -> Mapping[str, Array]:
    """Sixteen values of every channel (or pair of channels, of nibbles) of a block in turn, then what is left; and of
    each block four biases and four of each of `words`. `flip`: what values are stored minus.
    """
    flat = layer.weights.reshape(len(layer.weights), -1).astype(np.int8)
    bias = layer.bias + flip * layer.weights.sum(axis=(1, 2))
    if layer.nibbles:
        bias = nibble_biases(bias, [pair for block in blocks for pair in pairs_of(block)])
    weights: list[Array] = []
    parameters: list[Array] = []
    for block in blocks:
        rows = flat[block.start : block.stop]
        weights += in_steps(nibble_bytes(rows, pairs_of(range(len(rows))), alone=0) if layer.nibbles else rows)
        parameters += fours((bias, *words), block)
    wrapped = np.concatenate(parameters).astype(np.int64).astype(np.int32)
    return {"W": np.concatenate(weights), "P": wrapped}


def in_steps(rows: Bytes, lanes: int = LANES) -> tuple[Bytes, Bytes]:
    """Steps of so many values of every row in turn, then what is left of each."""
    whole_steps = align_down(rows.shape[1], lanes)
    steps = rows[:, :whole_steps].reshape(len(rows), -1, lanes).swapaxes(0, 1)
    return steps.reshape(-1), rows[:, whole_steps:].reshape(-1)


def fours(parts: Iterable[Array], block: range) -> Iterator[Array]:
    """Of every part the four of a block, zero where it has less."""
    for part in parts:
        four = np.zeros(CHANNELS, np.int64)
        four[: len(block)] = part[block.start : block.stop]
        yield four
