"""Knows how Helium computes depthwise convolutions of floats: four channels of a pixel together, tap by tap; and what
such layers are, for the scalar unit too. Does not know other convolutions; blocks are assembler.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tilewright.api import align_up, ceil_div
from tilewright.api.graph import Site
from tilewright.api.kernel import Call, Kernel, Matched, TileShape, Windows, windows_of
from tilewright.api.operator import Access
from tilewright_cortexm.kernels.float_products import (
    BYTES,
    OUTPUTS,
    clip_of,
    fours,
    limits,
    not_floats,
    of_rows,
    taps_inside,
)
from tilewright_cortexm.kernels.row_tiles import image_access, image_layouts, tile_columns, tile_rows
from tilewright_cortexm.kernels.sources import c_template

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Costs:
    """Instructions of a unit: of a tap of four channels, of four channels by the fused activation, of a pixel."""

    engine: str
    tap: float
    block: Mapping[str, float]
    pixel: float


_HELIUM = _Costs(engine="mve", tap=5.0, block={"none": 10.0, "low": 13.0, "both": 16.0}, pixel=85.0)
_RUN = 5.0  # instructions of a row of taps


def refused_or_windows(site: Site) -> Windows | str:
    """The windows of a layer that can be computed so, or why it cannot."""
    group = site.node.integer("group", 1)
    if len(site.input(0).shape) not in (3, 4):
        return f"has {len(site.input(0).shape) - 2} spatial axes; 1 and 2 are supported"
    if group == 1 or group != site.input(0).shape[1] or site.input(1).shape[0] != group:
        return "is no depthwise convolution with one output per channel"
    return not_floats(site) or windows_of(site.node)


def packed(site: Matched) -> Mapping[str, Array]:
    """Weights and biases, four channels together."""
    weights, bias = site.constant(1), site.constant(2)
    if weights is None:
        raise TypeError("weights are constants, as was checked")
    channels = len(weights)
    zeros = np.zeros(channels, np.float32)
    return {"W": fours(weights.reshape(channels, -1)), "B": fours(zeros if bias is None else bias)}


def depthwise_access(site: Matched) -> Access:
    """By rows and columns, weights and biases whole."""
    windows: Windows = site.analysis
    channels = align_up(site.output.shape[1], OUTPUTS)
    return image_access(site, windows.two_axes, {"W": (channels * math.prod(windows.kernel),), "B": (channels,)})


def _instructions(tile: TileShape, unit: _Costs) -> float:
    site = tile.site
    rows, columns = taps_inside(site)
    batches, channels = site.output.shape[:2]
    pixels = batches * tile_rows(tile) * tile_columns(tile)
    tap = unit.tap * (1.5 if channels % OUTPUTS else 1.0)
    block = unit.block[clip_of(site)] + rows * (_RUN + columns * tap)
    return pixels * (unit.pixel + ceil_div(channels, OUTPUTS) * block)


def _values(call: Call, unit: _Costs) -> Mapping[str, object]:
    site, clip = call.site, clip_of(call.site)
    kind, tail = "mve" if unit.engine == "mve" else "fpu", site.output.shape[1] % OUTPUTS > 0
    label = f"{clip}{'_tail' if tail else ''}"
    batches, channels, *spatial = site.input(0).shape
    return {
        "function": f"tw_{kind}_float_depthwise_{label}",
        "block": f"tw_{kind}_float_taps_{label}",
        "kind": kind,
        "clip": clip,
        "tail": tail,
        "fields": depthwise_fields(call),
        "batches": batches,
        "x_image": channels * math.prod(spatial),
        "y_image": math.prod(site.output.shape[1:]),
    }


def depthwise_fields(call: Call) -> Mapping[str, object]:
    """Of `tw_float_depthwise`, as C."""
    site = call.site
    windows: Windows = site.analysis.two_axes
    channels, (height, width) = site.output.shape[1], _image(site.input(0).shape)
    out_height, out_width = _image(site.output.shape)
    result: dict[str, object] = {
        "width": width, "height": height, "channels": channels, "x_row": BYTES * width * channels,
        "out_width": out_width, "out_height": out_height, "y_row": BYTES * out_width * channels,
        "rows": windows.kernel[0], "columns": windows.kernel[1], "row_stride": windows.strides[0],
        "column_stride": windows.strides[1], "row_dilation": windows.dilations[0],
        "column_dilation": windows.dilations[1], "top": windows.before[0], "left": windows.before[1],
    }  # fmt: skip
    return {**result, **of_rows(call), **limits(site)}


def _image(shape: tuple[int, ...]) -> tuple[int, int]:
    return (1, shape[-1]) if len(shape) == 3 else (shape[-2], shape[-1])


DEPTHWISE_CALL = """\
% if batches > 1:
for (int32_t n = 0; n < ${batches}; ++n)
% endif
<% at = lambda image: f" + n * {image}" if batches > 1 else "" %>\\
${function}((tw_float_depthwise){
% for name, value in fields.items():
    .${name} = ${value},
% endfor
}, ${X}${at(x_image)}, ${W}, ${B}, ${Y}${at(y_image)});"""

_TAPS = c_template("${block}", "float_taps_mve.c.mako")
_DEPTHWISE = c_template("${function}", "float_depthwise.c.mako")


def _kernel(kind: str, unit: _Costs) -> Kernel:
    return Kernel(
        name=f"cortex-m.{kind}.depthwise_f32",
        op="Conv",
        target="cortex-m",
        engine=unit.engine,
        match=refused_or_windows,
        access=depthwise_access,
        requires=image_layouts,
        pack=packed,
        instructions=lambda tile: _instructions(tile, unit),
        values=lambda call: _values(call, unit),
        source=(_TAPS, _DEPTHWISE),
        call=DEPTHWISE_CALL,
        includes=("<stdint.h>", "<stddef.h>", "<math.h>"),
    )


KERNELS = (_kernel("mve", _HELIUM),)
