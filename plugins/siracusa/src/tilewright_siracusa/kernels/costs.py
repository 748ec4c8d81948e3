"""Knows how many cycles a core of the cluster takes for its share of a tile, from the structure of each kernel's loops.
Does not know how tiles are shared or copied.

Inner loops count as their instructions. The other numbers were fitted to executions of the compiled kernels (gcc 12,
-O3) on the simulator of tests/iss, which counts what an in-order core with four stages takes; that test holds every
model to 15 % of the simulator. Waiting for banks of the scratchpad is not in them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from tilewright.api import ceil_div
from tilewright.api.graph import Site
from tilewright.api.kernel import TileShape, Windows
from tilewright_siracusa.kernels.layers import BLOCK, ProductLayer

WORD = 4


@dataclass(frozen=True, slots=True)
class Edges:
    """Which part of a layer's output columns, rows, and pairs of neighbouring ones read outside the input."""

    columns: float
    pairs: float  # of columns
    rows: float
    row_pairs: float


@lru_cache(maxsize=1024)
def edges_of(windows: Windows, extents: tuple[int, int], outputs: tuple[int, int]) -> Edges:
    """The edges of windows over an image of these rows and columns."""
    outside = [
        [
            start < 0 or start + windows.reach[axis] > extents[axis]
            for start in range(-windows.before[axis], outputs[axis] * windows.strides[axis] - windows.before[axis],
                               windows.strides[axis])
        ]
        for axis in range(2)
    ]  # fmt: skip
    rows, columns = outside
    row_pairs, pairs = ([any(axis[first : first + 2]) for first in range(0, len(axis), 2)] for axis in outside)
    return Edges(_part(columns), _part(pairs), _part(rows), _part(row_pairs))


def _part(flags: list[bool]) -> float:
    return sum(flags) / len(flags)


def layer_edges(site: Site, windows: Windows) -> Edges:
    """The edges of a convolution or pool, over one or two axes."""
    x, y = site.input(0).shape[2:], site.output.shape[2:]
    return edges_of(windows.two_axes, (1, *x)[-2:], (1, *y)[-2:])


def trips(tile: TileShape, *loops: str) -> int:
    """The product of these loops' extents; those that the tile does not have count as 1."""
    count = 1
    for loop in loops:
        low, high = tile.box.get(loop, (0, 1))
        count *= high - low
    return count


def leading_trips(tile: TileShape) -> int:
    """The product of all leading loops."""
    return trips(tile, *(name for name in tile.box if name.startswith("_lead")))


def products_cycles(
    pixels: int, outputs: int, words: int, runs: float, pointers: float, padded: bool, finished: float = 1.0
) -> float:
    """Windows of so many `words`, read in place in `runs` per pair of pixels; `pointers` are written at edges.

    Of the calls that compute parts of these windows, `finished` is the share that writes results; others keep sums.
    """
    pairs, single, blocks = pixels // 2, pixels % 2, ceil_div(outputs, BLOCK)
    ends = (75.0, 61.0) if finished == 1 else (30 + 60 * finished, 10 + 35 * finished)
    pair, alone = 14 * words + 5 * runs + ends[0], 9 * words + 4 * runs + ends[1]
    around = 36 * pixels + 7.5 * pairs * pointers + 20 if padded else 12 * pixels + 60
    return blocks * (pairs * pair + single * alone) + around


def apart_cycles(pixels: int, outputs: int, words: int, runs: float) -> float:
    """What it takes beside them that two channels share a byte: sums of what is read, and sums that come apart."""
    pairs, single, blocks = pixels // 2, pixels % 2, ceil_div(outputs, BLOCK)
    return pairs * (4 * words + 4 * runs + 18 + 12 * blocks) + single * (3 * words + 3 * runs + 12 + 6 * blocks)


def column_cycles(pixels: int, outputs: int, words: int, copying: float) -> float:
    """Windows copied to columns first, which takes `copying` cycles for one."""
    pairs, single, blocks = pixels // 2, pixels % 2, ceil_div(outputs, BLOCK)
    return blocks * (pairs * (14 * words + 93) + single * (9 * words + 110)) + pixels * copying + 60


def vector_cycles(outputs: int, depth: int, finished: float = 1.0, *, nibbles: bool = False) -> float:
    """One row of a fully connected layer; `finished` as in `products_cycles`. Of weights of 4 bits, what is read is
    added up for every block.
    """
    words, rest = ceil_div(depth, WORD), outputs % BLOCK
    end = 52 if finished == 1 else 19 + 37 * finished
    four, two = (10, 6) if nibbles else (9, 5)
    end += 8 * nibbles
    fours = outputs // BLOCK * (four * words + end)
    copying = 1.5 * depth if depth % WORD else 0
    return fours + rest // 2 * (two * words + 0.67 * end) + rest % 2 * (4 * words + 0.48 * end) + copying + 20


def lanes_cycles(rows: int, columns: int, channels: int, layer: ProductLayer, edges: Edges, pair: int) -> float:
    """A depthwise convolution of `rows` times `columns` pixels."""
    row_taps, taps = layer.windows.kernel
    groups = ceil_div(taps, WORD)
    outside = columns * edges.columns
    inside = columns - outside
    pairs = inside // 2 if pair else 0
    single = inside - 2 * pairs
    calls = (pairs + single + outside) * groups * edges.rows
    row = (
        pairs * (row_taps * (26 + pair) + 82) + single * (row_taps * (18 * groups + taps) + 43)
        + outside * (22 * row_taps * groups + 177) + 40 * calls
    )  # fmt: skip
    whole, rest = divmod(channels, BLOCK)
    some = columns * (row_taps * groups * 95 + 150) if rest else 0
    return rows * (whole * row + some) + 40 * (whole + 1)


def average_cycles(pixels: int, channels: int, kernel: tuple[int, ...]) -> float:
    """Averages over windows of this size."""
    groups, (whole, rest) = ceil_div(kernel[1], WORD), divmod(channels, BLOCK)
    pixel = kernel[0] * (14 * groups + kernel[1]) + 8 * (groups - 1) + 53
    some = kernel[0] * groups * 95 + 100 if rest else 0
    return pixels * (whole * pixel + some) + 20 * (whole + 1)


def max_cycles(pixels: int, channels: int, taps: int) -> float:
    """Largest elements of windows of so many taps."""
    return pixels * ceil_div(channels, BLOCK) * (13 + 1.4 * taps) + 40


def matmul_cycles(rows: int, columns: int, depth: int, finished: float = 1.0, *, row_sums: bool) -> float:
    """One product of two computed matrices; `finished` as in `products_cycles`."""
    words, blocks = ceil_div(depth, WORD), ceil_div(columns, BLOCK)
    copies = 7.7 * words if depth % WORD else 0
    pair, single = (84.0, 70.0) if finished == 1 else (45 + 54 * finished, 37 + 44 * finished)
    block = 44 * words + rows // 2 * (14 * words + pair) + rows % 2 * (9 * words + single) + rows * copies
    return blocks * block + (rows * words * 2.9 if row_sums else 0) + 60
