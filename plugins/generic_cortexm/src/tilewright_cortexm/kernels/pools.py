"""Knows MaxPool, QAveragePool and means over whole images in one form: windows over bytes, channels neighbours.
Does not know instructions.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from tilewright.api.graph import Layout, Requant, Site, channels_last, row_major
from tilewright.api.kernel import Call, RequantForm, Windows, sum_requant, windows_of
from tilewright.api.operator import Access, whole
from tilewright_cortexm.kernels.products import BYTES, two_spatial_axes


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolShape:
    """Windows over `[batches, height, width, channels]`, stored in that order."""

    batches: int
    channels: int
    width: int
    height: int
    out_width: int
    out_height: int
    windows: Windows  # with two axes
    counted: tuple[int, int]  # rows and columns that an average counts, from the first of x: padding beyond it or not

    @property
    def taps(self) -> int:
        """Positions of a whole window."""
        return math.prod(self.windows.kernel)

    def fields(self) -> dict[str, int]:
        """What `tw_window` in pool_windows.c is given."""
        windows = self.windows
        return {
            "width": self.width,
            "height": self.height,
            "channels": self.channels,
            "out_width": self.out_width,
            "out_height": self.out_height,
            "rows": windows.kernel[0],
            "columns": windows.kernel[1],
            "row_stride": windows.strides[0],
            "column_stride": windows.strides[1],
            "row_dilation": windows.dilations[0],
            "column_dilation": windows.dilations[1],
            "top": windows.before[0],
            "left": windows.before[1],
        }


def pool(site: Site) -> PoolShape | str:
    """The windows of a node, or why they are none of these. Each kernel adds its own limits."""
    reason = _refused(site)
    if reason:
        return reason
    return _mean(site) if site.node.op == "QReduceMean" else _windows(site)


def _refused(site: Site) -> str | None:
    x = site.input(0)
    if x.dtype not in BYTES or site.output.dtype not in BYTES:
        return "values must be i8 or u8"
    if 0 in x.shape or 0 in site.output.shape:
        return "has no elements"
    if site.node.op == "QReduceMean":
        return _refused_mean(site)
    if len(x.shape) not in (3, 4):
        return f"has {len(x.shape) - 2} spatial axes; 1 and 2 are supported"
    return None


def _refused_mean(site: Site) -> str | None:
    rank, axes = len(site.input(0).shape), reduced_axes(site)
    if (rank, axes) not in _IMAGES:
        return f"reduces axes {list(axes)} of {rank}; whole images and the axis before the last are supported"
    return None if len(site.node.requant().scale) == 1 else "QReduceMean has one scale for all"


_IMAGES = ((4, (2, 3)), (3, (2,)), (4, (1, 2)), (3, (1,)), (2, (0,)))  # rank and axes that are pools of one window


def reduced_axes(site: Site) -> tuple[int, ...]:
    """The axes of a QReduceMean, from 0, in order."""
    rank = len(site.input(0).shape)
    return tuple(sorted({axis % rank for axis in site.node.integers("axes", tuple(range(rank)))}))


def requires(site: Site) -> Mapping[str, Layout]:
    """The layouts in which channels are neighbours."""
    x, y = len(site.input(0).shape), len(site.output.shape)
    if site.node.op == "QReduceMean":
        last = reduced_axes(site)[-1] == x - 1
        return {"X": channels_last(x) if last else row_major(x), "Y": row_major(y)}
    return {"X": channels_last(x), "Y": channels_last(y)}


def access(site: Site) -> Access:
    """Whole images."""
    return whole({"X": site.input(0).shape}, {"Y": site.output.shape})


def _windows(site: Site) -> PoolShape:
    windows = two_spatial_axes(windows_of(site.node))
    batches, channels, *spatial = site.input(0).shape
    height, width = (1, *spatial) if len(spatial) == 1 else spatial
    out = site.output.shape[2:]
    padding = bool(site.node.integer("count_include_pad"))
    after = windows.after if padding else (0, 0)
    return PoolShape(
        batches=batches,
        channels=channels,
        width=width,
        height=height,
        out_width=out[-1],
        out_height=out[0] if len(out) > 1 else 1,
        windows=windows,
        counted=(height + after[0], width + after[1]),
    )


def _mean(site: Site) -> PoolShape:
    shape, axes = site.input(0).shape, reduced_axes(site)
    terms = math.prod(shape[axis] for axis in axes)
    channels = shape[1] if axes[-1] == len(shape) - 1 else shape[-1]
    windows = Windows(kernel=(1, terms), strides=(1, 1), dilations=(1, 1), before=(0, 0), after=(0, 0))
    return PoolShape(
        batches=site.input(0).elements // (channels * terms),
        channels=channels,
        width=terms,
        height=1,
        out_width=1,
        out_height=1,
        windows=windows,
        counted=(1, terms),
    )


def _refused_scales(taps: int, site: Site) -> str | None:
    """Why a window's sum has no 32 bits, or no scale of its own, or None."""
    scales = len(site.node.requant().scale)
    if taps > MOST_TAPS:
        return f"a sum has {taps} terms; 32-bit sums of 8-bit values hold {MOST_TAPS}"
    if 1 < scales < taps:
        return f"a window may count {taps} elements, but there are {scales} scales"
    return None


MOST_TAPS = 2**31 // 511  # raw values up to 255, and the zero points taken away from them


@dataclass(frozen=True, slots=True, kw_only=True)
class Average:
    """Windows, and how their sums become results. `form` and `requant` have one entry, or one for each count of
    positions, from 1.
    """

    pool: PoolShape
    requant: Requant
    form: RequantForm
    zero_point: int  # of x
    padding: bool  # whether positions outside count


def average(site: Site, layer: PoolShape) -> Average | str:
    """The arithmetic of a QAveragePool or QReduceMean, or why it does not fit."""
    return _refused_scales(layer.taps, site) or Average(
        pool=layer,
        requant=site.node.requant(),
        form=sum_requant(site),
        zero_point=site.node.integer("x_zero_point"),
        padding=bool(site.node.integer("count_include_pad")) and site.node.op == "QAveragePool",
    )


def windows(layer: PoolShape) -> int:
    """How many there are."""
    return layer.batches * layer.out_width * layer.out_height


def call_values(call: Call, layer: PoolShape) -> dict[str, object]:
    """What the call of every pool needs."""
    return {
        "fields": layer.fields(),
        "batches": layer.batches,
        "x_bytes": layer.width * layer.height * layer.channels,
        "y_bytes": layer.out_width * layer.out_height * layer.channels,
    }


CALL = """\
% if batches > 1:
for (int32_t n = 0; n < ${batches}; ++n)
% endif
<% at = lambda size: f" + n * {size}" if batches > 1 else "" %>\\
${function}((tw_windows){
% for name, value in fields.items():
    .${name} = ${value},
% endfor
}, (const uint8_t *)${X}${at(x_bytes)}, (uint8_t *)${Y}${at(y_bytes)}${more});"""
