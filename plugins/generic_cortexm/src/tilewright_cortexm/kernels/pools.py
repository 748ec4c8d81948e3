"""Knows MaxPool, averages and means over whole images in one form: windows of which channels are neighbours.
Does not know instructions.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from tilewright.api.graph import DType, Layout, Requant, Site, channels_last, row_major
from tilewright.api.kernel import (
    AccumulatorBounds,
    Call,
    PartialSums,
    RequantForm,
    TileShape,
    Windows,
    sum_bounds,
    windows_of,
)
from tilewright.api.operator import Access, parse_map, whole
from tilewright_cortexm.kernels.products import BYTES
from tilewright_cortexm.kernels.row_tiles import image_access, product, row_fields, tile_columns, tile_rows
from tilewright_cortexm.kernels.twice import formula_form

NOTHING: Mapping[str, tuple[int, ...]] = MappingProxyType({})


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

    summed: bool = False  # whether it is the mean over one image, whose rows may come one after the other

    @property
    def taps(self) -> int:
        """Positions of a whole window."""
        return math.prod(self.windows.kernel)

    @property
    def in_parts(self) -> bool:
        """Whether the rows of the only window can be summed in several calls. Four channels are added together."""
        return self.summed and self.height > 1 and self.channels % 4 == 0

    def fields(self, call: Call) -> Mapping[str, object]:
        """What `tw_window` in pool_windows.c is given."""
        windows = self.windows
        result: dict[str, object] = {
            "width": self.width,
            "height": self.height,
            "channels": self.channels,
            "x_row": self.width * self.channels,
            "out_width": self.out_width,
            "out_height": self.out_height,
            "y_row": self.out_width * self.channels,
            "rows": windows.kernel[0],
            "columns": windows.kernel[1],
            "row_stride": windows.strides[0],
            "column_stride": windows.strides[1],
            "row_dilation": windows.dilations[0],
            "column_dilation": windows.dilations[1],
            "top": windows.before[0],
            "left": windows.before[1],
        }
        return {**result, **row_fields(call)}

    def counted_fields(self, call: Call) -> tuple[str, ...]:
        """Up to which row and which column of those that a call is given positions count."""
        rows, columns = self.counted
        if not row_fields(call):
            return str(rows), str(columns)
        origin = call.operands["X"].origin
        return f"{rows} - ({origin[2]})", f"{columns} - ({origin[3]})"


def pool(site: Site, types: Sequence[DType] = BYTES) -> PoolShape | str:
    """The windows of a node, or why they are none of these. Each kernel adds its own limits."""
    reason = _refused(site, types)
    if reason:
        return reason
    return _mean(site) if site.node.op == "QReduceMean" else _windows(site)


def _refused(site: Site, types: Sequence[DType]) -> str | None:
    x = site.input(0)
    if x.dtype not in types or site.output.dtype not in types:
        return f"values must be {' or '.join(dtype.value for dtype in types)}"
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


def access(site: Site, layer: PoolShape, constants: Mapping[str, tuple[int, ...]] = NOTHING) -> Access:
    """Rows and columns of windows; of one window over an image the image's rows, in parts of its sums; else all."""
    x, y = site.input(0).shape, site.output.shape
    if layer.in_parts:
        packed = " ".join(f"{name}[:]" for name in constants)
        text = f"y<{layer.height} : X[:, :, y, :] {packed} -> Y[{', '.join(':' * len(y))}]"
        return parse_map(text).bind({"X": x, **constants, "Y": y})
    if site.node.op == "QReduceMean":
        return whole({"X": x, **constants}, {"Y": y})
    return image_access(site, layer.windows, constants)


def accumulates(layer: PoolShape, dtype: DType = DType.I32) -> PartialSums | None:
    """Of an average: how sums over an image are computed in parts."""
    return PartialSums(loops=("y",), dtype=dtype) if layer.in_parts else None


def share(tile: TileShape, layer: PoolShape) -> float:
    """How much of all windows, or of the only one, a tile computes."""
    if layer.in_parts:
        return tile.extent("y") / layer.height
    return tile_rows(tile) * tile_columns(tile) / (layer.out_height * layer.out_width) if "h" in tile.box else 1.0


