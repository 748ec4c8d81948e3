"""Knows what becomes of a spectrum's energies in channels of a filter bank: sums with weights, square roots, the noise
taken off, the gain by channel, logarithms. Does not know spectra.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isqrt
from typing import Any

import numpy as np

from tilewright.api.graph import DType, Site
from tilewright.api.kernel import Call
from tilewright_tflite.signals.parts import elements, kernel, operator, whole

_SMOOTHING = ("smoothing", "rest", "smoothing_odd", "rest_odd", "least", "bits", "scale_bits", "clamp")
_FRACTION = 16  # bits of a logarithm's fraction
_SEGMENTS = 7  # log2 of the pieces that it is interpolated in
_LN2 = 45426  # ln(2) * 2^16
_SNR_BITS, _GAIN_BITS = 12, 6  # of the fractions that a gain is computed with, and that it ends with


def _channels(site: Site, inputs: Sequence[Any]) -> tuple[Any, ...]:
    """Each energy is weighed into its channel, and with the rest of its weight into the next."""
    x, weights, rests = (np.asarray(array).astype(np.uint64) for array in inputs[:3])
    firsts, places, widths = (np.asarray(array, np.int64) for array in inputs[3:])
    result, carried = [], np.uint64(0)
    for first, place, width in zip(firsts, places, widths, strict=True):
        energies = x[first : first + width]
        result.append(carried + (weights[place : place + width] * energies).sum(dtype=np.uint64))
        carried = (rests[place : place + width] * energies).sum(dtype=np.uint64)
    return (np.array(result[1:], np.uint64),)


def _root(value: int) -> int:
    """To the nearest whole number, as the library rounds: at most 16 bits where the value has 32, else 32."""
    root = isqrt(value)
    return root + (value - root * root > root and root != (0xFFFF if value < 2**32 else 0xFFFFFFFF))


def _roots(site: Site, inputs: Sequence[Any]) -> tuple[Any, ...]:
    bits = int(np.asarray(inputs[1])) & 31
    return (np.array([_root(int(each)) >> bits for each in np.asarray(inputs[0])], np.uint32),)


def _subtracted(site: Site, inputs: Sequence[Any]) -> tuple[Any, ...]:
    x, noise = (np.asarray(array).astype(np.uint64) for array in inputs)
    node, odd = site.node, np.arange(len(x)) % 2 == 1
    bits, scale = np.uint64(node.integer("bits")), np.uint64(node.integer("scale_bits"))
    share = np.where(odd, node.integer("smoothing_odd"), node.integer("smoothing")).astype(np.uint64)
    rest = np.where(odd, node.integer("rest_odd"), node.integer("rest")).astype(np.uint64)
    scaled = _low(x << bits)
    estimate = _low((scaled * share + noise * rest) >> scale)
    taken = np.minimum(estimate, scaled)
    least = _low((x * np.uint64(node.integer("least"))) >> scale)
    kept = np.maximum((scaled - taken) >> bits, least)
    return kept.astype(np.uint32), (taken if node.integer("clamp") else estimate).astype(np.uint32)


def _low(values: Any) -> Any:
    return values & np.uint64(0xFFFFFFFF)


def _gained(site: Site, inputs: Sequence[Any]) -> tuple[Any, ...]:
    table = [int(each) for each in np.asarray(inputs[2])]
    shift = site.node.integer("snr_shift")
    result = []
    for x, noise in zip(np.asarray(inputs[0]), np.asarray(inputs[1]), strict=True):
        snr = (((int(x) * (_gain(int(noise), table) & 0xFFFFFFFF)) & (2**64 - 1)) >> shift) & 0xFFFFFFFF
        if snr < 2 << _SNR_BITS:
            result.append((snr * snr) >> (2 + 2 * _SNR_BITS - _GAIN_BITS))
        else:
            result.append((snr >> (_SNR_BITS - _GAIN_BITS)) - (1 << _GAIN_BITS))
    return (np.array(result, np.uint32),)


def _gain(noise: int, table: Sequence[int]) -> int:
    """A polynomial of the second degree for each power of two."""
    if noise <= 2:
        return table[noise]
    interval = noise.bit_length()
    place = 4 * interval - 6
    fraction = (noise << (11 - interval) if interval < 11 else noise >> (interval - 11)) & 0x3FF
    slope = ((table[place + 2] * fraction) >> 5) + (table[place + 1] << 5)
    return _signed(((_signed(slope * fraction, 32) + (1 << 14)) >> 15) + table[place], 16)


def _signed(value: int, bits: int) -> int:
    half = 1 << (bits - 1)
    return ((value + half) & (2 * half - 1)) - half


def excess() -> list[int]:
    """By how much log2(1 + f) is more than f, for f in 128ths, in 65536ths."""
    fractions = np.arange((1 << _SEGMENTS) + 1) / (1 << _SEGMENTS)
    return [int(each) for each in np.round((np.log2(1 + fractions) - fractions) * (1 << _FRACTION))]


def _logarithms(site: Site, inputs: Sequence[Any]) -> tuple[Any, ...]:
    bits, scale, table = site.node.integer("bits"), site.node.integer("scale"), excess()
    scaled = [(int(each) << bits) & 0xFFFFFFFF for each in np.asarray(inputs[0]).reshape(-1)]
    result = [min(_logarithm(each, scale, table), 2**15 - 1) if each > 1 else 0 for each in scaled]
    return (np.array(result, np.int16).reshape(site.output.shape),)


def _logarithm(value: int, scale: int, table: Sequence[int]) -> int:
    whole_part, half = value.bit_length() - 1, 1 << (_FRACTION - 1)
    fraction = (((value - (1 << whole_part)) << 32) >> (16 + whole_part)) & 0xFFFF
    piece, inside = fraction >> (_FRACTION - _SEGMENTS), fraction & ((1 << (_FRACTION - _SEGMENTS)) - 1)
    between = ((table[piece + 1] - table[piece]) * inside) >> _FRACTION
    log2 = (whole_part << _FRACTION) + fraction + table[piece] + between
    natural = (_LN2 * log2 + half) >> _FRACTION
    return ((scale * natural + half) & 0xFFFFFFFF) >> _FRACTION


def _one_less(site: Site) -> tuple[tuple[int, ...]]:
    return ((site.input(3).shape[0] - 1,),)


BANK = operator(
    "FilterBank", ("X", "W", "U", "F", "P", "N"), (("Y", DType.U64),),
    "energies in overlapping channels: weights W and U of what goes to the next, first bins F, places P, widths N",
    _channels, access=whole("X[:] W[:] U[:] F[:] P[:] N[:]", "Y[:]"), shapes=_one_less,
)  # fmt: skip
ROOT = operator(
    "SquareRoot", ("X", "bits"), (("Y", DType.U32),), "the rounded root of X, shifted down by bits", _roots,
    access=whole("X[:] bits[]", "Y[:]"),
)  # fmt: skip
SUBTRACTION = operator(
    "SpectralSubtraction", ("X", "noise"), (("Y", DType.U32), ("next", DType.U32)),
    "X without the noise that is estimated of it and of what was before", _subtracted, _SMOOTHING,
    access=whole("X[:] noise[:]", "Y[:] next[:]"),
)  # fmt: skip
GAIN = operator(
    "PCAN", ("X", "noise", "T"), (("Y", DType.U32),), "X by a gain for its noise, and compressed", _gained,
    ("snr_shift",), access=whole("X[:] noise[:] T[:]", "Y[:]"),
)  # fmt: skip
LOG = operator(
    "Log", ("X",), (("Y", DType.I16),), "scale * ln(X << bits), at most 32767", _logarithms, ("bits", "scale"),
    access=elements(),
)  # fmt: skip


def _excess(call: Call) -> dict[str, object]:
    return {"excess": excess()}


OPERATORS = (BANK, ROOT, SUBTRACTION, GAIN, LOG)
KERNELS = (
    kernel(
        BANK,
        "${channels}, ${X}, ${x_step}, ${W}, ${w_step}, ${U}, ${u_step}, ${F}, ${f_step}, ${P}, ${p_step}, ${N}, "
        "${n_step}, ${Y}, ${y_step}",
        values=lambda call: {"channels": call.site.output.shape[0]},
    ),
    kernel(ROOT, "${count}, ${X}, ${x_step}, *${bits}, ${Y}, ${y_step}"),
    kernel(
        SUBTRACTION,
        "${count}, ${X}, ${x_step}, ${noise}, ${noise_step}, ${Y}, ${y_step}, ${next}, ${next_step}, "
        "(const uint32_t[2]){${smoothing}u, ${smoothing_odd}u}, (const uint32_t[2]){${rest}u, ${rest_odd}u}, "
        "${least}u, ${bits}, ${scale_bits}, ${clamp}",
        words=_SMOOTHING,
    ),
    kernel(
        GAIN,
        "${count}, ${X}, ${x_step}, ${noise}, ${noise_step}, ${T}, ${t_step}, ${Y}, ${y_step}, ${snr_shift}",
        words=("snr_shift",),
    ),
    kernel(
        LOG,
        '${count}, ${X}${at["X"]}, ${x_step}, ${Y}${at["Y"]}, ${y_step}, ${bits}, ${scale}',
        words=("bits", "scale"),
        values=_excess,
        elementwise=True,
    ),
)
