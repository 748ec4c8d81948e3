"""Knows how the DSP extension computes depthwise convolutions with any window: four channels of one tap at a time,
which may be several filters of one channel.
Does not know the special form of 3x3, which takes neighbours of one channel and is faster (`dsp_depthwise`).

Where the taps of a pixel are is a table of offsets; those outside point to a pixel of padding in scratch.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from tilewright.api.graph import Site
from tilewright.api.kernel import Call, Kernel, Matched, TileShape
from tilewright.api.operator import Access
from tilewright_cortexm.kernels.depthwise import CALL, Depthwise, depthwise
from tilewright_cortexm.kernels.dsp_blocks import SCRATCH_LIMIT_BYTES
from tilewright_cortexm.kernels.dsp_requant import AnyForm, any_form, described, requantiser
from tilewright_cortexm.kernels.row_tiles import image_layouts, tile_columns, tile_rows
from tilewright_cortexm.kernels.sources import c_template
from tilewright_cortexm.kernels.twice import ROUNDINGS

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]

_CHANNELS = 4
_UNROLLS = (9, 7, 5, 4, 3, 2, 1)
_SEVERAL = (2, 4)  # filters of a channel that a second kernel takes
ADDRESS_BYTES = 8  # on the widest machine that compiles this, for tests; on Arm half of it is used


def _scratch(layer: Depthwise) -> int:
    return 2 * layer.taps * ADDRESS_BYTES + layer.x_channels


def _form(layer: Depthwise) -> AnyForm:
    """Of a layer that was taken."""
    result = any_form(layer.requant, layer.form, layer.bounds)
    if isinstance(result, str):
        raise TypeError(result)
    return result


def _match(site: Site) -> Depthwise | str:
    return _taken(depthwise(site))


def _taken(layer: Depthwise | str) -> Depthwise | str:
    if isinstance(layer, str):
        return layer
    if layer.channels < _CHANNELS:
        return f"has {layer.channels} channels; four are computed together"
    form = any_form(layer.requant, layer.form, layer.bounds)
    if isinstance(form, str):
        return form
    if _scratch(layer) > SCRATCH_LIMIT_BYTES:
        return f"needs {_scratch(layer)} bytes of scratch, more than {SCRATCH_LIMIT_BYTES}"
    return layer


def _groups(layer: Depthwise) -> list[range]:
    """Channels computed together; the last four again where they do not come out even."""
    firsts = (min(first, layer.channels - _CHANNELS) for first in range(0, layer.channels, _CHANNELS))
    return [range(first, first + _CHANNELS) for first in firsts]


def _pack(site: Matched) -> Mapping[str, Array]:
    layer: Depthwise = site.analysis
    weights = layer.weights.reshape(layer.channels, -1).astype(np.int8)
    form, groups = _form(layer), _groups(layer)
    parameters = [part for group in groups for part in (layer.bias[group.start : group.stop], form.of_block(group))]
    return {
        "W": np.concatenate([weights[group.start : group.stop].T.reshape(-1) for group in groups]).view(np.uint32),
        "P": np.concatenate(parameters).astype(np.int32),
    }


def _access(site: Matched) -> Access:
    layer: Depthwise = site.analysis
    groups = len(_groups(layer))
    constants = {"W": (groups * layer.taps,), "P": (groups * (1 + _form(layer).stored) * _CHANNELS,)}
    return layer.access(site, constants)


def _instructions(tile: TileShape) -> float:
    """Executed instructions."""
    layer: Depthwise = tile.site.analysis
    unroll, slow = _unroll(layer.taps), _CHANNELS * _form(layer).more
    step = 9 if layer.multiplier == 4 else 11
    beside, call = (40, 60) if layer.multiplier == 1 else (34, 45)  # of the former, what the fitted table corrects
    each = len(_groups(layer)) * (layer.taps * (step + 4 / unroll) + beside + slow) + call
    pixels = tile_columns(tile) * tile_rows(tile)
    edges = pixels / (layer.out_width * layer.out_height) * layer.edges * (5 * layer.taps + 60)
    return layer.batches * (pixels * each + edges)


def _unroll(taps: int) -> int:
    return next(count for count in _UNROLLS if taps % count == 0)


def _describe(site: Matched) -> Mapping[str, object]:
    layer: Depthwise = site.analysis
    return {"accumulator_bits": 32, "requant": described(_form(layer), layer.form)}


def _values(call: Call) -> Mapping[str, object]:
    layer: Depthwise = call.site.analysis
    form, requant = _form(layer), layer.requant
    widen = call.site.input(0).dtype.value
    pixel = f"tw_dsp_taps_{widen}_{layer.taps}{layer.several}_{form.label(requant)}"
    return {
        "function": f"tw_dsp_taps_{layer.taps}{layer.several}",
        "multiplier": layer.multiplier,
        "outputs": f"({layer.multiplier} * p.channels)" if layer.several else "p.channels",
        "several": layer.several,
        "pixel": pixel,
        "widen": widen,
        "taps": layer.taps,
        "unroll": _unroll(layer.taps),
        **form.names(requant),
        "fields": layer.fields(call),
        "numbers": f"{form.above}, {requant.zero_point}, {pixel}",
        **layer.call_values(),
    }


_TAP = c_template("TW_DSP_TAP_${widen.upper()}${several.upper()}", "dsp_tap.c.mako")
_PIXEL = c_template("${pixel}", "dsp_taps_pixel.c.mako", _TAP)
TAPS = c_template("${function}", "dsp_taps.c.mako")


def _kernel(name: str, match: Callable[[Site], Depthwise | str]) -> Kernel:
    return Kernel(
        name=name,
        op="QConv",
        target="cortex-m",
        engine="dsp",
        match=match,
        access=_access,
        requires=image_layouts,
        pack=_pack,
        scratch_bytes=lambda tile: _scratch(tile.site.analysis),
        instructions=_instructions,
        describe=_describe,
        values=_values,
        source=lambda values: (*requantiser(values), _PIXEL, TAPS),
        call=CALL,
        includes=("<stdint.h>", "<string.h>"),
        roundings=ROUNDINGS,
    )


KERNELS = (
    _kernel("cortex-m.dsp.depthwise", _match),
    _kernel("cortex-m.dsp.depthwise_several", lambda site: _taken(depthwise(site, _SEVERAL))),
)
