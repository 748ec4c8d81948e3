"""Knows how many cycles a core of the cluster takes for windows that are read from strips or copied, from the structure
of the loops. Does not know layers. The numbers beside the loops were fitted as those of `costs`.
"""

from __future__ import annotations

from functools import lru_cache

from tilewright.api import ceil_div
from tilewright.api.kernel import Windows
from tilewright_siracusa.kernels.strip_loops import StripLoop, strip_loop

TURNED = 19  # a row of four columns
STRAIGHT = 8  # words of a row that are copied without a loop
QUAD = 95  # around them
CALL = 50
CHANNEL = 31  # of a call
FINISH = 7  # of one output, its first sum among them
WAIT = 2  # for floats, of a pixel
ROW = 11  # of windows, where they do not fill the loop


def strip_cycles(
    windows: Windows, rows: int, columns: int, channels: int, *, most: tuple[int, int], pair: bool
) -> float:
    """Four channels or less of `rows` times `columns` windows; `most` are below and beside each other in a strip."""
    below, beside = most
    total = 0.0
    for high, chunks in ((below, rows // below), (rows % below, 1)):
        for wide, strips in ((beside, columns // beside), (columns % beside, 1)):
            if high and wide:
                total += chunks * strips * _strip(windows, high, wide, channels, pair)
    return total


def _strip(windows: Windows, high: int, wide: int, channels: int, pair: bool) -> float:
    (rows, columns), (down, across) = windows.kernel, windows.strides
    quads = ceil_div((wide - 1) * across + columns, 4)
    filling = quads * (QUAD + TURNED * ((high - 1) * down + rows))
    pairs, single = (wide // 2, wide % 2) if pair else (0, wide)
    return filling + pairs * _column(rows, down, 2, high, channels) + single * _column(rows, down, 1, high, channels)


@lru_cache(maxsize=4096)  # tiles of many sizes have the same columns
def _column(rows: int, stride: int, pixels: int, high: int, channels: int) -> float:
    loop = strip_loop(rows, stride, pixels)
    single = StripLoop(rows=rows, stride=stride, pixels=pixels, below=1)
    loops, rest = divmod(high, loop.below)
    return CALL + channels * (CHANNEL + loops * _trip(loop) + rest * (_trip(single) + ROW))


def _trip(loop: StripLoop) -> int:
    return len(loop.reads) + len(loop.outputs) * (loop.rows + FINISH) + WAIT * loop.pixels


def copying_cycles(windows: Windows, high: int, run: int, *, outside: float, joined: bool, padded: bool) -> float:
    """One window whose rows of `run` bytes are copied, `high` below each other at once; of the columns, the part
    `outside` reads beside the input.
    """
    rows, down, words = windows.kernel[0], windows.strides[0], ceil_div(run, 4)
    inside = 8 + (2 * words if words <= STRAIGHT else 5.5 * words)
    beside = 46 + 3 * run if joined else 25 + 30 * windows.kernel[1]
    apart = outside if joined else 1.0
    copied = ((high - 1) * down + rows) * ((1 - apart) * inside + apart * beside)
    return (copied + (110 if padded or not joined else 20)) / high
