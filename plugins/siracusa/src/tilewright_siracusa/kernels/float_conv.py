"""Knows how the cluster computes convolutions of floats: four pixels times four outputs, channels last.
Does not know depthwise ones, nor the C of a block.

Channels and rows of taps may be cut: sums are kept from part to part.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from tilewright.api.graph import DType, Layout, Site, channels_last
from tilewright.api.kernel import (
    Call,
    Kernel,
    Matched,
    PartialSums,
    TileShape,
    Windows,
    image_fields,
    tap_fields,
    windows_of,
)
from tilewright.api.operator import Access, parse_map
from tilewright_riscv.floats.activation import activation
from tilewright_riscv.floats.machines import not_floats
from tilewright_siracusa.kernels.costs import trips
from tilewright_siracusa.kernels.float_costs import conv_cycles
from tilewright_siracusa.kernels.parts import GRAIN, image_sums
from tilewright_siracusa.kernels.sources import FLOAT_DOT, FLOAT_FINISH, c_fragment, c_template
from tilewright_siracusa.kernels.windows import WINDOWS_CALL

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]

MOST_TAPS = 31  # along one axis: one bit for each
FEW_CHANNELS = 8  # edges are read tap by tap, in runs of this length


def float_windows(site: Site) -> Windows | str:
    """The windows of a Conv for kernels of floats, or why windows, weights or types are none for them."""
    if site.constant(1) is None or (site.has_input(2) and site.constant(2) is None):
        return "weights and bias must be constants"
    if len(site.input(0).shape) not in (3, 4):
        return f"has {len(site.input(0).shape) - 2} spatial axes; 1 and 2 are supported"
    windows = windows_of(site.node)
    if max(windows.kernel) > MOST_TAPS:
        return f"has more than {MOST_TAPS} taps along an axis"
    return not_floats(site) or windows


def padded(windows: Windows) -> bool:
    """Whether a window may reach outside; ceil_mode lets it even without pads."""
    return windows.ceil_mode or any((*windows.before, *windows.after))


def _match(site: Site) -> Windows | str:
    if site.node.integer("group", 1) != 1:
        return "has more than one group"
    if padded(windows_of(site.node)) and site.input(1).shape[1] <= FEW_CHANNELS:
        return f"has {site.input(1).shape[1]} channels at padded edges: portable C is as fast up to {FEW_CHANNELS}"
    return float_windows(site)


def _pack(site: Matched) -> Mapping[str, Array]:
    weights, bias = site.constant(1), site.constant(2)
    if weights is None:
        return {}
    packed: dict[str, Array] = {"W": np.ascontiguousarray(np.moveaxis(weights, 1, -1))}
    if bias is not None:
        packed["B"] = bias
    return {**packed, "Z": np.zeros(weights.shape[1], np.float32)} if padded(site.analysis) else packed


def _access(site: Matched) -> Access:
    windows: Windows = site.analysis
    outs, taps = windows.output_loops, windows.tap_loops
    outputs, inputs, *kernel = site.input(1).shape
    shapes = {"X": site.input(0).shape, "W": (outputs, *kernel, inputs), "Y": site.output.shape}
    if site.has_input(2):
        shapes["B"] = (outputs,)
    if padded(windows):
        shapes["Z"] = (inputs,)
    text = (
        f"n o {' '.join(outs)} c {' '.join(taps)} : X[n,c,{','.join(windows.map_indices())}] "
        f"W[o,{','.join(taps)},c] B[o] Z[c] -> Y[n,o,{','.join(outs)}]"
    )
    return parse_map(text).bind(shapes, windows.map_values())


def _requires(site: Site) -> Mapping[str, Layout]:
    layout = channels_last(len(site.output.shape))
    return {"X": layout, "Y": layout}


def _cycles(tile: TileShape) -> float:
    windows = tile.site.analysis.two_axes
    pixels, outputs, part = trips(tile, "n", "h", "w"), trips(tile, "o"), (trips(tile, "y"), trips(tile, "c"))
    return conv_cycles(pixels, outputs, part, tile.site, windows, padded=padded(windows))


def _accumulates(site: Site) -> PartialSums:
    return PartialSums(loops=("c", "y") if len(site.output.shape) == 4 else ("c",), dtype=DType.F32)


def _values(call: Call) -> Mapping[str, object]:
    site, x, y, w = call.site, call.operands["X"], call.operands["Y"], call.operands["W"]
    windows, channels, part = site.analysis.two_axes, call.extents["c"], call.is_part
    edges = padded(site.analysis)
    clip, limits = activation(site)
    sums = {**call.part_fields, **image_sums(call)} if part else {}
    return {
        "function": f"tw_xp_f32_conv_{'part_' if part else ''}{clip}_{int(edges)}",
        "part": part,
        "acc": call.operands.get("acc", ""),
        "clip": clip,
        "form": "rows",
        "edges": edges,
        "fields": {
            **image_fields(call),
            **tap_fields(windows),
            "row_taps": call.extents.get("y", "1"),
            "channels": channels,
            "joined": _joined(channels, x.strides[-1], w.strides[-2], windows.dilations[1]),
        },
        "more": {"w_output": w.strides[0], "w_tap": w.strides[-2], "y_output": y.strides[1], **limits, **sums},
        "bias": call.operands.get("B", "(const float *)0"),
        "pad": call.operands.get("Z", "(const float *)0"),
    }


def _joined(channels: str, x_tap: int, w_tap: int, dilation: int) -> str:
    """Whether taps of a row are neighbours, among values and among weights, as C."""
    if dilation > 1 or x_tap != w_tap:
        return "0"
    return str(int(int(channels) == x_tap)) if channels.isdecimal() else f"{channels} == {x_tap}"


_PIXEL, _PART_PIXEL = c_fragment("float_pixel.h"), c_fragment("float_part_pixel.h")
_CONV = c_template("${function}", "float_conv.c.mako", FLOAT_FINISH, FLOAT_DOT)

CONV = Kernel(
    name="siracusa.conv_f32",
    op="Conv",
    target="siracusa",
    match=_match,
    access=_access,
    requires=_requires,
    pack=_pack,
    multiples={"c": GRAIN},
    parallel=("h", "w", "o", "n"),
    cycles=_cycles,
    accumulates=_accumulates,
    values=_values,
    source=lambda values: (_PART_PIXEL if values["part"] else _PIXEL, _CONV),
    call=WINDOWS_CALL.format(
        arguments="""(tw_xp_${"part_" if part else ""}floats){
% for name, value in more.items():
    .${name} = ${value},
% endfor
}, ${"%s, " % acc if part else ""}${X}, ${W}, ${bias}, ${Y}, ${pad}"""
    ),
    includes=("<stdint.h>", "<string.h>", "<math.h>"),
)

KERNELS = (CONV,)
