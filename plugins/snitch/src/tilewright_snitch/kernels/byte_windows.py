"""Knows how the cluster convolves bytes in the float unit: widened row by row, multiplied by streams, requantised.
Does not know which sums are exact, nor how convolutions of float32 compute.

Columns of a row are computed together as many as scratch has room for; a convolution of one tap takes rows as one.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from tilewright.api import align_up
from tilewright.api.graph import DType, Layout, Site, channels_last
from tilewright.api.kernel import Call, FragmentTemplate, Kernel, Matched, PartialSums, TileShape
from tilewright.api.operator import Access, parse_map
from tilewright_snitch.kernels import taps
from tilewright_snitch.kernels.byte_costs import (
    AGAIN_CYCLES,
    ByteRows,
    conv_cycles,
    depthwise_cycles,
    stack_reads,
)
from tilewright_snitch.kernels.byte_layers import GRAIN, ByteLayer, byte_conv, byte_depthwise
from tilewright_snitch.kernels.byte_products import BYTES_FIELDS
from tilewright_snitch.kernels.byte_rounding import ROUNDINGS
from tilewright_snitch.kernels.conv import WINDOWS_FIELDS, window_fields
from tilewright_snitch.kernels.layers import NEAR, trips
from tilewright_snitch.kernels.product_sections import INCLUDES, PRODUCTS, sums_values
from tilewright_snitch.kernels.sources import c_fragment, c_template
from tilewright_snitch.machine import code_cycles

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]

LAYER_BYTES = 264  # of tw_sn_byte_layer, see byte_rows.h
CODE_BYTES, DEPTHWISE_CODE_BYTES = 3900, 3300  # that a layer executes
MOST_FLOATS = {False: 512, True: 1024}  # of x that are widened together, were windows beside each other; of depthwise
FEWEST = 4  # columns at once


def at_once(layer: ByteLayer) -> int:
    """Columns that are computed together, at most."""
    return max(FEWEST, MOST_FLOATS[layer.depthwise] // (layer.windows.two_axes.kernel[0] * layer.wide))


def _pack(site: Matched) -> Mapping[str, Array]:
    layer: ByteLayer = site.analysis
    return {"W": layer.weights.reshape(_packed_shapes(layer)["W"]), "P": layer.parameters}


def _packed_shapes(layer: ByteLayer) -> dict[str, tuple[int, ...]]:
    """Of W and P. Where channels are cut, taps have axes of their own."""
    outputs, kernel, wide = layer.outputs, layer.windows.kernel, layer.wide
    if layer.depthwise:
        weights: tuple[int, ...] = (prod(kernel), wide)
    else:
        weights = (outputs, *kernel, wide) if layer.cut else (outputs, prod(kernel) * wide)
    return {"W": weights, "P": (2, outputs)}


def _access(site: Matched) -> Access:
    layer: ByteLayer = site.analysis
    windows = layer.windows
    outs, rows = ",".join(windows.output_loops), ",".join(windows.map_indices())
    some = " ".join(f"{loop}<{extent}" for loop, extent in zip(windows.tap_loops, windows.kernel, strict=True))
    spatial = f"n {' '.join(windows.output_loops)} {some}"
    if layer.depthwise:
        loop, at = ("c ", "c") if layer.cut else ("", ":")
        text = f"{loop}{spatial} : X[n,{at},{rows}] W[:,{at}] P[:,{at}] -> Y[n,{at},{outs}]"
    elif layer.cut:
        text = f"o c {spatial} : X[n,c,{rows}] W[o,{','.join(windows.tap_loops)},c] P[:,o] -> Y[n,o,{outs}]"
    else:
        text = f"o {spatial} : X[n,:,{rows}] W[o,:] P[:,o] -> Y[n,o,{outs}]"
    shapes = {"X": site.input(0).shape, "Y": site.output.shape, **_packed_shapes(layer)}
    return parse_map(text).bind(shapes, windows.map_values())


def _layouts(site: Site) -> Mapping[str, Layout]:
    layout = channels_last(len(site.output.shape))
    return {"X": layout, "Y": layout}


def _channels(tile: TileShape) -> int:
    """Of x, that a tile has."""
    return trips(tile, "c") if "c" in tile.box else int(tile.site.analysis.channels)


def _columns(tile: TileShape) -> int:
    """Of a row of the output; of one tap, all pixels may be one row."""
    pointwise = prod(tile.site.analysis.windows.kernel) == 1
    return trips(tile, *(("h", "w") if pointwise else ("w",)))


def _scratch(tile: TileShape) -> int:
    """The layer; zeros for all channels that are by themselves; sums that are not kept elsewhere; what is widened."""
    layer: ByteLayer = tile.site.analysis
    channels = _channels(tile)
    windows, wide = layer.windows.two_axes, align_up(channels, 2)
    columns = min(at_once(layer), _columns(tile))
    seen = windows.kernel[0] * ((columns - 1) * windows.strides[1] + (windows.kernel[1] - 1) * windows.dilations[1] + 1)
    if layer.depthwise:
        return LAYER_BYTES + 4 * wide * (1 + columns + seen)
    sums = 0 if channels < layer.channels else columns * align_up(trips(tile, "o"), 2)
    return LAYER_BYTES + 4 * (sums + seen * wide)


def _work(tile: TileShape) -> ByteRows:
    layer: ByteLayer = tile.site.analysis
    pointwise = prod(layer.windows.kernel) == 1
    return ByteRows(
        batches=trips(tile, "n"),
        rows=1 if pointwise else trips(tile, "h"),
        columns=_columns(tile),
        at_once=at_once(layer),
        channels=_channels(tile),
        outputs=_channels(tile) if layer.depthwise else trips(tile, "o"),
    )


def _cycles(tile: TileShape) -> float:
    layer: ByteLayer = tile.site.analysis
    return AGAIN_CYCLES + (depthwise_cycles if layer.depthwise else conv_cycles)(layer, _work(tile))


def _stack_reads(tile: TileShape) -> float:
    return stack_reads(tile.site.analysis, _work(tile))


def _describe(site: Matched) -> Mapping[str, object]:
    outputs = site.analysis.outputs
    return {"accumulator_bits": 32, "requant": {"channels": outputs, "exact": outputs}}


def _values(call: Call, form: str, channels: str) -> dict[str, Any]:
    """What rows of windows need of any layer; `channels` of x are there."""
    layer: ByteLayer = call.site.analysis
    x, w, requant = call.operands["X"].dtype, call.operands["W"], call.site.node.requant()
    parity = "odd" if requant.zero_point % 2 else "even"
    return {
        "element": x.value,
        "stored": x.c_type,
        "form": form,
        "odd": parity == "odd",
        "parity": parity,
        "results": f"tw_sn_bytes_{parity}",
        **dict.fromkeys(("name", "function", "kept"), ""),
        "deep": False,
        "sums": {},
        "fields": window_fields(call, layer.windows.two_axes, channels=channels, w_output=w.strides[0]),
        "row": {
            "channels": channels,
            "wide": channels if layer.cut else layer.wide,
            "outputs": call.operands["Y"].extents[1],
            "at_once": at_once(layer),
            "pad": layer.pad,
            "scales": call.operands["P"].strides[0],
            "zero_point": requant.zero_point,
            "low": requant.low,
            "high": requant.high,
        },
    }


def _named(result: dict[str, Any], around: object) -> dict[str, Any]:
    """With the name of the function of bytes around what computes floats."""
    return {**result, "bytes": f"{around}_{result['element']}_{result['parity']}"}


def _conv_values(call: Call) -> Mapping[str, object]:
    layer: ByteLayer = call.site.analysis
    part = "acc" in call.operands
    result = {
        **_values(call, "part" if part else "whole", call.extents["c"] if part else str(layer.channels)),
        **sums_values(DType.F32, bias=False),
    }
    return _part_values(call, result) if part else _named(result, f"{result['name']}_conv")


def _part_values(call: Call, whole: dict[str, Any]) -> dict[str, Any]:
    """Weights of a row of taps are neighbours only where all channels that are stored are multiplied."""
    steps, w_tap = call.operands["acc"].strides, call.operands["W"].strides[-2]
    deep = call.site.analysis.windows.kernel[-1] > 1 and call.extents["c"] != str(w_tap)
    products = sums_values(DType.F32, bias=True, deep=deep)  # added to what is there
    sums = {
        "first": call.first,
        "last": call.last,
        "batch": steps[0],
        "row": 0 if len(steps) == 3 else steps[2],
        "column": steps[-1],
        "w_tap": w_tap,
    }
    result = {**whole, **products, "kept": f"{call.operands['acc']}, ", "sums": sums}
    return _named(result, f"{products['name']}_conv_part_none")


def _depthwise_values(call: Call) -> Mapping[str, object]:
    result = {
        **_values(call, "depthwise", call.operands["X"].extents[1]),
        **taps.window_sums_values("products", "none"),
    }
    return _named(result, result["function"])


_WIDENING = c_template("tw_sn_${element}_widen", "byte_widening.c.mako", c_fragment("byte_rows.h"))
_RESULTS = c_template("tw_sn_bytes_${parity}", "byte_results.c.mako", c_fragment("byte_rows.h"))


def _around(*inner: FragmentTemplate) -> FragmentTemplate:
    return c_template("${bytes}", "byte_windows.c.mako", _WIDENING, _RESULTS, *inner)


_LAYER = "((tw_sn_byte_layer *)(void *)${scratch})"
_CALL = f"""\
{_LAYER}->windows = {WINDOWS_FIELDS};
{_LAYER}->bytes = {BYTES_FIELDS};
% if form == "part":
{_LAYER}->sums = (tw_sn_sums){{
% for field, value in sums.items():
    .${{field}} = ${{value}},
% endfor
}};
% endif
${{bytes}}({_LAYER}, ${{X}}, ${{W}}, ${{P}}, ${{kept}}(uint8_t *)${{Y}});"""

CONV = Kernel(
    name="snitch.qconv_floats",
    roundings=ROUNDINGS,
    op="QConv",
    target="snitch",
    match=byte_conv,
    access=_access,
    requires=_layouts,
    pack=_pack,
    scratch_bytes=_scratch,
    memories={"W": NEAR},
    multiples={"c": GRAIN},
    parallel=("h", "w", "o", "n"),
    accumulates=lambda site: PartialSums(loops=("c",), dtype=DType.F32) if site.analysis.cut else None,
    cycles=_cycles,
    stack_reads=_stack_reads,
    step_cycles=code_cycles(CODE_BYTES) - AGAIN_CYCLES,
    describe=_describe,
    values=_conv_values,
    source=lambda values: (_around(PRODUCTS),),
    call=_CALL,
    includes=INCLUDES,
)

DEPTHWISE = Kernel(
    name="snitch.qconv_depthwise",
    roundings=ROUNDINGS,
    op="QConv",
    target="snitch",
    match=byte_depthwise,
    access=_access,
    requires=_layouts,
    pack=_pack,
    scratch_bytes=_scratch,
    memories={"W": NEAR},
    multiples={"c": 2},
    parallel=("h", "w", "c", "n"),
    cycles=_cycles,
    stack_reads=_stack_reads,
    step_cycles=code_cycles(DEPTHWISE_CODE_BYTES) - AGAIN_CYCLES,
    describe=_describe,
    values=_depthwise_values,
    source=lambda values: (_around(taps.TAPS),),
    call=_CALL,
    includes=INCLUDES,
)

KERNELS = (CONV, DEPTHWISE)
