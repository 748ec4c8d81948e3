"""Knows layers of 16-bit values: how 8-bit weights of two channels share 16 bits, what sums begin with so that the two
come apart again, and how sums become 16 bits. Does not know layers' windows, nor instructions.

What is stored is `256 * upper + lower + 128`, as signed 16 bits. Products with it make a sum T, products with the upper
weights alone, which are its upper byte, a sum U. `T - 256 * U` is the lower channel's sum, and 128 times the sum of the
values that were read: that is counted once for all channels. All of it holds modulo 2**32, as registers have it. Lower
is the first channel of a pair.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from tilewright.api.graph import DType, Float32HalfEven, MultiplyShift, Requant, Site
from tilewright_siracusa.kernels.layers import BYTES, ProductLayer, products_of, wrapped
from tilewright_siracusa.kernels.limits import limits_of_results

if TYPE_CHECKING:
    import numpy.typing as npt

    Integers = npt.NDArray[np.int64]
    Bytes = npt.NDArray[np.int8]

VALUE_BYTES = 2
_SHIFTS = (17, 46)  # of a sum of 32 bits: its product's upper half is shifted by 16 less


def words_of(site: Site) -> ProductLayer | str:
    """A QConv or QGemm of 16-bit values and 8-bit weights, biases as `word_biases` has them; or why it is none."""
    layer = _refused(site) or products_of(site)
    if isinstance(layer, str):
        return layer
    if not -(2**15) <= layer.pad < 2**15:
        return f"positions outside count for {layer.pad}, which i16 does not hold"
    reason = _refused_rounding(layer.requant)
    if reason:
        return reason
    rounding = layer.requant.rounding
    return replace(layer, scales=_shift_words(rounding, layer)) if isinstance(rounding, MultiplyShift) else layer


def _refused(site: Site) -> str | None:
    x, y = site.input(0), site.output
    if (x.dtype, y.dtype) != (DType.I16, DType.I16):
        return f"is {x.dtype.value} to {y.dtype.value}; this kernel takes i16"
    if site.constant(1) is None or (site.has_input(2) and site.constant(2) is None):
        return "weights and bias must be constants"
    if site.input(1).dtype not in BYTES:
        return "weights must be i8 or u8"
    if site.node.op == "QConv" and len(x.shape) not in (3, 4):
        return f"has {len(x.shape) - 2} spatial axes; 1 and 2 are supported"
    return "has no elements" if 0 in x.shape or 0 in y.shape else None


def _refused_rounding(requant: Requant) -> str | None:
    rounding = requant.rounding
    if isinstance(rounding, Float32HalfEven):
        return None
    if not isinstance(rounding, MultiplyShift) or (rounding.rounding, rounding.bits) != ("half-up", 64):
        return "its rounding is another"
    if any(rounding.addend) or max(rounding.multiplier) >= 2**15 or min(rounding.multiplier) < 0:
        return "its multipliers are not those of tflm"
    fits = _SHIFTS[0] <= min(rounding.shift) <= max(rounding.shift) <= _SHIFTS[1]
    return None if fits else "a channel is scaled by a quarter or more"


def _shift_words(rounding: MultiplyShift, layer: ProductLayer) -> Integers:
    """Of each channel its multiplier, and above it by how much the upper half of a product is shifted."""
    multiplier, shift = (
        np.broadcast_to(np.asarray(numbers, np.int64), (layer.outputs,))
        for numbers in (rounding.multiplier, rounding.shift)
    )
    words: Integers = multiplier | ((shift - 16) << 16)
    return words


def word_finish(requant: Requant) -> tuple[str, str]:
    """`limit` of word_finish.c, and a `tw_xp_limits` initialiser."""
    if isinstance(requant.rounding, MultiplyShift):
        return "shift_i16", f"{{.low = {requant.low}, .high = {requant.high}, .zero_point = {requant.zero_point}}}"
    return "i16", limits_of_results(requant, "any")


def word_biases(bias: Integers) -> Integers:
    """What the sums T and U of each pair of channels begin with, but for what values make of lower weights."""
    begun = bias.copy()
    upper = np.zeros(len(bias[::2]), np.int64)
    upper[: len(bias[1::2])] = bias[1::2]
    begun[::2] = wrapped(bias[::2] + 256 * upper)
    return begun


def word_bytes(rows: Bytes) -> Bytes:
    """Of [channels, values], channels of an even number, the bytes of [pairs of channels, values]."""
    joined = 256 * rows[1::2].astype(np.int32) + rows[::2] + 128
    stored: Bytes = joined.astype(np.dtype("<i2")).view(np.int8)
    return stored


def in_bytes(fields: Mapping[str, object]) -> dict[str, object]:
    """Steps over x and y, which are given in values."""
    return {
        name: VALUE_BYTES * value if name[:2] in ("x_", "y_") and isinstance(value, int) else value
        for name, value in fields.items()
    }
