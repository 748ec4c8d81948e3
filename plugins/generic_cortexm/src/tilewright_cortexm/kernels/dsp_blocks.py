"""Knows in which blocks the DSP extension computes convolutions and matrix products: columns and channels together, and
the scratch that columns take. Does not know what is computed, nor how weights are packed.
"""

from __future__ import annotations

from tilewright.api import align_up, ceil_div
from tilewright.api.kernel import TileShape
from tilewright_cortexm.kernels.dsp_pairs import pairs_of
from tilewright_cortexm.kernels.product_parts import share
from tilewright_cortexm.kernels.products import Rows, rows_of

SCRATCH_LIMIT_BYTES = 4096
_WORTH_PAIRS = 12  # columns at most for each one that would be computed twice


def fours_of(rows: Rows) -> int:
    """Fours of values in one run."""
    return ceil_div(rows.length, 4)


def room(rows: Rows, group_bytes: int) -> int:
    """Bytes of columns that take so many for every four values, and of a run at the edge of a row."""
    edge = rows.length if rows.padded else 0
    return rows.runs * fours_of(rows) * group_bytes + align_up(edge, 4)


def columns_together(rows: Rows) -> int:
    """Columns computed together."""
    several = rows.pixels >= 3 and rows.outputs > 1 and not rows.single
    return 3 if several and room(rows, 3 * 8) <= SCRATCH_LIMIT_BYTES else 1


def pairs_among(rows: Rows, pixels: int) -> int:
    """Blocks of two columns among so many pixels; 0 where three at a time, the last ones again, waste little."""
    left = -pixels % 3
    return left if columns_together(rows) == 3 and pixels >= 4 and left * _WORTH_PAIRS >= pixels else 0


def of_stripe(width: int, most: int) -> list[int]:
    """Columns of each block of a row of a stripe, from left to right: none is computed twice."""
    result = list[int]()
    while left := width - sum(result):
        result.append(min(most, left, 2 if left == 4 else 3))
    return result


def is_narrow(rows: Rows) -> bool:
    """Whether not even one widened column fits, or is to, and values stay bytes."""
    return rows.single or (columns_together(rows) == 1 and room(rows, 8) > SCRATCH_LIMIT_BYTES)


def is_pointwise(rows: Rows) -> bool:
    """Whether each pixel of y reads one of x, in the same order."""
    alone = rows.runs == 1 and rows.run_taps == 1 and not rows.padded
    return alone and rows.row_stride == rows.column_stride == 1


def is_direct(rows: Rows) -> bool:
    """Whether the bytes of a pixel are a column as they lie in x."""
    return is_narrow(rows) and is_pointwise(rows) and rows.channels % 4 == 0


def tile_scratch(tile: TileShape) -> int:
    """Bytes of scratch of a tile: none where it computes a part of the products."""
    rows, width = tile.site.analysis.rows, rows_of(tile).out_width
    most = min(columns_together(rows), width) if width < rows.out_width else columns_together(rows)
    return scratch(rows, most) if share(tile) == 1 else 0


def scratch(rows: Rows, pixels: int) -> int:
    """Bytes of so many columns."""
    return 0 if is_direct(rows) else room(rows, 4 if is_narrow(rows) else 8 * pixels)


def block_channels(rows: Rows) -> int:
    """Channels computed together."""
    return 2 if columns_together(rows) == 3 else 4


def channel_runs(rows: Rows) -> list[tuple[int, int, int]]:
    """First channel, how many blocks, channels in each: all channels, in one or two calls."""
    size, outputs = block_channels(rows), rows.outputs
    result = [(0, outputs // size, size)] if outputs >= size else []
    return result + ([(outputs - outputs % size, 1, outputs % size)] if outputs % size else [])


def channel_blocks(rows: Rows) -> list[range]:
    """The channels of every block of every group, in their order."""
    return [
        range(group + first + index * size, group + first + (index + 1) * size)
        for group in range(0, rows.y_step, rows.outputs)
        for first, count, size in channel_runs(rows)
        for index in range(count)
    ]


def pairs_of_channels(rows: Rows) -> list[range]:
    """The pairs of every block."""
    return [pair for block in channel_blocks(rows) for pair in pairs_of(block)]


def signature(rows: Rows) -> str:
    """Part of a C name: of equal ones all channels come in the same blocks."""
    return "_".join(str(part) for block in channel_runs(rows) for part in block)
