"""Knows how the scalar unit of floats computes convolutions and products with constant weights: four pixels times four
outputs in registers, whose weights lie together. Does not know depthwise convolutions; blocks are assembler.

Nothing is copied. Taps that lie apart, of groups or of dilated columns, are runs of their own. A single row may be
computed in parts, with sums between them.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from tilewright.api import align_up, ceil_div
from tilewright.api.graph import DType, Site
from tilewright.api.kernel import (
    Call,
    CodeFragments,
    Kernel,
    Matched,
    PartialSums,
    TileShape,
    windows_of,
)
from tilewright.api.operator import Access, parse_map, whole
from tilewright_cortexm.kernels.float_products import (
    BYTES,
    OUTPUTS,
    PIXELS,
    FloatLayer,
    bias_of,
    clip_of,
    fours,
    is_flat,
    limits,
    no_product,
    not_floats,
    of_rows,
    taps_inside,
    weights_of,
)
from tilewright_cortexm.kernels.product_parts import LOOP, share
from tilewright_cortexm.kernels.products import Rows, conv_rows, gemm_rows
from tilewright_cortexm.kernels.row_tiles import image_access, in_rows, product_layouts, tile_columns, tile_rows
from tilewright_cortexm.kernels.sources import c_template, each_of

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]

_FOUR = MappingProxyType({4: 142.0, 1: 39.0})  # instructions of four values with four outputs, by pixels
_REST = MappingProxyType({4: 39.0, 1: 12.0})  # of one
_RUN = MappingProxyType({4: 13.0, 1: 10.0})
_TAP = MappingProxyType({4: 12.0, 1: 9.0})  # of one that is apart, beside the run of a row
_BLOCK = MappingProxyType({4: 33.0, 1: 14.0})
_LIMIT = MappingProxyType({"none": 0.0, "low": 16.0, "both": 32.0})  # of four results
_CALL_OF_BLOCK = 85.0


def fpu_layer(site: Site) -> FloatLayer | str:
    """The layer in this form, or why it has none."""
    if (reason := not_floats(site)) is not None:
        return reason
    if site.node.op != "Conv":
        rows = gemm_rows(site) if (reason := no_product(site)) is None else None
        return str(reason) if rows is None else FloatLayer(rows=rows, out_height=1, row_taps=1.0, clip=clip_of(site))
    if len(site.input(0).shape) not in (3, 4):
        return f"has {len(site.input(0).shape) - 2} spatial axes; 1 and 2 are supported"
    if 1 < site.node.integer("group", 1) == site.output.shape[1]:
        return "has one output in every group"
    rows = conv_rows(site)
    out_height = rows.pixels // rows.out_width
    return FloatLayer(rows=rows, out_height=out_height, row_taps=taps_inside(site)[0], clip=clip_of(site))


def _is_apart(rows: Rows) -> bool:
    """Whether taps of a row are no neighbours."""
    return rows.groups > 1 or rows.column_runs > 1


def _is_row(site: Matched) -> bool:
    """Whether it is the product of a single row."""
    return site.node.op != "Conv" and site.analysis.rows.pixels == 1


def _pack(site: Matched) -> Mapping[str, Array]:
    """Of each group: four outputs of each value together."""
    rows: Rows = site.analysis.rows
    weights, bias = weights_of(site), bias_of(site)
    biases = np.zeros(len(weights), np.float32) if bias is None else bias
    return {
        "W": np.concatenate([fours(part) for part in np.split(weights, rows.groups)]),
        "B": np.concatenate([fours(part) for part in np.split(biases, rows.groups)]),
    }


def _access(site: Matched) -> Access:
    rows: Rows = site.analysis.rows
    outputs = rows.groups * align_up(rows.outputs, OUTPUTS)
    constants = {"W": (outputs * rows.runs * rows.length,), "B": (outputs,)}
    if site.node.op == "Conv":
        return image_access(site, windows_of(site.node).two_axes, constants)
    a, y = site.input(0).shape, site.output.shape
    if not _is_row(site):
        return whole({"A": a, **constants}, {"Y": y})
    text = f"{LOOP} : A[{', '.join((':',) * (len(a) - 1) + (LOOP,))}] W[:] B[:] -> Y[{', '.join(':' * len(y))}]"
    return parse_map(text).bind({"A": a, **constants, "Y": y})


def _accumulates(site: Matched) -> PartialSums | None:
    return PartialSums(loops=(LOOP,), dtype=DType.F32) if _is_row(site) else None


def _instructions(tile: TileShape) -> float:
    layer: FloatLayer = tile.site.analysis
    rows = layer.rows
    height, width = (tile_rows(tile), tile_columns(tile)) if "h" in tile.box else (layer.out_height, rows.out_width)
    if is_flat(rows) and width == rows.out_width:
        height, width = 1, height * width
    columns = rows.column_runs * rows.run_taps
    edge, taps = edges(tile.site) if rows.padded else (0, 0.0)
    edge = min(edge, width)
    groups, ones = divmod(width - edge, PIXELS)
    result = 0.0
    for pixels, count, inside in ((4, groups, columns), (1, ones, columns), (1, edge, taps)):
        result += count * (_CALL_OF_BLOCK + ceil_div(rows.outputs, OUTPUTS) * _block(tile, pixels, inside))
    return rows.batches * rows.groups * height * result


def _block(tile: TileShape, pixels: int, columns: float) -> float:
    """Of four outputs of so many pixels, with so many columns of taps that are inside."""
    layer: FloatLayer = tile.site.analysis
    apart = _is_apart(layer.rows)
    values = layer.rows.channels * share(tile) * (1 if apart else columns)
    run = values // 4 * _FOUR[pixels] + values % 4 * _REST[pixels]
    run = columns * (run + _TAP[pixels]) if apart else run
    return layer.row_taps * (run + _RUN[pixels]) + _BLOCK[pixels] + pixels * _LIMIT[layer.clip]


def edges(site: Site) -> tuple[int, float]:
    """Columns of the result whose windows are partly outside, and how many columns of taps they have, on average."""
    windows = windows_of(site.node).two_axes
    geometry = (windows.kernel[1], windows.strides[1], windows.dilations[1], windows.before[1])
    return _edges(site.input(0).shape[-1], site.output.shape[-1], *geometry)


@lru_cache(maxsize=256)
def _edges(width: int, out_width: int, taps: int, stride: int, dilation: int, before: int) -> tuple[int, float]:
    starts = [at * stride - before for at in range(out_width)]
    inside = [sum(0 <= start + tap * dilation < width for tap in range(taps)) for start in starts]
    some = [count for count in inside if count < taps]
    return len(some), sum(some) / max(1, len(some))


def row_of_block(values: int) -> float:
    """Of four outputs of a row of so many values."""
    return values // 4 * _FOUR[1] + values % 4 * _REST[1] + _RUN[1] + _BLOCK[1]


def _values(call: Call) -> Mapping[str, object]:
    layer: FloatLayer = call.site.analysis
    clip, apart = layer.clip, _is_apart(layer.rows)
    form = f"{'apart_' if apart else ''}{clip}"
    row = "acc" in call.operands
    names = {count: f"tw_fpu_block_{count}_{form}" for count in ((1,) if row else (4, 1))}
    return {
        **_UNUSED,
        "function": f"tw_fpu_{'row' if row else 'conv'}_{form}",
        "four": names.get(4, ""),
        "one": names[1],
        "row": row,
        "apart": apart,
        "blocks": [{"block": name, "pixels": count, "clip": clip, "apart": apart} for count, name in names.items()],
        **(_row_values(call) if row else _conv_values(layer, call)),
    }


_UNUSED = MappingProxyType(  # Mako wants every name
    dict.fromkeys(("acc", "first", "last", "batches", "groups", "x_image", "y_image", "w_group", "b_group"), 0)
)


def _row_values(call: Call) -> Mapping[str, object]:
    """Of a part of a row."""
    a, rows = call.operands["A"], call.site.analysis.rows
    fields = {"start": a.origin[-1], "count": a.extents[-1], "length": rows.length, "outputs": rows.outputs}
    more = {"x": a, "acc": call.operands["acc"], "first": call.first, "last": call.last}
    return {"fields": {**fields, **limits(call.site)}, **more}


def _conv_values(layer: FloatLayer, call: Call) -> Mapping[str, object]:
    rows = layer.rows
    return {
        "fields": _fields(layer, call),
        "x": call.operands["X" if call.site.node.op == "Conv" else "A"],
        "batches": rows.batches,
        "groups": rows.groups,
        "x_image": rows.width * rows.height * rows.x_step,
        "y_image": rows.pixels * rows.y_step,
        "w_group": align_up(rows.outputs, OUTPUTS) * rows.runs * rows.length,
        "b_group": align_up(rows.outputs, OUTPUTS),
    }


def _fields(layer: FloatLayer, call: Call) -> Mapping[str, object]:
    rows = layer.rows
    flat = is_flat(rows) and not in_rows(call)
    width, height = (rows.pixels, 1) if flat else (rows.width, rows.height)
    result: dict[str, object] = {
        "width": width, "height": height, "channels": rows.channels, "x_step": BYTES * rows.x_step,
        "x_row": BYTES * width * rows.x_step, "out_width": rows.pixels if flat else rows.out_width,
        "out_height": 1 if flat else layer.out_height, "outputs": rows.outputs, "y_step": BYTES * rows.y_step,
        "y_row": BYTES * rows.y_row, "rows": rows.row_taps, "columns": rows.column_runs * rows.run_taps,
        "row_stride": rows.row_stride, "column_stride": rows.column_stride, "row_dilation": rows.row_dilation,
        "column_dilation": rows.column_dilation, "top": rows.top, "left": rows.left,
    }  # fmt: skip
    return {**result, **of_rows(call), **limits(call.site)}


_CALL = """\
% if row:
${function}((tw_fpu_row){
% for name, value in fields.items():
    .${name} = ${value},
% endfor
}, ${x}, ${W}, ${B}, ${Y}, ${acc}, ${first}, ${last});
% else:
% if batches > 1:
for (int32_t n = 0; n < ${batches}; ++n)
% endif
% if groups > 1:
for (int32_t g = 0; g < ${groups}; ++g)
% endif
<%
    def at(image, group):
        return (f" + n * {image}" if batches > 1 and image else "") + (f" + g * {group}" if groups > 1 else "")
