"""Knows how the cluster convolves by streams where taps of a row are apart in memory: groups, and dilated windows.
Does not know the instructions of a block, nor groups of one channel (`taps`). The outputs of a group are a block each.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from math import prod

from tilewright.api import ceil_div
from tilewright.api.graph import DType, Site
from tilewright.api.kernel import Call, Kernel, TileShape, Windows
from tilewright_riscv.floats.activation import activation
from tilewright_snitch.kernels.conv import CONV, CONV_FIELDS, conv_values, conv_windows, edge_columns
from tilewright_snitch.kernels.costs import CALL_CYCLES, products_cycles
from tilewright_snitch.kernels.layers import trips
from tilewright_snitch.kernels.product_sections import PRODUCTS
from tilewright_snitch.kernels.products import short_of_streams
from tilewright_snitch.kernels.sources import c_fragment, c_template
from tilewright_snitch.machine import code_cycles

CODE_BYTES = 4100  # that a layer executes
GROUP_CYCLES = 220.0  # of a row of pixels of a group, beside its products
PIXEL_CYCLES = 250.0  # of a pixel whose window reaches outside


def _match(site: Site, windows: Windows | str) -> Windows | str:
    if isinstance(windows, str):
        return windows
    channels = site.input(1).shape[1]
    if channels % (1 if site.output.dtype is DType.F64 else 2):
        return f"groups have {channels} channels; of f32 a stream brings two at a time"
    return short_of_streams(prod(site.input(1).shape[1:]), site.output.dtype) or windows


def _match_groups(site: Site) -> Windows | str:
    return _match(site, conv_windows(site, grouped=True))


def _match_apart(site: Site) -> Windows | str:
    windows = conv_windows(site)
    if isinstance(windows, Windows) and (windows.kernel[-1] == 1 or windows.dilations[-1] == 1):
        return "taps of a row are neighbours"
    return _match(site, windows)


def _cycles(tile: TileShape) -> float:
    site, windows = tile.site, tile.site.analysis.two_axes
    rows, columns, outputs = trips(tile, "n", "h"), trips(tile, "w"), trips(tile, "o")
    each = min(site.input(1).shape[0] // site.node.integer("group", 1), outputs)
    depth, clip = prod(site.input(1).shape[1:]), activation(site)[0]
    edges = round(edge_columns(site, windows) * columns)

    def products(pixels: int, products: int) -> float:
        limits, bias = ("none", "low", "both").index(clip), site.has_input(2)
        double = site.output.dtype is DType.F64
        return products_cycles(pixels, each, products, double=double, bias=bias, clip=limits, alone=True)

    less = depth * (windows.kernel[1] - 1) // windows.kernel[1] or depth
    inside = products(columns - edges, depth) if columns > edges else 0.0
    row = GROUP_CYCLES + inside + edges * (PIXEL_CYCLES + products(1, less))
    return CALL_CYCLES + ceil_div(outputs, each) * rows * row


def _values(call: Call) -> Mapping[str, object]:
    site, x, y = call.site, call.operands["X"], call.operands["Y"]
    values = conv_values(call, site.analysis.two_axes, deep=True)
    outputs = site.input(1).shape[0] // site.node.integer("group", 1)
    groups = {"outputs": outputs, "first_output": y.origin[1], "first_channel": x.origin[1]}
    return {**values, "function": f"{values['name']}_groups", "groups": groups}


GROUPS = c_template("${function}", "grouped.c.mako", c_fragment("windows.h"), PRODUCTS)
GROUPS_FIELDS = """(${function}_of){
% for field, value in groups.items():
    .${field} = ${value},
% endfor
}"""


def _kernel(name: str, match: Callable[[Site], Windows | str]) -> Kernel:
    return replace(
        CONV,
        name=f"snitch.{name}",
        match=match,
        multiples={},
        accumulates=lambda site: None,
        cycles=_cycles,
        step_cycles=code_cycles(CODE_BYTES),
        values=_values,
        source=lambda values: (GROUPS,),
        call=f"${{function}}({CONV_FIELDS}, {GROUPS_FIELDS}, ${{low}}, ${{high}}, ${{X}}, ${{W}}, "
        "${bias_pointer}, ${Y}, ${scratch});",
    )


GROUPED, APART = _kernel("conv_grouped", _match_groups), _kernel("conv_apart", _match_apart)
KERNELS = (GROUPED, APART)
