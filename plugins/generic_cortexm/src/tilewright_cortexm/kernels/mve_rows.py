"""Knows how Helium's blocks go through the pixels of a layer: how many at once, in which steps, in place or copied.
Does not know what blocks multiply: geometries are in bytes, of values of any width.
"""

from __future__ import annotations

from collections.abc import Callable

from tilewright.api import align_up, ceil_div
from tilewright.api.graph import DType, Site
from tilewright.api.kernel import Call
from tilewright_cortexm.kernels.mve_packing import CHANNELS, LANES
from tilewright_cortexm.kernels.products import Rows
from tilewright_cortexm.kernels.row_tiles import in_stripe, row_fields

SCRATCH_LIMIT_BYTES = 4096
_UNROLLS = (4, 3, 2, 1)
_LONGEST_ROW = 12 * LANES  # of taps, for which there is code
_IMMEDIATE = 4096


def flip_of(site: Site) -> int:
    """What unsigned values are xored with: value - 128, signed."""
    return 128 if site.input(0).dtype is DType.U8 else 0


def read_in_place(site: Site, rows: Rows) -> bool:
    """Whether all that a pixel reads lies together."""
    return rows.runs == 1 and rows.run_taps == 1 and not rows.padded and not flip_of(site)


def length_of(rows: Rows) -> int:
    """Bytes that a pixel reads."""
    return rows.runs * rows.length


def room_of(rows: Rows) -> int:
    """Bytes that a copy of them takes."""
    return align_up(length_of(rows), LANES)


def pixels_together(rows: Rows) -> int:
    """Pixels of a block."""
    return 2 if rows.pixels > 1 and not rows.single and 2 * room_of(rows) <= SCRATCH_LIMIT_BYTES else 1


def channel_runs_of(rows: Rows) -> list[tuple[int, int, int]]:
    """First channel, how many blocks, channels in each."""
    outputs, rest = rows.outputs, rows.outputs % CHANNELS
    result = [(0, outputs // CHANNELS, CHANNELS)] if outputs >= CHANNELS else []
    return result + ([(outputs - rest, 1, rest)] if rest else [])


def steps_of(rows: Rows) -> tuple[int, int]:
    """Steps of sixteen in the inner loop's body, and its trips; zeros where there is no whole step."""
    steps = length_of(rows) // LANES
    unroll = next((count for count in _UNROLLS if steps and steps % count == 0), 0)
    return unroll, steps // unroll if unroll else 0


def block_instructions(rows: Rows, pixels: int) -> float:
    """Executed instructions of four channels of so many pixels."""
    unroll, trips = steps_of(rows)
    step = pixels + CHANNELS + pixels * CHANNELS
    tail = step + 9 if length_of(rows) % LANES else 0
    return trips * (unroll * step + 2) + tail + 14 + 11 * pixels


def copy_instructions(site: Site, rows: Rows) -> float:
    """Of what one pixel of a layer reads to be together; fewer where some pixels are read where they are."""
    if read_in_place(site, rows):
        return 12.0
    return _copied_part(site, rows) * (rows.runs * (15 + rows.length / LANES * 4) + 15)


def all_pixels(layer: Rows, rows: Rows, of_block: Callable[[int], float]) -> float:
    """Of a part of a layer, of whose blocks `of_block` says what so many pixels take."""
    pixels = pixels_together(layer)
    if rows.out_width == layer.out_width:
        return rows.batches * ceil_div(rows.pixels, pixels) * of_block(pixels)
    blocks, rest = divmod(rows.out_width, pixels)
    return rows.pixels // rows.out_width * (blocks * of_block(pixels) + rest * of_block(1))


def _copied_part(site: Site, rows: Rows) -> float:
    """The part of a layer's pixels whose values are copied."""
    if not _reads_inside(site, rows):
        return 1.0
    high = rows.height - (rows.row_taps - 1) * rows.row_dilation, rows.row_stride
    wide = rows.width - rows.run_taps + 1, rows.column_stride
    down, across = (ceil_div(max(extent, 0), stride) for extent, stride in (high, wide))
    return max(0.0, 1 - down * across / rows.pixels)


def _reads_inside(site: Site, rows: Rows) -> bool:
    """Whether pixels whose windows are inside are read where they are: rows of taps are whole sixteens."""
    plain = rows.groups == rows.column_runs == 1 and not flip_of(site) and not read_in_place(site, rows)
    return plain and pixels_together(rows) == 2 and rows.length % LANES == 0 and rows.length <= _LONGEST_ROW


def row_bytes(rows: Rows, call: Call, value_bytes: int = 1) -> int:
    """From row to row of what a call reads."""
    some = row_fields(call).get("x_row")
    return rows.x_row if some is None else value_bytes * int(str(some))


def jump_of(rows: Rows, call: Call, value_bytes: int = 1) -> int:
    """Bytes from the end of a row of taps to the next one; 0 where values are copied."""
    if in_stripe(call) or not _reads_inside(call.site, rows):
        return 0
    jump = rows.row_dilation * row_bytes(rows, call, value_bytes) - rows.length
    return jump if 0 < jump < _IMMEDIATE else 0


def neighbours_read(rows: Rows, call: Call, value_bytes: int = 1) -> bool:
    """Whether the pixels that are read follow one another as those that are computed do."""
    return rows.row_stride == rows.column_stride == 1 and row_bytes(rows, call, value_bytes) == rows.x_row


def block_counts(rows: Rows, call: Call) -> tuple[int, ...]:
    """How many pixels the blocks of a call have, the most first. All of a stripe whose width the program has."""
    most = pixels_together(rows)
    width = call.operands["Y"].extents[3] if in_stripe(call) else str(most)
    if not width.isdigit():
        return tuple(range(most, 0, -1))
    return (*([most] if int(width) >= most else []), *([1] if int(width) % most else []))
