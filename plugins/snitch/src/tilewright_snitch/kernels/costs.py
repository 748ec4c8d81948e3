"""Knows how many cycles a core takes for products by streams, from the structure of their blocks.
Does not know how tiles are shared or copied, nor waiting for banks of TCDM.

Blocks count as their instructions; what a call and a set-up of streams take was fitted to executions of the compiled
kernels (gcc 12, -O3) on the simulated core of tests/iss.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tilewright_snitch.kernels.blocks import WIDTHS

LATENCY = 4  # cycles from a product to the next one of the same sum
SETUP_CYCLES = 115.0  # of the streams, for all blocks of a width
CALL_CYCLES = 60.0
BLOCK_CYCLES = 4.0
TAPS_RUN_CYCLES, TAPS_CYCLES = 170.0, 100.0  # of a run of pixels, of its blocks of a width
TAPS_BLOCK_CYCLES, PIXEL_CYCLES = 25.0, 5.0
TAPS_CALL_CYCLES = 160.0
LANES_CYCLES = 12.0  # of a block of rows and pairs, beside its instructions


def widths(outputs: int) -> Iterator[tuple[int, int]]:
    """Widths, and how many blocks of each cover the outputs, the widest first."""
    for width in WIDTHS:
        if outputs >= width:
            yield width, outputs // width
            outputs %= width


def products_cycles(rows: int, outputs: int, depth: int, *, double: bool, bias: bool, clip: int) -> float:
    """Rows of outputs of one set-up, `depth` products each; `clip`: how many limits."""
    steps = depth if double else depth / 2
    finish = (1 if double else 5) + 2 * bias + (clip + (clip > 0))
    total = CALL_CYCLES
    for width, blocks in widths(outputs):
        block = steps * max(width, LATENCY) + finish * width + (LATENCY if width < LATENCY else 0) + BLOCK_CYCLES
        total += SETUP_CYCLES + rows * blocks * block
    return total


def taps_cycles(rows: int, runs: Sequence[tuple[int, int]], channels: int, *, kind: str, clip: int) -> float:
    """Windows of channels by themselves: rows, each of `runs` of so many pixels with so many taps inside."""
    total, finish = TAPS_CALL_CYCLES, 2 + (kind == "sum") + (clip + (clip > 0))
    for pixels, taps in runs:
        total += rows * TAPS_RUN_CYCLES
        for width, blocks in widths(channels // 2):
            tap = 2 * width if kind == "max" else max(width, LATENCY)
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
            finish = 2 * sums + LANES_CYCLES + (sums * (clip + 1) + 4 * LATENCY + 5 if clip else 0)
            block = depth // 4 * four + depth % 4 * (four / 4 + 2) + finish
            total += count * (SETUP_CYCLES + blocks * block) if blocks else 0.0
    return total