%>\\
${function}((tw_fpu_conv){
% for name, value in fields.items():
    .${name} = ${value},
% endfor
}, ${x}${at(x_image, fields["channels"])}, ${W}${at(0, w_group)}, ${B}${at(0, b_group)}, \
${Y}${at(y_image, fields["outputs"])});
% endif"""

BLOCKS = c_template("${block}", "fpu_block.c.mako")
_CONV = c_template("${function}", "fpu_conv.c.mako")
_ROW = c_template("${function}", "fpu_row.c.mako")


def _source(values: Mapping[str, Any]) -> CodeFragments:
    return (*each_of(BLOCKS, values["blocks"]), _ROW if values["row"] else _CONV)


def _kernel(op: str) -> Kernel:
    return Kernel(
        name=f"cortex-m.fpu.{op.lower()}_f32",
        op=op,
        target="cortex-m",
        engine="dsp",
        match=fpu_layer,
        access=_access,
        requires=product_layouts,
        pack=_pack,
        accumulates=_accumulates,
        instructions=_instructions,
        values=_values,
        source=_source,
        call=_CALL,
        includes=("<stdint.h>", "<stdbool.h>", "<stddef.h>", "<math.h>"),
    )


KERNELS = tuple(_kernel(op) for op in ("Conv", "Gemm", "MatMul"))
