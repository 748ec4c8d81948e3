"""Knows what portable convolutions take on a core of the cluster for a part of a tile.
Does not know how a tile is shared, nor any other operator; nor in which of two ways an output of bytes is requantised:
by the formula itself, it takes up to a hundred cycles more.

Portable C computes four outputs of a group beside each other, and what is left of it one by one; of bytes, four groups
of one output, too. So a core with few outputs takes more for each, and so do groups of two outputs or three. gcc writes
loops over few channels out, whose number it knows; others begin anew for every tap. The figures are cycles of the
simulated core with GVSoC's timing (gcc 12, -O3), in calls that do not know how many outputs they have; those of 16 bits
and of sums of integers are of GVSoC, at shapes of the tests: in a step, gcc has fewer registers for what a loop needs.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from tilewright.api.graph import DType, Site
from tilewright.api.kernel import TileShape, windows_of
from tilewright_snitch.pools import taps_inside


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockCycles:
    """Of four outputs beside each other, or of one: to begin and finish, of a tap, of a product."""

    begin: float
    tap: float
    product: float


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowCycles:
    """Of a window, and of its blocks."""

    window: float
    four: BlockCycles
    one: BlockCycles


_FEW = 12  # channels of which gcc writes out every product
_RUN = 16  # bytes beside each other, the same
_FLOATS: Mapping[DType, tuple[WindowCycles, WindowCycles]] = {  # of few channels, of many
    DType.F32: (
        WindowCycles(
            window=87.0,
            four=BlockCycles(begin=199.0, tap=1.6, product=3.3),
            one=BlockCycles(begin=129.0, tap=1.8, product=3.9),
        ),
        WindowCycles(
            window=131.0,
            four=BlockCycles(begin=3.0, tap=66.0, product=3.6),
            one=BlockCycles(begin=0.0, tap=20.0, product=7.8),
        ),
    ),
    DType.BF16: (
        WindowCycles(
            window=137.0,
            four=BlockCycles(begin=138.0, tap=0.0, product=13.5),
            one=BlockCycles(begin=49.0, tap=0.0, product=22.0),
        ),
        WindowCycles(
            window=32.0,
            four=BlockCycles(begin=112.0, tap=0.0, product=15.9),
            one=BlockCycles(begin=0.0, tap=0.0, product=22.0),
        ),
    ),
    DType.F16: (
        WindowCycles(
            window=232.0,
            four=BlockCycles(begin=478.0, tap=0.0, product=34.5),
            one=BlockCycles(begin=107.0, tap=0.0, product=43.0),
        ),
        WindowCycles(
            window=214.0,
            four=BlockCycles(begin=486.0, tap=53.0, product=32.0),
            one=BlockCycles(begin=48.0, tap=27.0, product=47.0),
        ),
    ),
}
_BYTES_FOUR = 100.0  # of four outputs
_BYTES_FEW, _BYTES_MANY = 11.2, 8.7  # of a product of these, in a short run and in a long one
_BYTES_ONE, _BYTES_ONE_PRODUCT = 50.0, 15.2
_PADDED_TAP, _PADDED_PRODUCT = 10.0, 2.5  # of padding that counts, for each output: of a tap, of a channel
_SUM, _SUM_TAP, _SUM_PRODUCT = 50.0, 10.0, 11.0  # of sums of integers
_SUM_ZEROS = 15.0  # of a product there, with zero points of weights, and taps
_SPREAD, _SPREAD_TAP = 105.0, 10.0  # of a position, of a tap that reaches it
_SPREAD_OUTPUT, _SPREAD_PRODUCT = 30.0, 8.7  # of each output there, of a product


def convolution_cycles(op: str, tile: TileShape) -> float | None:
    """Of a tile, or a core's part of one; None for what is no convolution in C that was counted."""
    site = tile.site
    if op == "Conv" and site.output.dtype in _FLOATS:
        return _floats(tile)
    if op == "QConv" and site.input(0).dtype in (DType.I8, DType.U8) and site.input(1).dtype is DType.I8:
        return _bytes(tile)
    if op == "ConvInteger":
        return _sums(tile)
    return _spread(tile) if op == "ConvTranspose" and site.output.dtype is DType.F32 else None


def blocks_of(outputs: int, each: int) -> tuple[int, int]:
    """How many blocks of four, and how many outputs by themselves, so many outputs of groups of `each` are."""
    groups, rest = divmod(outputs, each)
    return groups * (each // 4) + rest // 4, groups * (each % 4) + rest % 4


def _counts(tile: TileShape) -> tuple[int, int, int]:
    """Windows, outputs and channels of the part."""
    batches, outputs, *windows = (span.extent for span in tile.access.window("Y", tile.box))
    low, high = tile.box["c"]
    return batches * math.prod(windows), outputs, high - low


def _each(site: Site) -> int:
    """Outputs of a group."""
    return site.output.shape[1] // site.node.integer("group", 1)


def _floats(tile: TileShape) -> float:
    windows, outputs, channels = _counts(tile)
    single_costs, several = _FLOATS[tile.site.output.dtype]
    cycles, taps = single_costs if channels == tile.site.input(1).shape[1] <= _FEW else several, taps_inside(tile.site)
    fours, ones = blocks_of(outputs, _each(tile.site))
    four = cycles.four.begin + taps * (cycles.four.tap + cycles.four.product * 4 * channels)
    single = cycles.one.begin + taps * (cycles.one.tap + cycles.one.product * channels)
    return windows * (cycles.window + fours * four + ones * single)


def _bytes(tile: TileShape) -> float:
    site, (windows, outputs, channels) = tile.site, _counts(tile)
    taps, each, row = taps_inside(site), _each(site), site.input(1).shape[-1]
    fours, ones = divmod(outputs, 4) if each == 1 else blocks_of(outputs, each)
    product = _BYTES_FEW if channels * row <= _RUN else _BYTES_MANY
    total = fours * (_BYTES_FOUR + product * 4 * taps * channels)
    total += ones * (_BYTES_ONE + _BYTES_ONE_PRODUCT * taps * channels)
    if site.node.integer("pad_value", 0) != site.node.integer("x_zero_point", 0):
        outside = math.prod(windows_of(site.node).kernel) - taps
        total += outputs * outside * (_PADDED_TAP + _PADDED_PRODUCT * channels)
    return windows * total


def _sums(tile: TileShape) -> float:
    site, (windows, outputs, channels) = tile.site, _counts(tile)
    each = _SUM_ZEROS if site.has_input(3) and math.prod(windows_of(site.node).kernel) > 1 else _SUM_PRODUCT
    return windows * outputs * (_SUM + taps_inside(site) * (_SUM_TAP + each * channels))


def _spread(tile: TileShape) -> float:
    """Of each tap, only some positions are reached: those that its strides hit."""
    site, (positions, outputs, channels) = tile.site, _counts(tile)
    windows = windows_of(site.node)
    reached = math.prod(windows.kernel) * math.prod(site.input(0).shape[2:]) / math.prod(site.output.shape[2:])
    each = _SPREAD_OUTPUT + _SPREAD_PRODUCT * channels
    return positions * (_SPREAD + reached * (_SPREAD_TAP + outputs * each))
