"""Knows how the cluster computes convolutions of floats by streams: rows of pixels times outputs, channels last.
Does not know the instructions of a block.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tilewright.api.graph import DType, Layout, Site, channels_last
from tilewright.api.kernel import Call, Kernel, Matched, TileShape, Windows, image_fields, tap_fields, windows_of
from tilewright.api.operator import Access, parse_map
from tilewright_riscv.floats.activation import activation
from tilewright_snitch.kernels.conv_parts import GRAIN, accumulates, is_part, part_sections, part_values
from tilewright_snitch.kernels.costs import CALL_CYCLES, products_cycles, products_reads
from tilewright_snitch.kernels.layers import LANES_BYTES, NEAR, not_floats, not_halves, trips
from tilewright_snitch.kernels.product_sections import INCLUDES, PRODUCTS, products_values
from tilewright_snitch.kernels.products import short_of_streams
from tilewright_snitch.kernels.sources import c_fragment, c_template
from tilewright_snitch.machine import code_cycles

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]

CODE_BYTES = 3250  # that a layer executes, with one width of blocks or with several
ROW_CYCLES = 280.0  # of a row of pixels, beside its products
CALL_READS, ROW_READS, PART_READS = 30.0, 15.0, 12.0  # of the stack: of a call, of pixels with the same taps
_FIELDS = (
    "batches", "rows", "columns", "in_rows", "in_columns", "row_taps", "column_taps", "row_stride", "column_stride",
    "row_dilation", "column_dilation", "top", "left", "channels", "w_output", "x_batch", "x_row", "x_column", "y_batch",
    "y_row", "y_column",
)  # fmt: skip


def conv_windows(site: Site, *, grouped: bool = False, halves: bool = False) -> Windows | str:
    """The windows of a convolution that streams can compute, or why they cannot; `halves`: also of 16 bits."""
    if (site.node.integer("group", 1) != 1) is not grouped:
        return "has one group" if grouped else "has more than one group"
    if site.constant(1) is None or (site.has_input(2) and site.constant(2) is None):
        return "weights and bias must be constants"
    if len(site.input(0).shape) not in (3, 4):
        return f"has {len(site.input(0).shape) - 2} spatial axes; 1 and 2 are supported"
    refused = not_halves(site) and not_floats(site) if halves else not_floats(site)
    return refused or windows_of(site.node)


def _match(site: Site) -> Windows | str:
    windows = conv_windows(site)
    if isinstance(windows, str):
        return windows
    if windows.kernel[-1] > 1 and windows.dilations[-1] > 1:
        return "taps of a row are no neighbours"
    return short_of_streams(site.input(1).shape[1], site.output.dtype) or windows


def _pack(site: Matched) -> Mapping[str, Array]:
    weights, bias = site.constant(1), site.constant(2)
    if weights is None:
        return {}
    packed: dict[str, Array] = {"W": np.ascontiguousarray(np.moveaxis(weights, 1, -1))}
    return packed if bias is None else {**packed, "B": bias}


def _access(site: Matched) -> Access:
    """Outputs read the channels of their group."""
    windows: Windows = site.analysis
    outs, taps = windows.output_loops, windows.tap_loops
    outputs, inputs, *kernel = site.input(1).shape
    shapes = {"X": site.input(0).shape, "W": (outputs, *kernel, inputs), "Y": site.output.shape}
    if site.has_input(2):
        shapes["B"] = (outputs,)
    text = (
        f"n o {' '.join(outs)} c {' '.join(taps)} : X[n,o//og*cg+c,{','.join(windows.map_indices())}] "
        f"W[o,{','.join(taps)},c] B[o] -> Y[n,o,{','.join(outs)}]"
    )
    of_groups = {"og": outputs // site.node.integer("group", 1), "cg": inputs}
    return parse_map(text).bind(shapes, {**windows.map_values(), **of_groups})


def _layouts(site: Site) -> Mapping[str, Layout]:
    layout = channels_last(len(site.output.shape))
    return {"X": layout, "Y": layout}


def edge_columns(site: Matched, windows: Windows) -> float:
    """The share of output columns whose windows, over two axes, reach outside."""
    columns, extent = site.output.shape[-1], site.input(0).shape[-1]
    starts = (column * windows.strides[1] - windows.before[1] for column in range(columns))
    reach = (windows.kernel[1] - 1) * windows.dilations[1] + 1
    return sum(start < 0 or start + reach > extent for start in starts) / columns


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rows:
    """What a core computes: rows, of pixels at the edges and between them, which share their taps."""

    rows: int
    edges: int
    inside: int
    part: bool  # of the channels


def _rows(tile: TileShape) -> _Rows:
    site, windows = tile.site, tile.site.analysis.two_axes
    rows, columns, part = trips(tile, "n", "h"), trips(tile, "w"), trips(tile, "c") < tile.site.input(1).shape[1]
    whole = windows.kernel == windows.strides == (1, 1) and not any((*windows.before, *windows.after))
    if whole and not part and columns == site.output.shape[-1]:
        return _Rows(rows=1, edges=0, inside=rows * columns, part=False)
    edges = round(edge_columns(site, windows) * columns)
    return _Rows(rows=rows, edges=edges, inside=columns - edges, part=part)


def _cycles(tile: TileShape) -> float:
    site, windows, work = tile.site, tile.site.analysis.two_axes, _rows(tile)
    outputs, depth = trips(tile, "o"), trips(tile, "c") * windows.kernel[0] * windows.kernel[1]
    clip = 0 if work.part else ("none", "low", "both").index(activation(site)[0])
    double, bias = site.output.dtype is DType.F64, site.has_input(2) or work.part

    def products(pixels: int, elements: int) -> float:
        return products_cycles(pixels, outputs, elements, double=double, bias=bias, clip=clip)

    less = depth * (windows.kernel[1] - 1) // windows.kernel[1] or depth
    edges = work.edges * products(1, less) if work.edges else 0.0
    inside = products(work.inside, depth) if work.inside else 0.0
    return CALL_CYCLES + work.rows * (ROW_CYCLES + inside + edges)


def _stack_reads(tile: TileShape) -> float:
    work = _rows(tile)
    each = ROW_READS + PART_READS * work.part + products_reads(trips(tile, "o"))
    return CALL_READS + work.rows * (work.edges + (work.inside > 0)) * each


def window_fields(call: Call, windows: Windows, *, channels: object, w_output: int) -> dict[str, object]:
    """The fields of tw_sn_windows, see windows.h: `channels` of a window, and what is between weights of outputs."""
    result = {**image_fields(call), **tap_fields(windows), "channels": channels, "w_output": w_output}
    return {name: result[name] for name in _FIELDS}


def conv_values(call: Call, windows: Windows, *, deep: bool = False) -> dict[str, object]:
    """What calls of convolutions need, streams from the image or from columns. Results that are widened are dense."""
    y, bias, inputs = call.operands["Y"], "B" in call.operands, call.site.input(1).shape[1]
    dense = y.strides[1] == 1 or y.dtype.is_half
    return {
        **products_values(call.site, bias=bias, dense=dense, deep=deep),
        "fields": window_fields(call, windows, channels=inputs, w_output=call.operands["W"].strides[0]),
        "products": {"rows": 1, "outputs": y.extents[1], "c_row": 0, "c_output": 1, "y_output": y.strides[1]},
        "bias_pointer": call.operands["B"] if bias else f"(const {y.dtype.computed_in.c_type} *)0",
    }


def _values(call: Call) -> Mapping[str, object]:
    windows, x = call.site.analysis.two_axes, call.operands["X"]
    values, joined = conv_values(call, windows), x.strides[-1] == x.shape[1] or windows.kernel[1] == 1
    if is_part(call):
        return part_values(call, windows, values)
    return {
        **values,
        "part": False,
        "sums": {},
        "kept": "",
        "function": f"{values['name']}_conv{'' if joined else '_apart'}",
        "joined": joined,
    }


WINDOWS_FIELDS = """(tw_sn_windows){
% for field, value in fields.items():
    .${field} = ${value},
% endfor
}"""
PRODUCTS_FIELDS = """(tw_sn_products){
% for field, value in products.items():
    .${field} = ${value},
% endfor
}"""
CONV_FIELDS = f"&{WINDOWS_FIELDS}, &{PRODUCTS_FIELDS}"

WHOLE = c_template("${function}", "conv.c.mako", c_fragment("windows.h"), PRODUCTS)
_CALL = f"""\
% if part:
${{function}}({CONV_FIELDS}, &(tw_sn_sums){{
% for field, value in sums.items():
    .${{field}} = ${{value}},
% endfor
}}, ${{low}}, ${{high}}, ${{X}}, ${{W}}, ${{bias_pointer}}, ${{kept}}, ${{Y}}, ${{scratch}});
% else:
${{function}}({CONV_FIELDS}, ${{low}}, ${{high}}, ${{X}}, ${{W}}, ${{bias_pointer}}, ${{Y}}, ${{scratch}});
% endif"""

CONV = Kernel(
    name="snitch.conv",
    op="Conv",
    target="snitch",
    match=_match,
    access=_access,
    requires=_layouts,
    pack=_pack,
    scratch_bytes=lambda tile: LANES_BYTES,
    memories={"X": NEAR, "W": NEAR},
    multiples={"c": GRAIN},
    parallel=("h", "w", "o", "n"),
    accumulates=accumulates,
    cycles=_cycles,
    stack_reads=_stack_reads,
    step_cycles=code_cycles(CODE_BYTES),
    values=_values,
    source=lambda values: part_sections(values) if values["part"] else (WHOLE,),
    call=_CALL,
    includes=INCLUDES,
)

KERNELS = (CONV,)
