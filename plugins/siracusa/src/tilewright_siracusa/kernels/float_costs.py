"""Knows how many cycles a core takes for layers of floats, from the structure of each kernel's loops.
Does not know how tiles are shared or copied.

`STEP` is the inner loop of a block, for one product of each of its sums. The other numbers were fitted to executions of
the compiled kernels (gcc 12, -O3) on the simulator of tests/iss, which holds every model to 15 %.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from types import MappingProxyType

from tilewright.api.graph import Site
from tilewright.api.kernel import Windows
from tilewright_siracusa.kernels.costs import Edges, layer_edges

SIZES = (4, 1)  # of blocks, the largest first
STEP: Mapping[tuple[int, int], float] = MappingProxyType({(4, 4): 27.0, (1, 4): 11.0, (4, 1): 13.0, (1, 1): 5.25})
PADDED = 1.036  # pointers that padding needs take registers from sums


def blocks(count: int) -> Iterator[tuple[int, int]]:
    """Sizes, and how many blocks of that size cover `count`, the largest first."""
    for size in SIZES:
        yield size, count // size
        count %= size


@lru_cache(maxsize=4096)
def steps_cycles(rows: int, columns: int) -> float:
    """One product of each of `rows` times `columns` sums."""
    tall, wide = tuple(blocks(rows)), tuple(blocks(columns))
    return sum(STEP[row, column] * count * more for row, count in tall for column, more in wide)


def conv_cycles(
    pixels: int, outputs: int, part: tuple[int, int], site: Site, windows: Windows, *, padded: bool
) -> float:
    """A convolution of so many pixels; `windows` over two axes. `part` is the rows of taps and channels computed."""
    (row_taps, inputs), column_taps = part, windows.kernel[1]
    rows = float(row_taps)
    parts = float(column_taps if windows.dilations[1] > 1 else 1)  # runs of one row of taps
    if padded:
        inside = rows_inside(windows, (1, *site.input(0).shape[2:])[-2], (1, *site.output.shape[2:])[-2])
        rows *= inside / windows.kernel[0]
        edged = min(1.0, 2 * layer_edges(site, windows).pairs)  # fours of pixels are read tap by tap
        parts += edged * (column_taps - parts)
    steps = sum(count * (1 if size == SIZES[0] else 0.6) for size, count in blocks(pixels))
    runs = steps * sum(count for _, count in blocks(outputs)) * rows * parts
    products = steps_cycles(pixels, outputs) * rows * column_taps * inputs
    if padded:
        return PADDED * products + 67 * runs + 36 * pixels * outputs
    return products + 20 * runs + 8.5 * pixels * outputs


@lru_cache(maxsize=256)
def rows_inside(windows: Windows, extent: int, outputs: int) -> float:
    """How many rows of taps lie inside the input, on average over all rows of pixels."""
    starts = range(-windows.before[0], outputs * windows.strides[0] - windows.before[0], windows.strides[0])
    taps = range(0, windows.reach[0], windows.dilations[0])
    return sum(0 <= start + tap < extent for start in starts for tap in taps) / len(starts)


def matmul_cycles(rows: int, columns: int, depth: int) -> float:
    """One product of two matrices."""
    count = sum(number for _, number in blocks(rows)) * sum(number for _, number in blocks(columns))
    return steps_cycles(rows, columns) * depth + 4.9 * rows * columns + 6 * count


def depthwise_cycles(rows: int, columns: int, channels: int, taps: int, edges: Edges) -> float:
    """A depthwise convolution of `rows` times `columns` pixels."""
    outputs = rows * columns * channels
    outside = 1 - (1 - edges.rows) * (1 - edges.columns)
    return outputs * (2.2 * taps * (1 - outside) + (5.2 * taps + 22) * outside) + 36 * channels * rows
