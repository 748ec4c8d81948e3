"""Knows layers that are dot products with constant weights, QConv and QGemm, in one form. Depthwise ones are no such.
Does not know instructions: how the values are packed is each instruction set's own matter.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from tilewright.api.graph import DType, Requant, Site
from tilewright.api.kernel import (
    AccumulatorBounds,
    Call,
    Matched,
    RequantForm,
    TileShape,
    centred_weights,
    refused_products,
    sum_bounds,
    windows_of,
)
from tilewright.api.operator import Access, whole
from tilewright_cortexm.kernels.row_tiles import image_access, product, row_fields, tile_columns, tile_rows
from tilewright_cortexm.kernels.twice import formula_form

if TYPE_CHECKING:
    import numpy.typing as npt

    Integers = npt.NDArray[np.int64]

BYTES = (DType.I8, DType.U8)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """Where the factors of one output pixel lie in a channels-last image: `row_taps * column_runs` runs of bytes.

    With several groups, everything is that of one group, but for the steps between pixels. `single` are pixels that
    are computed one at a time, for less scratch.
    """

    batches: int
    width: int
    height: int
    channels: int
    out_width: int
    pixels: int
    outputs: int
    row_taps: int
    column_runs: int
    run_taps: int
    row_stride: int = 1
    column_stride: int = 1
    row_dilation: int = 1
    column_dilation: int = 1
    top: int = 0
    left: int = 0
    padded: bool = False
    groups: int = 1
    single: bool = False

    @property
    def x_step(self) -> int:
        """Bytes between neighbouring pixels of x."""
        return self.groups * self.channels

    @property
    def y_step(self) -> int:
        """Bytes between neighbouring pixels of y."""
        return self.groups * self.outputs

    @property
    def x_row(self) -> int:
        """Bytes between neighbouring rows of x."""
        return self.width * self.x_step

    @property
    def y_row(self) -> int:
        """Bytes between neighbouring rows of y."""
        return self.out_width * self.y_step

    @property
    def runs(self) -> int:
        """Runs of one pixel."""
        return self.row_taps * self.column_runs

    @property
    def length(self) -> int:
        """Values in a run."""
        return self.run_taps * self.channels


@dataclass(frozen=True, slots=True, kw_only=True)
class Products:
    """`y = requant(bias + sum(weights * x))`, zero points inside: x is taken as it is stored, weights fit int8."""

    rows: Rows
    weights: Integers  # [outputs of all groups, runs, length]
    bias: Integers  # [outputs of all groups]
    pad: int  # raw value that positions outside have
    requant: Requant
    bounds: AccumulatorBounds
    form: RequantForm | None  # of `onnx`
    paired: bool = False  # whether weights of two channels share words, see dsp_pairs
    nibbles: bool = False  # whether these have 4 bits, see dsp_nibbles


def products(site: Site) -> Products | str:
    """The layer in this form, or why it has none. Each kernel adds its own limits."""
    reason = _refused(site)
    if reason:
        return reason
    layer = _products(site)
    return _out_of_range(site, layer) or layer


def _refused(site: Site) -> str | None:
    if site.node.op == "QConv" and 1 < site.node.integer("group", 1) == site.input(1).shape[0]:
        return "has one output in every group"
    return refused_products(site)


def _out_of_range(site: Site, layer: Products) -> str | None:
    low, high = site.input(0).dtype.limits
    if not low <= layer.pad <= high:
        return f"positions outside count for {layer.pad}, which {site.input(0).dtype.value} does not hold"
    if layer.bounds.bits > 32:
        return f"the accumulator needs {layer.bounds.bits} bits; this kernel has 32"
    if np.abs(layer.bias).max() >= 2**31:
        return "the bias, with the zero points in it, needs more than 32 bits"
    if layer.weights.min() < -128 or layer.weights.max() > 127:
        return "weights minus their zero points do not fit 8 bits"
    return None


def _products(site: Site) -> Products:
    conv = site.node.op == "QConv"
    x_zero = site.node.integer("x_zero_point" if conv else "a_zero_point")
    weights = conv_weights(site) if conv else gemm_weights(site)
    bias = np.asarray(site.constant(2), np.int64) if site.has_input(2) else np.zeros(len(weights), np.int64)
    return Products(
        rows=conv_rows(site) if conv else gemm_rows(site),
        weights=weights,
        bias=bias - x_zero * weights.sum(axis=(1, 2)),
        pad=site.node.integer("pad_value", x_zero) if conv else 0,
        requant=site.node.requant(),
        bounds=sum_bounds(site),
        form=formula_form(site),
    )


def conv_weights(site: Site) -> Integers:
    weights = centred_weights(site)
    return np.moveaxis(weights, 1, -1).reshape(len(weights), conv_rows(site).runs, -1)


def gemm_weights(site: Site) -> Integers:
    return centred_weights(site).T[:, None, :]


def conv_rows(site: Site) -> Rows:
    """Of a convolution."""
    windows = windows_of(site.node).two_axes
    batches, channels, *spatial = site.input(0).shape
    out = site.output.shape[2:]
    groups = site.node.integer("group", 1)
    joined = windows.dilations[1] == 1 and groups == 1
    return Rows(
        batches=batches,
        width=spatial[-1],
        height=spatial[0] if len(spatial) > 1 else 1,
        channels=channels // groups,
        out_width=out[-1],
        pixels=int(np.prod(out)),
        outputs=site.output.shape[1] // groups,
        row_taps=windows.kernel[0],
        column_runs=1 if joined else windows.kernel[1],
        run_taps=windows.kernel[1] if joined else 1,
        row_stride=windows.strides[0],
        column_stride=windows.strides[1],
        row_dilation=windows.dilations[0],
        column_dilation=windows.dilations[1],
        top=windows.before[0],
        left=windows.before[1],
        padded=any((*windows.before, *windows.after)),
        groups=groups,
    )


def gemm_rows(site: Site) -> Rows:
    """Of a product with one matrix."""
    *lead, depth = site.input(0).shape
    count = int(np.prod(lead))
    return Rows(
        batches=1, width=count, height=1, channels=depth, out_width=count, pixels=count,
        outputs=site.output.shape[-1], row_taps=1, column_runs=1, run_taps=1,
    )  # fmt: skip


def fields(rows: Rows, call: Call) -> dict[str, object]:
    """The geometry, as the structs of all instruction sets begin with it."""
    result: dict[str, object] = {name: getattr(rows, name) for name in _FIELDS}
    some = dict(row_fields(call))
    if some:
        result["pixels"] = product(some["out_width"], some.pop("out_height"))
    return {**result, **some}


def product_access(site: Matched, constants: Mapping[str, tuple[int, ...]], columns: int) -> Access:
    """Of a convolution by rows and columns, of a product whole. `columns`: pixels that are computed together."""
    if site.node.op == "QConv":
        return image_access(site, windows_of(site.node).two_axes, constants, least_columns=columns)
    return whole({"A": site.input(0).shape, **constants}, {"Y": site.output.shape})


def rows_of(tile: TileShape) -> Rows:
    """The geometry of a tile."""
    rows: Rows = tile.site.analysis.rows
    if "h" not in tile.box:
        return rows
    width = tile_columns(tile)
    return replace(rows, out_width=width, pixels=width * tile_rows(tile))


_FIELDS = (
    "width", "height", "channels", "x_step", "x_row", "out_width", "pixels", "outputs", "y_step", "y_row", "row_taps",
    "column_runs", "run_taps", "row_stride", "column_stride", "row_dilation", "column_dilation", "top", "left",
)  # fmt: skip

# `w_step` and `p_step` are the elements of one group's weights and parameters.
CALL = """\
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
${function}((${struct}){
% for name, value in fields.items():
    .${name} = ${value},
% endfor
}, (const uint8_t *)${x}${at(x_bytes, fields["channels"])}, ${W}${at(0, w_step)}, ${P}${at(0, p_step)}, \
(uint8_t *)${Y}${at(y_bytes, fields["outputs"])}, ${columns});"""

CALL_BY_POINTER = CALL.replace("${function}((${struct}){", "${function}(&(${struct}){")  # for less stack


def call_values(layer: Products) -> dict[str, object]:
    """What the call needs beside its pointers."""
    rows = layer.rows
    return {
        "batches": rows.batches,
        "groups": rows.groups,
        "x_bytes": rows.width * rows.height * rows.x_step,
        "y_bytes": rows.pixels * rows.y_step,
    }
