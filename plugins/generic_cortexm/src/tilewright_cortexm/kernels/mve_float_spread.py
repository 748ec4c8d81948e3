"""Knows how Helium computes convolutions of floats tap by tap: those of groups or dilated columns, and all of float16.
Does not know depthwise ones of float32 (`float_depthwise`), nor taps that are neighbours (`float_products`).

Floats of 16 bits become float32 as they are loaded, and are summed so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from tilewright.api import align_up, ceil_div
from tilewright.api.graph import DType, Site
from tilewright.api.kernel import Call, CodeFragments, Kernel, Matched, TileShape, c_functions, windows_of
from tilewright.api.operator import Access, whole
from tilewright_cortexm.kernels.float_products import (
    HELIUM,
    OUTPUTS,
    PIXELS,
    UnitCosts,
    clip_of,
    fours,
    limits,
    not_floats,
    taps_inside,
)
from tilewright_cortexm.kernels.products import Rows, conv_rows, gemm_rows
from tilewright_cortexm.kernels.row_tiles import image_access, product_layouts, row_fields, tile_columns, tile_rows
from tilewright_cortexm.kernels.sources import c_template, each_of

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]

_GROUP, _PIXELS, _TAP = 60.0, 60.0, 5.0  # instructions of a block, of some pixels, of a tap
_HALVES = UnitCosts(
    engine="mve", four={4: 43.0, 1: 17.0}, rest={4: 19.0, 1: 7.0}, run=16.0,
    block={"none": {4: 36.0, 1: 23.0}, "low": {4: 45.0, 1: 26.0}, "both": {4: 54.0, 1: 29.0}},
)  # fmt: skip


def _match(site: Site) -> Rows | str:
    """Of float32."""
    axes, group = len(site.input(0).shape) - 2, site.node.integer("group", 1)
    if axes not in (1, 2):
        return f"has {axes} spatial axes; 1 and 2 are supported"
    if 1 < group == site.input(0).shape[1] == site.input(1).shape[0]:
        return "is depthwise with one output per channel, which has a kernel of its own"
    if group == 1 and windows_of(site.node).two_axes.dilations[1] == 1:
        return "has taps that are neighbours in one group"
    return not_floats(site) or conv_rows(site)


def _match_halves(site: Site) -> Rows | str:
    if {tensor.dtype for tensor in (*site.inputs, site.output) if tensor is not None} != {DType.F16}:
        return "is not all of float16"
    if site.constant(1) is None or (site.has_input(2) and site.constant(2) is None):
        return "weights and bias must be constants"
    if site.node.op != "Conv":
        return _match_product(site)
    axes = len(site.input(0).shape) - 2
    return conv_rows(site) if axes in (1, 2) else f"has {axes} spatial axes; 1 and 2 are supported"


def _match_product(site: Site) -> Rows | str:
    if len(site.input(1).shape) != 2 or not site.input(0).shape or not site.output.elements:
        return "is no product with one matrix"
    if site.has_input(2) and site.input(2).shape != (site.output.shape[-1],):
        return "does not add one value to each column"
    if site.node.number("alpha", 1.0) != 1.0:
        return "has a factor alpha, with which weights would be rounded again"
    return gemm_rows(site)


def _weights(site: Site) -> Array:
    """[outputs, values]"""
    weights = site.constant(1)
    if weights is None:
        raise TypeError("weights are constants, as was checked")
    if site.node.op == "Conv":
        return np.moveaxis(weights, 1, -1).reshape(len(weights), -1)
    return weights if site.node.integer("transB") else weights.T


def _pack(site: Matched) -> Mapping[str, Array]:
    rows: Rows = site.analysis
    weights, bias = _weights(site), site.constant(2) if site.has_input(2) else None
    beta = np.float32(site.node.number("beta", 1.0))
    added = np.zeros(len(weights), np.float32) if bias is None else beta * bias.astype(np.float32)
    taps, biases = weights.reshape(rows.groups, rows.outputs, -1), added.reshape(rows.groups, -1)
    packed = np.concatenate([fours(group) for group in taps]).astype(weights.dtype)
    return {"W": packed, "B": np.concatenate([fours(group) for group in biases])}


def _access(site: Matched) -> Access:
    rows: Rows = site.analysis
    outputs = rows.groups * align_up(rows.outputs, OUTPUTS)
    constants = {"W": (outputs * rows.runs * rows.length,), "B": (outputs,)}
    if site.node.op == "Conv":
        return image_access(site, windows_of(site.node).two_axes, constants)
    return whole({"A": site.input(0).shape, **constants}, {"Y": site.output.shape})


def _instructions(tile: TileShape, unit: UnitCosts) -> float:
    site = tile.site
    rows: Rows = site.analysis
    conv = site.node.op == "Conv"
    down, across = taps_inside(site) if conv else (1.0, 1.0)
    width, height = (tile_columns(tile), tile_rows(tile)) if conv else (rows.pixels, 1)
    edge = min(width, 2 * ceil_div(rows.left, rows.column_stride)) if rows.padded else 0
    groups, ones = divmod(width - edge, PIXELS)
    result = 0.0
    for pixels, count in ((PIXELS, groups), (1, ones + edge)):
        values = rows.channels // 4 * unit.four[pixels] + rows.channels % 4 * unit.rest[pixels]
        block = down * (across * (values + _TAP + pixels) + unit.run) + unit.block[clip_of(site)][pixels]
        result += count * (_PIXELS + rows.groups * (_GROUP + ceil_div(rows.outputs, OUTPUTS) * block))
    return rows.batches * height * result


def _values(call: Call) -> Mapping[str, object]:
    rows: Rows = call.site.analysis
    clip, dtype = clip_of(call.site), call.site.output.dtype
    half, kind = dtype.is_half, dtype.value
    blocks = [
        {
            "block": f"tw_mve_float_spread_{count}_{kind}_{clip}",
            "pixels": count,
            "clip": clip,
            "taps": True,
            "half": half,
        }
        for count in (PIXELS, 1)
    ]
    return {
        "function": f"tw_mve_float_spread_conv_{kind}_{clip}",
        "kind": kind,
        "stored": dtype.c_type,
        "load": _load if half else str,
        "rounded": _rounded if half else str,
        "half": half,
        "four": blocks[0]["block"],
        "one": blocks[1]["block"],
        "blocks": blocks,
        "x": call.operands["X" if call.site.node.op == "Conv" else "A"],
        "fields": _fields(call),
        "batches": rows.batches,
        "x_image": rows.height * rows.x_row,
        "y_image": rows.pixels * rows.y_step,
    }


def _load(place: str) -> str:
    return f"tw_f32_of_f16({place})"


def _rounded(value: str) -> str:
    return f"tw_f16_of_f32({value})"


def _fields(call: Call) -> Mapping[str, object]:
    rows: Rows = call.site.analysis
    size = call.site.output.dtype.size_bytes
    result: dict[str, object] = {
        "width": rows.width, "height": rows.height, "channels": rows.channels, "groups": rows.groups,
        "x_row": size * rows.x_row, "out_width": rows.out_width, "out_height": rows.pixels // rows.out_width,
        "outputs": rows.outputs, "y_row": size * rows.y_row, "rows": rows.row_taps,
        "columns": rows.column_runs * rows.run_taps, "row_stride": rows.row_stride,
        "column_stride": rows.column_stride, "row_dilation": rows.row_dilation,
        "column_dilation": rows.column_dilation, "top": rows.top, "left": rows.left,
    }  # fmt: skip
    some = dict(row_fields(call))
    if some:
        some |= {name: size * int(str(some[name])) for name in ("x_row", "y_row")}
    return {**result, **some, **limits(call.site)}


_CALL = """\
% if batches > 1:
for (int32_t n = 0; n < ${batches}; ++n)
% endif
<% at = lambda image: f" + n * {image}" if batches > 1 else "" %>\\
${function}((tw_float_spread_conv){
% for name, value in fields.items():
    .${name} = ${value},
% endfor
}, ${x}${at(x_image)}, ${W}, ${B}, ${Y}${at(y_image)});"""

_BLOCK = c_template("${block}", "float_block_mve.c.mako")
_SUMS = c_template("tw_float_spread_products_${kind}", "mve_float_spread_products.c.mako")
_CONV = c_template("${function}", "mve_float_spread.c.mako")


def _source(values: Mapping[str, Any]) -> CodeFragments:
    conversions = c_functions(_load(_rounded(""))) if values["half"] else ()
    return (*conversions, _SUMS, *each_of(_BLOCK, values["blocks"]), _CONV)


def _kernel(op: str, name: str, match: Callable[[Site], Rows | str], unit: UnitCosts) -> Kernel:
    return Kernel(
        name=f"cortex-m.mve.{name}",
        op=op,
        target="cortex-m",
        engine="mve",
        match=match,
        access=_access,
        requires=product_layouts,
        pack=_pack,
        instructions=lambda tile: _instructions(tile, unit),
        values=_values,
        source=_source,
        call=_CALL,
        includes=("<stdint.h>", "<stddef.h>", "<math.h>"),
    )


KERNELS = (
    _kernel("Conv", "conv_apart_f32", _match, HELIUM),
    *(_kernel(op, f"{op.lower()}_f16", _match_halves, _HALVES) for op in ("Conv", "Gemm", "MatMul")),
)
