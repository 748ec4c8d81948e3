"""Knows how the DSP extension computes depthwise convolutions of five and seven columns: two neighbours of one channel
in every SMLAD, as `dsp_depthwise` does for 3x3, with weights that are read again for every two results.
Does not know other kernel sizes.

Four channels are taken apart into rows of 16-bit values of their own, in a ring with as many rows as the kernel has.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from tilewright.api import ceil_div
from tilewright.api.graph import Site
from tilewright.api.kernel import Call, CodeFragments, Kernel, Matched, TileShape
from tilewright.api.operator import Access
from tilewright_cortexm.kernels.depthwise import CALL, Depthwise, depthwise
from tilewright_cortexm.kernels.dsp_blocks import SCRATCH_LIMIT_BYTES
from tilewright_cortexm.kernels.dsp_depthwise import SPLIT, depthwise_form
from tilewright_cortexm.kernels.dsp_requant import AnyForm, described, requantiser
from tilewright_cortexm.kernels.row_tiles import image_layouts, in_stripe, tile_columns, tile_rows
from tilewright_cortexm.kernels.sources import c_template
from tilewright_cortexm.kernels.twice import ROUNDINGS

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]

_PLANES = 4
_COLUMNS = (5, 7)
_MOST_ROWS = 7


def _form(layer: Depthwise) -> AnyForm:
    """Of a layer that was taken."""
    result = depthwise_form(layer)
    if isinstance(result, str):
        raise TypeError(result)
    return result


def _words(layer: Depthwise, columns: int) -> int:
    """Of one row of one channel, for so many results: what all windows read, in pairs."""
    return layer.windows.strides[1] * ceil_div(columns, 2) + layer.windows.kernel[1] // 2


def _all_words(layer: Depthwise) -> int:
    """Of the whole width, with where the row itself ends."""
    return max(_words(layer, layer.out_width), (layer.windows.before[1] + layer.width + 1) // 2)


def _scratch(layer: Depthwise, words: int) -> int:
    rows, columns = layer.windows.kernel
    return 4 * _PLANES * (columns * (2 * rows - 1) + rows * words)


def _tile_scratch(tile: TileShape) -> int:
    layer: Depthwise = tile.site.analysis
    columns = tile_columns(tile)
    return _scratch(layer, _words(layer, columns) if columns < layer.out_width else _all_words(layer))


def _match(site: Site) -> Depthwise | str:
    layer = depthwise(site)
    if isinstance(layer, str):
        return layer
    windows, form = layer.windows, depthwise_form(layer)
    if isinstance(form, str):
        return form
    if windows.kernel[1] not in _COLUMNS or windows.kernel[0] > _MOST_ROWS or windows.dilations != (1, 1):
        return f"the kernel is {windows.kernel} with dilations {windows.dilations}; this one has 5 or 7 columns without"
    if windows.strides[1] not in (1, 2):
        return f"the stride between columns is {windows.strides[1]}; 1 and 2 are supported"
    if layer.channels < _PLANES:
        return f"has {layer.channels} channels; four are computed together"
    most = _scratch(layer, _all_words(layer))
    return f"needs {most} bytes of scratch, more than {SCRATCH_LIMIT_BYTES}" if most > SCRATCH_LIMIT_BYTES else layer


def _pack(site: Matched) -> Mapping[str, Array]:
    layer: Depthwise = site.analysis
    form = _form(layer)
    parameters = [(bias, *form.of_block(range(c, c + 1))) for c, bias in enumerate(layer.bias)]
    return {
        "W": layer.weights.astype(np.int8).reshape(-1),
        "P": np.asarray(parameters, np.int64).astype(np.int32).reshape(-1),
    }


def _access(site: Matched) -> Access:
    layer: Depthwise = site.analysis
    constants = {"W": (layer.taps * layer.channels,), "P": ((1 + _form(layer).stored) * layer.channels,)}
    return layer.access(site, constants)


def _instructions(tile: TileShape) -> float:
    """Executed instructions."""
    layer: Depthwise = tile.site.analysis
    (rows, taps), (stride, across) = layer.windows.kernel, layer.windows.strides
    out, columns = tile_rows(tile), tile_columns(tile)
    read = (out - 1) * stride + rows
    taken_apart = min(layer.height, read) * (11 * min(layer.width, (columns - 1) * across + taps) + 40)
    half = taps // 2 + 1
    loads, products = half + across - 1 + ceil_div(taps if across == 1 else half, 2), 2 * half
    each = rows * (loads + products) + 28
    computed = out * _PLANES * (ceil_div(columns, 2) * (each + 2 * _form(layer).more) + 30)
    setup = _PLANES * (rows * (6 * taps + 12) + 2 * taps * rows + 40)
    return layer.batches * ceil_div(layer.channels, _PLANES) * (taken_apart + computed + setup)


def _describe(site: Matched) -> Mapping[str, object]:
    layer: Depthwise = site.analysis
    return {"accumulator_bits": 32, "requant": described(_form(layer), layer.form)}


def _values(call: Call) -> Mapping[str, object]:
    layer: Depthwise = call.site.analysis
    form, requant, widen = _form(layer), layer.requant, call.site.input(0).dtype.value
    (rows, columns), stride = layer.windows.kernel, layer.windows.strides[1]
    some = f"({call.operands['Y'].extents[3]} + 1) / 2" if in_stripe(call) else ""
    words = f"({stride} * ({some})) + {columns // 2}" if some else _all_words(layer)
    return {
        "function": f"tw_dsp_wide_depthwise_{widen}_{rows}x{columns}_s{stride}_{form.label(requant)}",
        "planes": f"tw_dsp_planes_{widen}_{rows}",
        "slots": rows,
        "together": 4,
        "widen": widen,
        "rows": rows,
        "columns": columns,
        "stride": stride,
        "stored": form.stored,
        **form.names(requant),
        "fields": layer.fields(call),
        "numbers": f"{words}, {form.above}, {requant.zero_point}",
        **layer.call_values(),
    }


_DEPTHWISE = c_template("${function}", "dsp_wide_depthwise.c.mako", SPLIT)


def _source(values: Mapping[str, Any]) -> CodeFragments:
    return (*requantiser(values), _DEPTHWISE)


KERNELS = (
    Kernel(
        name="cortex-m.dsp.depthwise_wide",
        op="QConv",
        target="cortex-m",
        engine="dsp",
        match=_match,
        access=_access,
        requires=image_layouts,
        pack=_pack,
        scratch_bytes=_tile_scratch,
        instructions=_instructions,
        describe=_describe,
        values=_values,
        source=_source,
        call=CALL,
        includes=("<stdint.h>", "<string.h>"),
        roundings=ROUNDINGS,
    ),
)
