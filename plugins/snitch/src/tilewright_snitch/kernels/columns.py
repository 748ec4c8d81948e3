"""Knows how the cluster computes convolutions whose taps streams cannot bring from the image: windows are copied first.
Does not know the instructions of a block.

Those are layers of three channels or one, mostly the first of a network, and taps of a row that are apart.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from tilewright.api import align_up, ceil_div
from tilewright.api.graph import DType, Layout, Site, channels_last
from tilewright.api.kernel import Call, CodeFragments, Kernel, Matched, TileShape, Windows
from tilewright.api.operator import Access, parse_map
from tilewright_riscv.floats.activation import activation
from tilewright_snitch.kernels.conv import CONV_FIELDS, conv_values, conv_windows
from tilewright_snitch.kernels.costs import products_cycles, products_reads
from tilewright_snitch.kernels.halves import HALVES, NARROW_CYCLES
from tilewright_snitch.kernels.layers import LANES_BYTES, NEAR, element_texts, trips
from tilewright_snitch.kernels.product_sections import INCLUDES, PRODUCTS
from tilewright_snitch.kernels.products import short_of_streams
from tilewright_snitch.kernels.sources import c_fragment, c_template, half_sections
from tilewright_snitch.machine import code_cycles

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]

CODE_BYTES = 3300  # that a layer executes, with one width of blocks or with several
AT_ONCE = 4  # pixels: each core has room for their windows
COPY_CYCLES = 4.5  # of an element
TAP_CYCLES = 14.5  # of a run of channels, beside its elements
PIXEL_CYCLES = 137.0  # its place, and a call
PIXEL_READS = 31.0  # of the stack
HALF_TAP_CYCLES, HALF_COPY_CYCLES = 26.0, 6.0  # the same where elements are widened


def column_elements(site: Site) -> int:
    """Of a window and what fills it: of f32 a stream brings two at a time."""
    return align_up(prod(site.input(1).shape[1:]), 1 if site.output.dtype is DType.F64 else 2)


def _match(site: Site) -> Windows | str:
    windows = conv_windows(site, halves=True)
    if isinstance(windows, str):
        return windows
    return short_of_streams(column_elements(site), site.output.dtype.computed_in) or windows


def _pack(site: Matched) -> Mapping[str, Array]:
    """W as [outputs, elements of a column], in what sums are computed in."""
    weights, bias = site.constant(1), site.constant(2)
    if weights is None:
        return {}
    rows, real = np.moveaxis(weights, 1, -1).reshape(len(weights), -1), site.output.dtype.computed_in.numpy
    filled = np.zeros((len(weights), column_elements(site)), real)
    filled[:, : rows.shape[1]] = rows
    return {"W": filled} if bias is None else {"W": filled, "B": bias.astype(real)}


def _access(site: Matched) -> Access:
    """Columns are whole: taps and channels are never cut."""
    windows: Windows = site.analysis
    outs = windows.output_loops
    taps = [f"{loop}<{extent}" for loop, extent in zip(windows.tap_loops, windows.kernel, strict=True)]
    shapes = {"X": site.input(0).shape, "W": (site.input(1).shape[0], column_elements(site)), "Y": site.output.shape}
    if site.has_input(2):
        shapes["B"] = (site.input(1).shape[0],)
    text = (
        f"n o {' '.join(outs)} {' '.join(taps)} : X[n,:,{','.join(windows.map_indices())}] "
        f"W[o,:] B[o] -> Y[n,o,{','.join(outs)}]"
    )
    return parse_map(text).bind(shapes, windows.map_values())


def _requires(site: Site) -> Mapping[str, Layout]:
    return {"Y": channels_last(len(site.output.shape))}


def _scratch(tile: TileShape) -> int:
    """Sums, columns, and results that are rounded later."""
    dtype, elements = tile.site.output.dtype, column_elements(tile.site)
    elements += trips(tile, "o") if dtype.is_half else 0
    return LANES_BYTES + AT_ONCE * elements * dtype.computed_in.size_bytes


def _cycles(tile: TileShape) -> float:
    site = tile.site
    windows: Windows = site.analysis.two_axes
    rows, outputs, width = trips(tile, "n", "h"), trips(tile, "o"), trips(tile, "w")
    taps, depth = windows.kernel[0] * windows.kernel[1], column_elements(site)
    clip, double = ("none", "low", "both").index(activation(site)[0]), site.output.dtype is DType.F64

    def products(pixels: int) -> float:
        return products_cycles(pixels, outputs, depth, double=double, bias=site.has_input(2), clip=clip)

    half = site.output.dtype.is_half
    tap, each = (HALF_TAP_CYCLES, HALF_COPY_CYCLES) if half else (TAP_CYCLES, COPY_CYCLES)
    copies = width * (PIXEL_CYCLES + tap * taps + each * depth + half * NARROW_CYCLES * outputs)
    rest = products(width % AT_ONCE) if width % AT_ONCE else 0.0
    return rows * (width // AT_ONCE * products(AT_ONCE) + rest + copies)


def _stack_reads(tile: TileShape) -> float:
    width = trips(tile, "w")
    return trips(tile, "n", "h") * (width * PIXEL_READS + ceil_div(width, AT_ONCE) * products_reads(trips(tile, "o")))


def _values(call: Call) -> Mapping[str, object]:
    site, x = call.site, call.operands["X"]
    values = conv_values(call, site.analysis.two_axes)
    texts = element_texts(site.output.dtype)
    return {
        **values,
        **texts,
        "function": f"{values['name']}_columns{'_' + site.output.dtype.value if site.output.dtype.is_half else ''}",
        "at_once": AT_ONCE,
        "x_channel": x.strides[1],
        "columns": f"(void *)((uint8_t *){call.operands['scratch']} + {LANES_BYTES})",
    }


def _source(values: Mapping[str, object]) -> CodeFragments:
    needs = (c_fragment("windows.h"), PRODUCTS)
    if values["stored"] == values["type"]:
        return (c_template("${function}", "columns.c.mako", *needs),)
    return (*half_sections(str(values["kind"])), c_template("${function}", "columns.c.mako", *needs, HALVES))


COLUMNS = Kernel(
    name="snitch.conv_columns",
    op="Conv",
    target="snitch",
    match=_match,
    access=_access,
    requires=_requires,
    pack=_pack,
    scratch_bytes=_scratch,
    memories={"W": NEAR},
    parallel=("h", "w", "o", "n"),
    cycles=_cycles,
    stack_reads=_stack_reads,
    step_cycles=code_cycles(CODE_BYTES),
    values=_values,
    source=_source,
    call=f"${{function}}({CONV_FIELDS}, ${{x_channel}}, ${{low}}, ${{high}}, ${{X}}, ${{W}}, "
    "${bias_pointer}, ${Y}, ${columns}, ${scratch});",
    includes=INCLUDES,
)

KERNELS = (COLUMNS,)
