"""Knows how the scalar unit of floats computes depthwise convolutions: four channels together, and where kernels have
three columns three neighbours, whose values and weights stay in registers. Does not know other convolutions.

Channels beyond fours have code of their own, which computes as many as there are. Blocks are assembler.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from tilewright.api.kernel import Call, CodeFragments, Kernel, TileShape, Windows
from tilewright_cortexm.kernels.float_depthwise import (
    DEPTHWISE_CALL,
    depthwise_access,
    depthwise_fields,
    packed,
    refused_or_windows,
)
from tilewright_cortexm.kernels.float_products import OUTPUTS, clip_of, taps_inside
from tilewright_cortexm.kernels.fpu_products import edges
from tilewright_cortexm.kernels.row_tiles import image_layouts, tile_columns, tile_rows
from tilewright_cortexm.kernels.sources import c_template, each_of

_NEIGHBOURS = 3  # pixels of a row at a time, and columns of their kernels
_PIXEL, _CHANNELS, _RUN, _TAP = 80.0, 14.0, 8.0, 13.0  # instructions beside those of limits
_ROW_OF_NEIGHBOURS = 88.0
_REST = MappingProxyType({0: 0.0, 1: 7.0, 2: 9.0, 3: 11.0})  # of a tap, by channels beyond fours
_LIMIT = MappingProxyType({"none": 0.0, "low": 4.0, "both": 8.0})  # of a result


def _neighbours(windows: Windows) -> bool:
    two = windows.two_axes
    return two.kernel[1] == _NEIGHBOURS and two.dilations[1] == 1 and two.strides[1] in (1, 2)


def _instructions(tile: TileShape) -> float:
    site = tile.site
    rows, columns = taps_inside(site)
    batches, channels = site.output.shape[:2]
    width, fours, rest = tile_columns(tile), channels // OUTPUTS, channels % OUTPUTS
    groups = max(0, width - edges(site)[0]) // _NEIGHBOURS if _neighbours(site.analysis) else 0
    ones = width - groups * _NEIGHBOURS
    limit, blocks = _LIMIT[clip_of(site)], fours + bool(rest)
    single = _PIXEL + blocks * (_CHANNELS + rows * _RUN) + limit * channels
    single += rows * columns * (fours * _TAP + _REST[rest])
    row = fours * _ROW_OF_NEIGHBOURS + (_ROW_OF_NEIGHBOURS * (0.15 + 0.22 * rest) if rest else 0.0)
    group = _PIXEL + blocks * (_CHANNELS + 14) + _NEIGHBOURS * limit * channels + rows * row
    return batches * tile_rows(tile) * (groups * group + ones * single)


def _values(call: Call) -> Mapping[str, object]:
    site, clip, channels = call.site, clip_of(call.site), call.site.output.shape[1]
    windows: Windows = site.analysis.two_axes
    form = {"clip": clip, "fours": channels >= OUTPUTS, "rest": channels % OUTPUTS}
    label = f"{'4' if form['fours'] else ''}{form['rest'] or ''}_{clip}"
    single = {"block": f"tw_fpu_taps_{label}", "pixels": 1, "stride": 1, **form}
    blocks, more = [single], ""
    if _neighbours(site.analysis):
        more = f"tw_fpu_neighbours_{windows.strides[1]}_{label}"
        blocks.append({"block": more, "pixels": _NEIGHBOURS, "stride": windows.strides[1], **form})
    return {
        "function": f"tw_fpu_depthwise_{windows.strides[1] if more else 0}_{label}",
        "one": single["block"],
        "more": more,
        "pixels": _NEIGHBOURS,
        "blocks": blocks,
        "fields": depthwise_fields(call),
        "batches": site.input(0).shape[0],
        "x_image": math.prod(site.input(0).shape[1:]),
        "y_image": math.prod(site.output.shape[1:]),
    }


_TAPS = c_template("${block}", "fpu_taps.c.mako")
_DEPTHWISE = c_template("${function}", "fpu_depthwise.c.mako")


def _source(values: Mapping[str, Any]) -> CodeFragments:
    return (*each_of(_TAPS, values["blocks"]), _DEPTHWISE)


KERNELS = (
    Kernel(
        name="cortex-m.fpu.depthwise_f32",
        op="Conv",
        target="cortex-m",
        engine="dsp",
        match=refused_or_windows,
        access=depthwise_access,
        requires=image_layouts,
        pack=packed,
        instructions=_instructions,
        values=_values,
        source=_source,
        call=DEPTHWISE_CALL,
        includes=("<stdint.h>", "<stddef.h>", "<math.h>"),
    ),
)
