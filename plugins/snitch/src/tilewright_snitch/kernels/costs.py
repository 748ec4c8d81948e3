"""Knows how many cycles a core takes for products by streams, from the structure of their blocks.
Does not know how tiles are shared or copied, nor waiting for banks of TCDM.

Blocks count as their instructions; what a call and a set-up of streams take was fitted to executions of the compiled
kernels (gcc 12, -O3) on the simulated core of tests/iss.
"""

from __future__ import annotations

from collections.abc import Iterator

from tilewright_snitch.kernels.blocks import WIDTHS

LATENCY = 4  # cycles from a product to the next one of the same sum
SETUP_CYCLES = 115.0  # of the streams, for all blocks of a width
CALL_CYCLES = 60.0
BLOCK_CYCLES = 4.0


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