def _windows(site: Site) -> PoolShape:
    windows = windows_of(site.node).two_axes
    batches, channels, *spatial = site.input(0).shape
    height, width = (1, *spatial) if len(spatial) == 1 else spatial
    out = site.output.shape[2:]
    padding = bool(site.node.integer("count_include_pad"))
    after = windows.after if padding else (0, 0)
    alone = windows.kernel == (height, width) and windows.dilations == (1, 1)
    return PoolShape(
        batches=batches,
        channels=channels,
        width=width,
        height=height,
        out_width=out[-1],
        out_height=out[0] if len(out) > 1 else 1,
        windows=windows,
        counted=(height + after[0], width + after[1]),
        summed=batches == 1 and len(spatial) == 2 and alone and not any((*windows.before, *windows.after)),
    )


def _mean(site: Site) -> PoolShape:
    shape, axes = site.input(0).shape, reduced_axes(site)
    terms = math.prod(shape[axis] for axis in axes)
    channels = shape[1] if axes[-1] == len(shape) - 1 else shape[-1]
    summed = len(shape) == 4 and axes == (2, 3) and shape[0] == 1
    height, width = shape[2:] if summed else (1, terms)
    windows = Windows(kernel=(height, width), strides=(1, 1), dilations=(1, 1), before=(0, 0), after=(0, 0))
    return PoolShape(
        batches=site.input(0).elements // (channels * terms),
        channels=channels,
        width=width,
        height=height,
        out_width=1,
        out_height=1,
        windows=windows,
        counted=(height, width),
        summed=summed,
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
    form: RequantForm | None  # of `onnx`
    bounds: AccumulatorBounds
    zero_point: int  # of x
    padding: bool  # whether positions outside count

    @property
    def words(self) -> int:
        """How many requantisations there are."""
        return len(self.bounds.lowest)


def average(site: Site, layer: PoolShape) -> Average | str:
    """The arithmetic of a QAveragePool or QReduceMean, or why it does not fit."""
    return _refused_scales(layer.taps, site) or Average(
        pool=layer,
        requant=site.node.requant(),
        form=formula_form(site),
        bounds=sum_bounds(site),
        zero_point=site.node.integer("x_zero_point"),
        padding=bool(site.node.integer("count_include_pad")) and site.node.op == "QAveragePool",
    )


def windows(layer: PoolShape) -> int:
    """How many there are."""
    return layer.batches * layer.out_width * layer.out_height


def call_values(call: Call, layer: PoolShape) -> dict[str, object]:
    """What the call of every pool needs."""
    return {
        "fields": layer.fields(call),
        "batches": layer.batches,
        "x_bytes": layer.width * layer.height * layer.channels,
        "y_bytes": layer.out_width * layer.out_height * layer.channels,
    }


def part_values(call: Call, one: Average) -> dict[str, object]:
    """What the call of such a part needs."""
    layer, words = one.pool, one.words
    return {
        **call_values(call, layer),
        "more": "",
        "part": True,
        "acc": call.operands["acc"],
        "pixels": product(call.operands["X"].extents[2], layer.width),
        "channels": layer.channels,
        "first": call.first,
        "last": call.last,
        "zeros": layer.taps * one.zero_point,
        "word": f"{call.operands['R']}[{layer.taps - 1 if words > 1 else 0}]",
    }


# what a call of everything at once says of parts: Mako wants every name
NO_PART = {
    "part": False,
    **dict.fromkeys(("acc", "pixels", "channels", "first", "last", "zeros", "word", "numbers"), 0),
}

PART_CALL = """\
${function}((const uint8_t *)${X}, (uint8_t *)${Y}, ${acc}, ${pixels}, ${channels}, ${first}, ${last}, ${zeros}, \
${word}, ${numbers});
"""

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
AVERAGE_CALL = f"% if part:\n{PART_CALL}% else:\n{CALL}\n% endif"
