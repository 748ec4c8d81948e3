"""Knows how Helium computes convolutions and products of floats with constant weights: four pixels times four outputs;
and what such layers are, for the scalar unit too. Does not know depthwise convolutions; blocks are assembler.

Nothing is copied: pixels are read where they are, four neighbours together where their windows are inside, and others
one by one with the taps that are. Weights of four outputs lie together. Products may be fused with sums.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tilewright.api import align_up, ceil_div
from tilewright.api.graph import DType, Site
from tilewright.api.kernel import (
    Call,
    CodeFragments,
    Kernel,
    Matched,
    TileShape,
    c_element,
    pack_gemm,
    pack_matmul,
    windows_of,
)
from tilewright.api.operator import Access, whole
from tilewright_cortexm.kernels.products import Rows, conv_rows, gemm_rows
from tilewright_cortexm.kernels.row_tiles import (
    image_access,
    in_rows,
    product_layouts,
    row_fields,
    tile_columns,
    tile_rows,
)
from tilewright_cortexm.kernels.sources import c_template, each_of

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]

PIXELS, OUTPUTS = 4, 4  # of a block
BYTES = 4  # of a value
_NO_LIMITS = (("low", -math.inf), ("high", math.inf))


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitCosts:
    """Instructions of a unit: for four values of a pixel with four outputs, of blocks of four pixels and of one; for a
    single value; for a run of values, and for four outputs of a block.
    """

    engine: str
    four: Mapping[int, float]  # by pixels
    rest: Mapping[int, float]
    run: float
    block: Mapping[str, Mapping[int, float]]  # by the fused activation
    call: float = 75.0  # of a group of pixels


HELIUM = UnitCosts(
    engine="mve", four={4: 25.0, 1: 10.0}, rest={4: 10.0, 1: 4.0}, run=16.0,
    block={"none": {4: 32.0, 1: 22.0}, "low": {4: 41.0, 1: 25.0}, "both": {4: 50.0, 1: 28.0}},
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class FloatLayer:
    """`y = clip(bias + sum(weights * x))`."""

    rows: Rows
    out_height: int
    row_taps: float  # that are inside, of a window on average
    clip: str  # which limits the fused activation has: "none", "low" or "both"


def float_layer(site: Site) -> FloatLayer | str:
    """The layer in this form, or why it has none."""
    reason = _refused(site)
    if reason:
        return reason
    rows = conv_rows(site) if site.node.op == "Conv" else gemm_rows(site)
    if site.node.op == "Gemm" and rows.pixels == 1:
        return "is a single row: portable C can take its sum in parts, as rows of what was flattened come"
    out_height = rows.pixels // rows.out_width
    taps = taps_inside(site)[0] if site.node.op == "Conv" else 1.0
    return FloatLayer(rows=rows, out_height=out_height, row_taps=taps, clip=clip_of(site))


def taps_inside(site: Site) -> tuple[float, float]:
    """Taps of a window that are inside, on average, along rows and columns."""
    windows, result = windows_of(site.node).two_axes, list[float]()
    sizes = ((1, *shape[2:])[-2:] for shape in (site.input(0).shape, site.output.shape))
    for axis, (extent, outputs) in enumerate(zip(*sizes, strict=True)):
        starts = np.arange(outputs) * windows.strides[axis] - windows.before[axis]
        places = starts[:, None] + np.arange(windows.kernel[axis]) * windows.dilations[axis]
        result.append(float(((places >= 0) & (places < extent)).sum()) / max(outputs, 1))
    return result[0], result[1]


def _limits(site: Site) -> tuple[float, float]:
    low, high = (float(np.float32(site.node.number(f"clip_{name}", end))) for name, end in _NO_LIMITS)
    return min(low, high), high


def clip_of(site: Site) -> str:
    """Which limits the fused activation has: "none", "low" or "both"."""
    low, high = _limits(site)
    return "both" if math.isfinite(high) else "low" if math.isfinite(low) else "none"


def limits(site: Site) -> Mapping[str, str]:
    """Of the fused activation, as C."""
    low, high = _limits(site)
    return {"low": c_element(low, DType.F32), "high": c_element(high, DType.F32)}


def not_floats(site: Site) -> str | None:
    """Why values are none for a unit of floats, or weights and biases no constants."""
    if {tensor.dtype for tensor in (*site.inputs, site.output) if tensor is not None} != {DType.F32}:
        return "is not all of float32"
    if any(site.has_input(index) and site.constant(index) is None for index in (1, 2)):
        return "weights and bias must be constants"
    return None


def _refused(site: Site) -> str | None:
    if (reason := not_floats(site)) is not None:
        return reason
    if site.node.op == "Conv":
        return _refused_conv(site)
    return no_product(site)


def no_product(site: Site) -> str | None:
    """Why a Gemm or MatMul is none of one matrix, with one bias for each column."""
    columns = site.output.shape[-1] if site.output.shape else 1
    if len(site.input(1).shape) != 2 or not site.input(0).shape or not site.output.elements:
        return "is no product with one matrix"
    if site.has_input(2) and site.input(2).shape != (columns,):
        return "does not add one value to each column"
    return None


def _refused_conv(site: Site) -> str | None:
    if len(site.input(0).shape) not in (3, 4):
        return f"has {len(site.input(0).shape) - 2} spatial axes; 1 and 2 are supported"
    if site.node.integer("group", 1) != 1:
        return "has more than one group"
    dilation = windows_of(site.node).two_axes.dilations[1]
    return f"columns of taps are {dilation} apart; runs of neighbours are computed" if dilation > 1 else None


def weights_of(site: Site) -> Array:
    """[outputs, values]"""
    if site.node.op == "Conv":
        weights = site.constant(1)
        if weights is None:
            raise TypeError("weights are constants, as was checked")
        return np.moveaxis(weights, 1, -1).reshape(len(weights), -1)
    return np.asarray((pack_gemm(site) if site.node.op == "Gemm" else pack_matmul(site))["B"])


def bias_of(site: Site) -> Array | None:
    """[outputs], where there are any."""
    return pack_gemm(site).get("C") if site.node.op == "Gemm" else site.constant(2)


def fours(values: Array) -> Array:
    """[channels, values] with zeros up to the next four channels, four channels of each value together."""
    padded = np.zeros((align_up(len(values), OUTPUTS), *values.shape[1:]), np.float32)
    padded[: len(values)] = values
    return np.ascontiguousarray(np.moveaxis(padded.reshape(-1, OUTPUTS, *values.shape[1:]), 1, -1)).reshape(-1)


def _pack(site: Matched) -> Mapping[str, Array]:
    weights, bias = weights_of(site), bias_of(site)
    return {"W": fours(weights), "B": fours(np.zeros(len(weights), np.float32) if bias is None else bias)}


def _access(site: Matched) -> Access:
    rows: Rows = site.analysis.rows
    outputs = align_up(rows.outputs, OUTPUTS)
    constants = {"W": (outputs * rows.runs * rows.length,), "B": (outputs,)}
    if site.node.op == "Conv":
        return image_access(site, windows_of(site.node).two_axes, constants)
    return whole({"A": site.input(0).shape, **constants}, {"Y": site.output.shape})


def _instructions(tile: TileShape, unit: UnitCosts) -> float:
    layer: FloatLayer = tile.site.analysis
    rows, clip = layer.rows, layer.clip
    height, width = (tile_rows(tile), tile_columns(tile)) if "h" in tile.box else (layer.out_height, rows.out_width)
    if is_flat(rows) and width == rows.out_width:
        height, width = 1, height * width
    edge = 0 if not rows.padded else min(width, ceil_div(rows.left, rows.column_stride) * 2)
    groups, ones = divmod(max(0, width - edge), PIXELS)
    ones += edge
    values = rows.length
    blocks = ceil_div(rows.outputs, OUTPUTS)
    result = 0.0
    for pixels, count in ((4, groups), (1, ones)):
        run = values // 4 * unit.four[pixels] + values % 4 * unit.rest[pixels] + unit.run
        result += count * (unit.call + blocks * (layer.row_taps * run + unit.block[clip][pixels]))
    return rows.batches * height * result


def is_flat(rows: Rows) -> bool:
    """Whether pixels are read one after the other, through all rows."""
    return rows.runs == rows.run_taps == 1 and rows.row_stride == rows.column_stride == 1 and not rows.padded


def _values(call: Call) -> Mapping[str, object]:
    layer: FloatLayer = call.site.analysis
    rows, clip = layer.rows, layer.clip
    blocks = [
        {"block": f"tw_mve_float_block_{count}_{clip}", "pixels": count, "clip": clip, "taps": False, "half": False}
        for count in (4, 1)
    ]
    return {
        "function": f"tw_mve_float_products_{clip}",
        "four": blocks[0]["block"],
        "one": blocks[1]["block"],
        "blocks": blocks,
        "fields": _fields(layer, call),
        "x": call.operands["X" if call.site.node.op == "Conv" else "A"],
        "batches": rows.batches,
        "x_image": rows.width * rows.height * rows.channels,
        "y_image": rows.pixels * rows.outputs,
    }


def _fields(layer: FloatLayer, call: Call) -> Mapping[str, object]:
    rows = layer.rows
    flat = is_flat(rows) and not in_rows(call)
    width, height = (rows.pixels, 1) if flat else (rows.width, rows.height)
    result: dict[str, object] = {
        "width": width, "height": height, "channels": rows.channels, "x_row": BYTES * width * rows.channels,
        "out_width": rows.pixels if flat else rows.out_width, "out_height": 1 if flat else layer.out_height,
        "outputs": rows.outputs, "y_row": BYTES * rows.y_row, "rows": rows.row_taps, "columns": rows.run_taps,
        "row_stride": rows.row_stride, "column_stride": rows.column_stride, "row_dilation": rows.row_dilation,
        "top": rows.top, "left": rows.left,
    }  # fmt: skip
    return {**result, **of_rows(call), **limits(call.site)}


def of_rows(call: Call) -> Mapping[str, object]:
    """`row_fields` of values of four bytes."""
    some = dict(row_fields(call))
    if some:
        some |= {name: BYTES * int(str(some[name])) for name in ("x_row", "y_row")}
    return some


_CALL = """\
% if batches > 1:
for (int32_t n = 0; n < ${batches}; ++n)
% endif
<% at = lambda image: f" + n * {image}" if batches > 1 else "" %>\\
${function}((tw_float_conv){
% for name, value in fields.items():
    .${name} = ${value},
% endfor
}, ${x}${at(x_image)}, ${W}, ${B}, ${Y}${at(y_image)});"""

_BLOCK = c_template("${block}", "float_block_mve.c.mako")
_PRODUCTS = c_template("${function}", "float_products.c.mako")


def _source(values: Mapping[str, Any]) -> CodeFragments:
    blocks: Sequence[Mapping[str, object]] = values["blocks"]
    return (*each_of(_BLOCK, blocks), _PRODUCTS)


def _kernel(op: str) -> Kernel:
    return Kernel(
        name=f"cortex-m.mve.{op.lower()}_f32",
        op=op,
        target="cortex-m",
        engine=HELIUM.engine,
        match=float_layer,
        access=_access,
        requires=product_layouts,
        pack=_pack,
        instructions=lambda tile: _instructions(tile, HELIUM),
        values=_values,
        source=_source,
        call=_CALL,
        includes=("<stdint.h>", "<stddef.h>", "<math.h>"),
    )


KERNELS = tuple(_kernel(op) for op in ("Conv", "Gemm", "MatMul"))
