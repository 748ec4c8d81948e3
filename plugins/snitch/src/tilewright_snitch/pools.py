"""Knows what portable pools of bytes take on a core of the cluster for a part of a tile, which may have few channels.
Does not know how a tile is shared, nor any other operator.

A pool finds the taps of a window, and the place of each, once for all channels of a core. So a core with one channel
takes more for each element than one with many. The figures are cycles of the simulated core with GVSoC's timing (gcc
12, -O3), in calls that do not know how many channels they have, and for MaxPool in those that do.
"""

from __future__ import annotations

from tilewright.api.graph import DType, Site
from tilewright.api.kernel import TileShape, windows_of

_MAX_WINDOW, _MAX_TAP = 15.0, 8.0  # of a window, and of a tap of it
_MAX_ELEMENT, _MAX_KNOWN = 12.3, 7.7  # of a tap of a channel: some of all channels, or all, whose number C knows
_SUM_WINDOW, _SUM_TAP = 20.0, 3.5
_FOUR, _FOUR_TAP = 118.0, 14.0  # of four channels: requantised, and a tap of them
_ONE, _ONE_TAP = 265.0, 1.5  # of a channel by itself, whose scale comes out of the main memory


def pool_cycles(op: str, tile: TileShape) -> float | None:
    """Of a tile, or a core's part of one; None for what is not a pool of bytes."""
    if op not in ("MaxPool", "QAveragePool") or tile.site.output.dtype not in (DType.I8, DType.U8):
        return None
    batches, channels, *windows = (span.extent for span in tile.access.window("Y", tile.box))
    count, taps = float(batches), taps_inside(tile.site)
    for extent in windows:
        count *= extent
    if op == "MaxPool":
        each = _MAX_KNOWN if channels == tile.site.output.shape[1] else _MAX_ELEMENT
        return count * (_MAX_WINDOW + taps * (_MAX_TAP + each * channels))
    fours, ones = divmod(channels, 4)
    return count * (
        _SUM_WINDOW + _SUM_TAP * taps + fours * (_FOUR + _FOUR_TAP * taps) + ones * (_ONE + _ONE_TAP * taps)
    )


def taps_inside(site: Site) -> float:
    """Of a window, how many taps are not padding, on average over all windows."""
    windows, mean = windows_of(site.node), 1.0
    axes = zip(windows.kernel, windows.strides, windows.dilations, windows.before, strict=True)
    for (taps, stride, dilation, before), extent, made in zip(
        axes, site.input(0).shape[2:], site.output.shape[2:], strict=True
    ):
        places = (at * stride - before + tap * dilation for at in range(made) for tap in range(taps))
        mean *= sum(0 <= place < extent for place in places) / max(made, 1)
    return mean
