"""Knows how many cycles a core takes for products, by streams or of bytes, from the structure of their blocks.
Does not know how tiles are shared or copied, nor waiting for banks of TCDM.

Blocks count as their instructions, or as what passes the one port through which a core of GVSoC reads, if that is more;
what a call and a set-up of streams take was fitted to executions of the compiled kernels (gcc 12, -O3) on the simulated
core of tests/iss, with GVSoC's timing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tilewright.api import ceil_div
from tilewright_snitch.kernels.blocks import WIDTHS

LATENCY = 4  # cycles from a product to the next one of the same sum
LIMIT_CYCLES, PACKED_LIMIT_CYCLES = 2, 3  # of a minimum or maximum, of one value and of two
SETUP_CYCLES = 180.0  # of the streams, for all blocks of a width
CALL_CYCLES = 160.0
AHEAD_CYCLES = 5.0  # of a block, while the one before is finished: streams bring the first elements
TAPS_RUN_CYCLES, TAPS_CYCLES = 170.0, 100.0  # of a run of pixels, of its blocks of a width
TAPS_BLOCK_CYCLES, PIXEL_CYCLES = 25.0, 5.0
TAPS_CALL_CYCLES = 280.0
PRODUCTS_READS, SETUP_READS = 38.0, 23.0  # of the stack: of a call, and of each width of blocks
LANES_SETUP_CYCLES = 130.0  # of one stream, for all rows of a width
LANES_CYCLES = 12.0  # of a block of rows and pairs, beside its instructions
INTEGER_CALL_CYCLES = 150.0
INTEGER_PIXEL_CYCLES, INTEGER_TAP_CYCLES, INTEGER_BYTE_CYCLES = 20.0, 24.0, 4.0  # of the copy of a window
INTEGER_BLOCK_CYCLES = {4: 318.0, 1: 87.0}  # biases, requantisation and results: four outputs of so many pixels
INTEGER_STEP_CYCLES = {4: 453.0, 1: 126.0}  # of four elements: products of five cycles, and waiting for loads


def widths(outputs: int) -> Iterator[tuple[int, int]]:
    """Widths, and how many blocks of each cover the outputs, the widest first."""
    for width in WIDTHS:
        if outputs >= width:
            yield width, outputs // width
            outputs %= width


def products_cycles(
    rows: int, outputs: int, depth: int, *, double: bool, bias: bool, clip: int, alone: bool = False
) -> float:
    """Rows of outputs, `depth` products each; `clip`: how many limits; `alone`: every block is set up by itself."""
    steps = depth if double else depth / 2
    finish = (1 if double else 5) + 2 * bias + (LIMIT_CYCLES * clip + (clip > 0))
    total = CALL_CYCLES
    for width, blocks in widths(outputs):
        block = steps * max(width + 1, LATENCY) + finish * width + (LATENCY if width < LATENCY else -AHEAD_CYCLES)
        total += SETUP_CYCLES * (blocks if alone else 1) + rows * blocks * block
    return total


def products_reads(outputs: int) -> float:
    """What such a call reads of its stack: what functions save, and what does not fit registers."""
    return PRODUCTS_READS + SETUP_READS * sum(1 for _ in widths(outputs))


def taps_cycles(rows: int, runs: Sequence[tuple[int, int]], channels: int, *, kind: str, clip: int) -> float:
    """Windows of channels by themselves: rows, each of `runs` of so many pixels with so many taps inside."""
    total, finish = TAPS_CALL_CYCLES, 2 + (kind == "sum") + (PACKED_LIMIT_CYCLES * clip + (clip > 0))
    passed = {"products": 2, "sum": 1, "max": 1 + PACKED_LIMIT_CYCLES}[kind]
    for pixels, taps in runs:
        total += rows * TAPS_RUN_CYCLES
        for width, blocks in widths(channels // 2):
            tap = max(passed * width, LATENCY)
            block = TAPS_BLOCK_CYCLES + pixels * (taps * tap + finish * width + PIXEL_CYCLES)
            total += rows * (TAPS_CYCLES + blocks * block)
    return total


def lanes_cycles(rows: int, outputs: int, depth: int, *, clip: int) -> float:
    """A product of two computed matrices of float32, two rows at a time."""
    total = CALL_CYCLES
    for width, count in widths(outputs // 2):
        for height, blocks in ((2, rows // 2), (1, rows % 2)):
            sums = width * height
            four = max(4 * sums, LATENCY * 4) + 4 * height + height + 1
            clipped = sums * (PACKED_LIMIT_CYCLES * clip + 1) + 4 * LATENCY + 5 if clip else 0
            finish = 2 * sums + LANES_CYCLES + clipped
            block = depth // 4 * four + depth % 4 * (four / 4 + 2) + finish
            total += count * (LANES_SETUP_CYCLES + blocks * block) if blocks else 0.0
    return total


def integers_cycles(pixels: int, outputs: int, elements: int, taps: int) -> float:
    """Products of bytes on the integer core: windows of so many elements in so many taps, times constants."""
    copying = INTEGER_PIXEL_CYCLES + taps * INTEGER_TAP_CYCLES + elements * INTEGER_BYTE_CYCLES
    total = INTEGER_CALL_CYCLES + pixels * copying
    for together, count in ((4, pixels // 4), (1, pixels % 4)):
        block = INTEGER_BLOCK_CYCLES[together] + ceil_div(elements, 4) * INTEGER_STEP_CYCLES[together]
        total += count * ceil_div(outputs, 4) * block
    return total
