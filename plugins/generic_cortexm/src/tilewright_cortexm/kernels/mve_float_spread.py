"""Knows how Helium computes convolutions of floats whose taps are apart: those of groups, and of dilated columns.
Does not know depthwise ones with one output a channel (`float_depthwise`), nor taps that are neighbours
(`float_products`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from tilewright.api import align_up, ceil_div
from tilewright.api.graph import Layout, Site, channels_last
from tilewright.api.kernel import Call, Kernel, Matched, TileShape, windows_of
from tilewright.api.operator import Access
from tilewright_cortexm.kernels.float_products import (
    BYTES,
    HELIUM,
    OUTPUTS,
    PIXELS,
    clip_of,
    fours,
    limits,
    not_floats,
    of_rows,
    taps_inside,
)
from tilewright_cortexm.kernels.products import Rows, conv_rows
from tilewright_cortexm.kernels.row_tiles import image_access, tile_columns, tile_rows
from tilewright_cortexm.kernels.sources import c_template, each_of

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]

_GROUP, _PIXELS, _TAP = 60.0, 60.0, 5.0  # instructions of a block, of some pixels, of a tap


def _match(site: Site) -> Rows | str:
    axes, group = len(site.input(0).shape) - 2, site.node.integer("group", 1)
    if axes not in (1, 2):
        return f"has {axes} spatial axes; 1 and 2 are supported"
    if 1 < group == site.input(0).shape[1] == site.input(1).shape[0]:
        return "is depthwise with one output per channel, which has a kernel of its own"
    if group == 1 and windows_of(site.node).two_axes.dilations[1] == 1:
        return "has taps that are neighbours in one group"
    return not_floats(site) or conv_rows(site)


def _pack(site: Matched) -> Mapping[str, Array]:
    rows: Rows = site.analysis
    weights, bias = site.constant(1), site.constant(2)
    if weights is None:
        raise TypeError("weights are constants, as was checked")
    taps = np.moveaxis(weights, 1, -1).reshape(rows.groups, rows.outputs, -1)
    each = (np.zeros(len(weights), np.float32) if bias is None else bias).reshape(rows.groups, -1)
    return {"W": np.concatenate([fours(one) for one in taps]), "B": np.concatenate([fours(one) for one in each])}


def _access(site: Matched) -> Access:
    rows: Rows = site.analysis
    outputs = rows.groups * align_up(rows.outputs, OUTPUTS)
    constants = {"W": (outputs * rows.runs * rows.length,), "B": (outputs,)}
    return image_access(site, windows_of(site.node).two_axes, constants)


def _requires(site: Site) -> Mapping[str, Layout]:
    layout = channels_last(len(site.output.shape))
    return {"X": layout, "Y": layout}


def _instructions(tile: TileShape) -> float:
    rows: Rows = tile.site.analysis
    down, across = taps_inside(tile.site)
    clip, width, blocks = clip_of(tile.site), tile_columns(tile), ceil_div(rows.outputs, OUTPUTS)
    edge = min(width, 2 * ceil_div(rows.left, rows.column_stride)) if rows.padded else 0
    groups, ones = divmod(width - edge, PIXELS)
    found = 0.0
    for pixels, count in ((PIXELS, groups), (1, ones + edge)):
        tap = rows.channels // 4 * HELIUM.four[pixels] + rows.channels % 4 * HELIUM.rest[pixels] + _TAP + pixels
        block = down * (across * tap + HELIUM.run) + HELIUM.block[clip][pixels]
        found += count * (_PIXELS + rows.groups * (_GROUP + blocks * block))
    return rows.batches * tile_rows(tile) * found


def _values(call: Call) -> Mapping[str, object]:
    rows: Rows = call.site.analysis
    clip = clip_of(call.site)
    blocks = [
        {"block": f"tw_mve_float_spread_{count}_{clip}", "pixels": count, "clip": clip, "taps": True}
        for count in (PIXELS, 1)
    ]
    return {
        "function": f"tw_mve_float_spread_conv_{clip}",
        "four": blocks[0]["block"],
        "one": blocks[1]["block"],
        "blocks": blocks,
        "fields": _fields(call),
        "batches": rows.batches,
        "x_image": rows.height * rows.x_row,
        "y_image": rows.pixels * rows.y_step,
    }


def _fields(call: Call) -> Mapping[str, object]:
    rows: Rows = call.site.analysis
    found: dict[str, object] = {
        "width": rows.width, "height": rows.height, "channels": rows.channels, "groups": rows.groups,
        "x_row": BYTES * rows.x_row, "out_width": rows.out_width, "out_height": rows.pixels // rows.out_width,
        "outputs": rows.outputs, "y_row": BYTES * rows.y_row, "rows": rows.row_taps, "columns": rows.column_runs,
        "row_stride": rows.row_stride, "column_stride": rows.column_stride, "row_dilation": rows.row_dilation,
        "column_dilation": rows.column_dilation, "top": rows.top, "left": rows.left,
    }  # fmt: skip
    return {**found, **of_rows(call), **limits(call.site)}


_CALL = """\
% if batches > 1:
for (int32_t n = 0; n < ${batches}; ++n)
% endif
<% at = lambda image: f" + n * {image}" if batches > 1 else "" %>\\
${function}((tw_float_spread_conv){
% for name, value in fields.items():
    .${name} = ${value},
% endfor
}, ${X}${at(x_image)}, ${W}, ${B}, ${Y}${at(y_image)});"""

_BLOCK = c_template("${block}", "float_block_mve.c.mako")
_CONV = c_template("${function}", "mve_float_spread.c.mako")

KERNELS = (
    Kernel(
        name="cortex-m.mve.conv_apart_f32",
        op="Conv",
        target="cortex-m",
        engine="mve",
        match=_match,
        access=_access,
        requires=_requires,
        pack=_pack,
        instructions=_instructions,
        values=_values,
        source=lambda values: (*each_of(_BLOCK, values["blocks"]), _CONV),
        call=_CALL,
        includes=("<stdint.h>", "<stddef.h>", "<math.h>"),
    ),
)
