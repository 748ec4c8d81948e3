"""Knows how the cluster computes QConv and QGemm on its integer cores: four pixels times four outputs in registers.
Does not know grouped convolutions, nor products of computed matrices: those are portable C.

Windows of four pixels are copied beside each other first, byte by byte in turn, so that a block reads with one pointer.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from tilewright.api import align_up
from tilewright.api.graph import Layout, Site, channels_last, row_major
from tilewright.api.kernel import Call, Kernel, Matched, TileShape, windows_of
from tilewright.api.operator import Access, parse_map
from tilewright_snitch.kernels.conv import window_fields
from tilewright_snitch.kernels.costs import integers_cycles
from tilewright_snitch.kernels.integer_layers import IntegerLayer, integer_layer, row_fields
from tilewright_snitch.kernels.layers import trips
from tilewright_snitch.kernels.sources import c_fragment, c_template
from tilewright_snitch.machine import code_cycles

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]

BLOCK = 4  # outputs, and pixels
CODE_BYTES = 4200  # that a convolution executes
ROW_CODE_BYTES = 1200  # that a product of one row does, which is what networks have


def _depth(layer: IntegerLayer) -> int:
    """Elements of a window, filled up."""
    return align_up(layer.weights.shape[1], BLOCK)


def _packed_shapes(layer: IntegerLayer) -> dict[str, tuple[int, int]]:
    blocks = align_up(len(layer.weights), BLOCK) // BLOCK
    return {"W": (blocks, _depth(layer) * BLOCK), "P": (blocks, 2 * BLOCK)}


def _pack(site: Matched) -> Mapping[str, Array]:
    """Of each four outputs: W, the element of every one in turn; P, biases and the bits of scales."""
    layer: IntegerLayer = site.analysis
    outputs, elements = layer.weights.shape
    shapes = _packed_shapes(layer)
    blocks = shapes["W"][0]
    weights = np.zeros((blocks * BLOCK, _depth(layer)), np.int8)
    weights[:outputs, :elements] = layer.weights
    parameters = np.zeros((2, blocks * BLOCK), np.int32)
    parameters[:, :outputs] = layer.bias, np.asarray(site.node.requant().scales(outputs), np.float32).view(np.int32)
    return {
        "W": np.ascontiguousarray(weights.reshape(blocks, BLOCK, -1).swapaxes(1, 2)).reshape(shapes["W"]),
        "P": np.ascontiguousarray(parameters.reshape(2, blocks, BLOCK).swapaxes(0, 1)).reshape(shapes["P"]),
    }


def _conv_access(site: Matched) -> Access:
    """Windows are whole: taps and channels are never cut."""
    windows = windows_of(site.node)
    outs = windows.output_loops
    taps = [f"{loop}<{extent}" for loop, extent in zip(windows.tap_loops, windows.kernel, strict=True)]
    text = (
        f"n o {' '.join(outs)} {' '.join(taps)} : X[n,:,{','.join(windows.map_indices())}] "
        f"W[o//{BLOCK},:] P[o//{BLOCK},:] -> Y[n,o,{','.join(outs)}]"
    )
    shapes = {"X": site.input(0).shape, "Y": site.output.shape, **_packed_shapes(site.analysis)}
    return parse_map(text).bind(shapes, windows.map_values())


def _gemm_access(site: Matched) -> Access:
    shapes = {"A": site.input(0).shape, "Y": site.output.shape, **_packed_shapes(site.analysis)}
    return parse_map(f"n : A[...,:] W[n//{BLOCK},:] P[n//{BLOCK},:] -> Y[...,n]").bind(shapes)


def _conv_layouts(site: Site) -> Mapping[str, Layout]:
    layout = channels_last(len(site.output.shape))
    return {"X": layout, "Y": layout}


def _gemm_layouts(site: Site) -> Mapping[str, Layout]:
    return {"A": row_major(len(site.input(0).shape)), "Y": row_major(len(site.output.shape))}


def _conv_cycles(tile: TileShape) -> float:
    layer: IntegerLayer = tile.site.analysis
    taps = prod(layer.windows.kernel)
    return integers_cycles(trips(tile, "n", "h", "w"), trips(tile, "o"), layer.weights.shape[1], taps)


def _gemm_cycles(tile: TileShape) -> float:
    layer: IntegerLayer = tile.site.analysis
    rows = trips(tile, *(name for name in tile.box if name != "n"))
    return integers_cycles(rows, trips(tile, "n"), layer.weights.shape[1], 1)


def _describe(site: Matched) -> Mapping[str, object]:
    outputs = len(site.analysis.weights)
    return {"accumulator_bits": 32, "requant": {"channels": outputs, "exact": outputs}}


def _conv_values(call: Call) -> Mapping[str, object]:
    layer: IntegerLayer = call.site.analysis
    fields = window_fields(call, layer.windows, channels=layer.inputs, w_output=0)
    joined = layer.windows.dilations[1] == 1 and call.operands["X"].strides[-1] == layer.inputs
    return _values(call, fields, call.operands["Y"].extents[1], "X", joined=joined)


def _gemm_values(call: Call) -> Mapping[str, object]:
    """Rows of A are pixels."""
    fields = row_fields(call, call.site.analysis.inputs)
    return _values(call, fields, call.operands["Y"].extents[-1], "A", joined=True)


def _values(call: Call, fields: Mapping[str, object], outputs: str, x: str, *, joined: bool) -> Mapping[str, object]:
    layer: IntegerLayer = call.site.analysis
    dtype, requant = call.operands[x].dtype, call.site.node.requant()
    return {
        "function": f"tw_sn_{dtype.value}_integers",
        "type": dtype.c_type,
        "x": call.operands[x],
        "columns": f"({dtype.c_type} *){call.operands['scratch']}",
        "windows": fields,
        "integers": {
            "outputs": outputs,
            "depth": _depth(layer),
            "pad": layer.pad,
            "joined": int(joined),
            "zero_point": requant.zero_point,
            "low": requant.low,
            "high": requant.high,
        },
    }


_CALL = """\
${function}((tw_sn_windows){
% for field, value in windows.items():
    .${field} = ${value},
% endfor
}, (tw_sn_integers){
% for field, value in integers.items():
    .${field} = ${value},
% endfor
}, ${x}, ${W}, ${P}, (uint8_t *)${Y}, ${columns});"""
_SOURCE = c_template(
    "${function}", "integer_products.c.mako", *map(c_fragment, ("streams.h", "windows.h", "integer_products.h"))
)

CONV = Kernel(
    name="snitch.qconv",
    op="QConv",
    target="snitch",
    match=integer_layer,
    access=_conv_access,
    requires=_conv_layouts,
    pack=_pack,
    scratch_bytes=lambda tile: BLOCK * _depth(tile.site.analysis),
    multiples={"o": BLOCK},
    parallel=("h", "w", "o", "n"),
    cycles=_conv_cycles,
    step_cycles=code_cycles(CODE_BYTES),
    describe=_describe,
    values=_conv_values,
    source=lambda values: (_SOURCE,),
    call=_CALL,
    includes=("<stdint.h>",),
)

GEMM = Kernel(
    name="snitch.qgemm",
    op="QGemm",
    target="snitch",
    match=integer_layer,
    access=_gemm_access,
    requires=_gemm_layouts,
    pack=_pack,
    scratch_bytes=lambda tile: BLOCK * _depth(tile.site.analysis),
    multiples={"n": BLOCK},
    parallel=("*",),
    cycles=_gemm_cycles,
    step_cycles=code_cycles(ROW_CODE_BYTES),
    describe=_describe,
    values=_gemm_values,
    source=lambda values: (_SOURCE,),
    call=_CALL,
    includes=("<stdint.h>",),
)

KERNELS = (CONV, GEMM)
