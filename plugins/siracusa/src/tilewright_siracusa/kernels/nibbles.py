"""Knows how weights of 4 bits of two channels share a byte, which layers have them, and what sums begin with so that
the two come apart again. Does not know layers' windows, nor instructions.

A byte is `16 * upper + lower + 8`. The dot product of bytes makes a sum T of it, that of its lower nibbles, which are 8
too large and so not negative, a sum S. `T - S` is 16 times the upper channel's sum, modulo 2**32. S is the lower
channel's, and 8 times the sum of the values that were read: that is counted once for all channels. Upper is the first
channel of a pair.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tilewright.api.graph import Site
from tilewright.api.kernel import sum_bounds, weight_bits
from tilewright_siracusa.kernels.layers import ProductLayer, layer_of, wrapped
from tilewright_siracusa.kernels.shifts import ShiftWords, shift_words

if TYPE_CHECKING:
    import numpy.typing as npt

    Integers = npt.NDArray[np.int64]
    Bytes = npt.NDArray[np.int8]

BITS = 4
_LOW, _HIGH = -8, 7
_SUM_LIMIT = 2**27


def nibbles_of(site: Site) -> ProductLayer | str:
    """A QConv or QGemm whose weights the model file has in 4 bits, biases as `nibble_biases` has them; or why not."""
    if weight_bits(site) != BITS:
        return f"weights have {weight_bits(site)} bits"
    layer = layer_of(site)
    return layer if isinstance(layer, str) else _refused(site, layer) or layer


def _refused(site: Site, layer: ProductLayer) -> str | None:
    if layer.weights.min(initial=0) < _LOW or layer.weights.max(initial=0) > _HIGH:
        return "weights minus their zero points do not fit 4 bits"
    bounds = sum_bounds(site)
    words = shift_words(layer.requant, bounds)
    moved = words.moved if isinstance(words, ShiftWords) else 0
    reached = np.abs(np.array([bounds.lowest, bounds.highest]) + moved).max(initial=0)
    return "sums leave the 28 bits in which two channels come apart" if reached >= _SUM_LIMIT else None


def nibble_biases(bias: Integers) -> Integers:
    """What the sums T and S of each pair of channels begin with, but for what values make of lower nibbles."""
    begun = bias.copy()
    lower = np.zeros(len(bias[::2]), np.int64)
    lower[: len(bias[1::2])] = bias[1::2]
    begun[::2] = wrapped(16 * bias[::2] + lower)
    return begun


def nibble_bytes(rows: Bytes) -> Bytes:
    """Of [channels, values], the bytes of [pairs of channels, values]; zeros behind the last channel."""
    wide = np.zeros((len(rows) + len(rows) % 2, rows.shape[1]), np.int16)
    wide[: len(rows)] = rows
    joined: Bytes = (16 * wide[::2] + wide[1::2] + 8).astype(np.int8)
    return joined
