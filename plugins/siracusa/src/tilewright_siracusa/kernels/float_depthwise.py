"""Knows how the cluster computes depthwise convolutions of floats: two windows of a channel at once.
Does not know other convolutions.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from tilewright.api.graph import Layout, Site, channels_last
from tilewright.api.kernel import Call, Kernel, Matched, TileShape, Windows, image_fields, tap_fields, windows_of
from tilewright.api.operator import Access, parse_map
from tilewright_riscv.floats.activation import activation
from tilewright_riscv.floats.sections import scalar_section
from tilewright_siracusa.kernels.costs import layer_edges, trips
from tilewright_siracusa.kernels.float_conv import float_windows, padded
from tilewright_siracusa.kernels.float_costs import depthwise_cycles
from tilewright_siracusa.kernels.sources import DIALECT, FLOAT_FINISH, c_template
from tilewright_siracusa.kernels.windows import WINDOWS_CALL

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]

MOST_PRODUCTS = 25  # written one by one


def _match(site: Site) -> Windows | str:
    group = site.node.integer("group", 1)
    if group == 1 or group != site.input(0).shape[1] or site.input(1).shape[0] != group:
        return "is no depthwise convolution with one output per channel"
    taps = int(np.prod(windows_of(site.node).kernel))
    if taps > MOST_PRODUCTS:
        return f"has {taps} taps; this kernel has {MOST_PRODUCTS} at most"
    return float_windows(site)


def _pack(site: Site) -> Mapping[str, Array]:
    """W as [taps, channels]."""
    weights, bias = site.constant(1), site.constant(2)
    if weights is None:
        return {}
    packed: dict[str, Array] = {"W": np.ascontiguousarray(weights.reshape(len(weights), -1).T)}
    return packed if bias is None else {**packed, "B": bias}


def _access(site: Matched) -> Access:
    windows: Windows = site.analysis
    outs, taps = windows.output_loops, windows.tap_loops
    shapes = {
        "X": site.input(0).shape,
        "W": (int(np.prod(windows.kernel)), site.output.shape[1]),
        "Y": site.output.shape,
    }
    if site.has_input(2):
        shapes["B"] = site.input(2).shape
    text = (
        f"n o {' '.join(outs)} {' '.join(f'{tap}<k{tap}' for tap in taps)} : "
        f"X[n,o,{','.join(windows.map_indices())}] W[:,o] B[o] -> Y[n,o,{','.join(outs)}]"
    )
    return parse_map(text).bind(shapes, windows.map_values())


def _prefers(site: Site) -> Mapping[str, Layout]:
    layout = channels_last(len(site.output.shape))
    return {"X": layout, "Y": layout}


def _cycles(tile: TileShape) -> float:
    windows = tile.site.analysis.two_axes
    edges = layer_edges(tile.site, windows)
    return depthwise_cycles(
        trips(tile, "n", "h"), trips(tile, "w"), trips(tile, "o"), int(np.prod(windows.kernel)), edges
    )


def _values(call: Call) -> Mapping[str, object]:
    site, x, y, w = call.site, call.operands["X"], call.operands["Y"], call.operands["W"]
    windows, edges = site.analysis.two_axes, padded(site.analysis)
    clip, limits = activation(site)
    stride, dilation = windows.strides[1], windows.dilations[1]
    return {
        "function": f"tw_xp_f32_depthwise_{clip}_{'_'.join(map(str, (*windows.kernel, stride, dilation, int(edges))))}",
        "clip": clip,
        "edges": edges,
        "taps": windows.kernel,
        "stride": stride,
        "dilation": dilation,
        "fields": {**image_fields(call), **tap_fields(windows)},
        "more": {
            "x_channel": x.strides[1],
            "y_channel": y.strides[1],
            "w_channel": w.strides[1],
            "w_tap": w.strides[0],
            **limits,
        },
        "bias": call.operands.get("B", "(const float *)0"),
    }


DEPTHWISE = Kernel(
    name="siracusa.conv_depthwise_f32",
    op="Conv",
    target="siracusa",
    match=_match,
    access=_access,
    prefers=_prefers,
    pack=_pack,
    parallel=("o", "h", "w", "n"),
    cycles=_cycles,
    values=_values,
    source=(c_template("${function}", "float_depthwise.c.mako", FLOAT_FINISH, scalar_section(DIALECT)),),
    call=WINDOWS_CALL.format(
        arguments="""(tw_xp_lane_floats){
% for name, value in more.items():
    .${name} = ${value},
% endfor
}, ${X}, ${W}, ${bias}, ${Y}"""
    ),
    includes=("<stdint.h>", "<string.h>", "<math.h>"),
)

KERNELS = (DEPTHWISE,)
