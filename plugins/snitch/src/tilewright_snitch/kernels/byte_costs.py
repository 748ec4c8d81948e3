"""Knows how many cycles a core takes for layers of bytes in the float unit: widening, products, requantisation.
Does not know how columns are chosen that are computed together.

What is beside products was fitted as those were, see `costs`.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from tilewright.api import ceil_div
from tilewright_snitch.kernels.byte_layers import ByteLayer
from tilewright_snitch.kernels.costs import CALL_CYCLES, products_cycles, taps_cycles

BYTE_CYCLES = 3.3  # of a byte that is widened
WIDE_ROW_CYCLES = 50.0  # of a run of them
MOVE_CYCLES = 1.2  # of a float that the next row needs, too
RUN_CYCLES = 150.0  # of columns that are computed together: their place, and calls
EIGHT_CYCLES, FOUR_CYCLES, ONE_CYCLES = 50.0, 34.0, 30.0  # of results of a pixel, so many outputs together
RESULTS_CYCLES = 75.0  # of these, beside their pixels

CALL_READS, ROW_READS = 30.0, 63.0  # of the stack: of a call, and of a row of a run of columns
DEPTHWISE_ROW_READS = 79.0  # the same, where channels are by themselves
AGAIN_CYCLES = 3000.0  # of a tile: code that has left the cache since the last one

PRODUCT_CALL_CYCLES = 120.0
PRODUCT_CYCLES = {4: 8.75, 1: 3.7}  # of a weight, rows together
PRODUCT_BLOCK_CYCLES = {4: 502.0, 1: 126.0}  # of four outputs


@dataclass(frozen=True, slots=True, kw_only=True)
class ByteRows:
    """Part of a tile: batches of rows of so many columns, at most so many of them at once."""

    batches: int
    rows: int
    columns: int
    at_once: int
    channels: int  # of x
    outputs: int

    @property
    def runs(self) -> int:
        """Of columns in a row."""
        return ceil_div(self.columns, self.at_once)

    @property
    def together(self) -> float:
        """Columns of a run, on average."""
        return self.columns / self.runs


def _widening(layer: ByteLayer, work: ByteRows) -> float:
    """Of all rows of a run of columns: each row of x once, and what stays moved."""
    windows = layer.windows.two_axes
    (taps, column_taps), (stride, column_stride) = windows.kernel, windows.strides
    seen = (work.together - 1) * column_stride + (column_taps - 1) * windows.dilations[1] + 1
    fresh = min(stride, taps) if windows.dilations[0] == 1 else taps
    widened = taps + (work.rows - 1) * fresh
    joined = layer.channels == layer.wide == work.channels
    each = WIDE_ROW_CYCLES * (1 if joined else seen) + BYTE_CYCLES * seen * work.channels
    return widened * each + (work.rows - 1) * (taps - fresh) * MOVE_CYCLES * seen * work.channels


def _results(work: ByteRows) -> float:
    """Of a run."""
    eights, rest = divmod(work.outputs, 8) if work.outputs % 2 == 0 else (0, work.outputs)
    fours, ones = divmod(rest, 4)
    pixel = EIGHT_CYCLES * eights + FOUR_CYCLES * fours + ONE_CYCLES * ones
    return RESULTS_CYCLES * (eights + fours + ones) + work.together * pixel


def conv_cycles(layer: ByteLayer, work: ByteRows) -> float:
    """Of a convolution: all channels, or a part of them."""
    part = work.channels < layer.channels
    depth = prod(layer.windows.kernel) * (work.channels if part else layer.wide)
    setup = products_cycles(0, work.outputs, depth, double=False, bias=part, clip=0)
    pixel = products_cycles(1, work.outputs, depth, double=False, bias=part, clip=0) - setup
    row = RUN_CYCLES + setup + work.together * pixel + _results(work) * work.channels / layer.channels
    return CALL_CYCLES + work.batches * work.runs * (_widening(layer, work) + work.rows * row)


def depthwise_cycles(layer: ByteLayer, work: ByteRows) -> float:
    """Of a convolution whose channels are by themselves."""
    run = [(round(work.together), prod(layer.windows.kernel))]
    sums = taps_cycles(1, run, work.channels + work.channels % 2, kind="products", clip=0)
    row = RUN_CYCLES + sums + _results(work)
    return CALL_CYCLES + work.batches * work.runs * (_widening(layer, work) + work.rows * row)


def stack_reads(layer: ByteLayer, work: ByteRows) -> float:
    """Of either: what functions save, and what does not fit registers."""
    row = DEPTHWISE_ROW_READS if layer.depthwise else ROW_READS
    return CALL_READS + work.batches * work.runs * work.rows * row


def gemm_cycles(rows: int, outputs: int, depth: int) -> float:
    """Of rows times a constant matrix of bytes."""
    blocks, total = ceil_div(outputs, 4), PRODUCT_CALL_CYCLES
    for together, count in ((4, rows // 4), (1, rows % 4)):
        total += count * blocks * (PRODUCT_BLOCK_CYCLES[together] + 4 * depth * PRODUCT_CYCLES[together])
    return total
