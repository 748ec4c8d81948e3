"""Knows how the DSP extension pools: four channels in every word, largest by SSUB8 and SEL, sums by SXTAB16.
Does not know fewer than four channels; those are portable C.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from tilewright.api import ceil_div
from tilewright.api.graph import Site
from tilewright.api.kernel import Call, Kernel, Matched, TileShape
from tilewright.api.operator import Access
from tilewright_cortexm.kernels import pools
from tilewright_cortexm.kernels.dsp_requant import AnyForm, any_form, requantiser
from tilewright_cortexm.kernels.dsp_twice import TwiceForm
from tilewright_cortexm.kernels.pools import Average, PoolShape, average, pool
from tilewright_cortexm.kernels.sources import c_template
from tilewright_cortexm.kernels.twice import ROUNDINGS

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]

_CHANNELS = 4
_LONG = 255  # more 8-bit values than this overflow a sum of 16 bits


def _match(site: Site) -> PoolShape | str:
    layer = pool(site)
    if isinstance(layer, PoolShape) and layer.channels < _CHANNELS:
        return f"has {layer.channels} channels; four are computed together"
    return layer


def _match_average(site: Site) -> Average | str:
    layer = _match(site)
    matched = layer if isinstance(layer, str) else average(site, layer)
    form = matched if isinstance(matched, str) else any_form(matched.requant, matched.form, matched.bounds)
    if not isinstance(matched, str) and matched.words > 1 and isinstance(form, TwiceForm):
        return "windows that count unequal numbers of positions are requantised by several words each"
    return form if isinstance(form, str) else matched


def _form(one: Average) -> AnyForm:
    """Of a layer that was taken."""
    result = any_form(one.requant, one.form, one.bounds)
    if isinstance(result, str):
        raise TypeError(result)
    return result


def _access(site: Matched) -> Access:
    return pools.access(site, site.analysis.pool, {"R": (site.analysis.words,)})


def _pack(site: Matched) -> Mapping[str, Array]:
    one: Average = site.analysis
    form = _form(one)
    return {"R": np.asarray([form.of_block(range(count, count + 1))[0] for count in range(one.words)], np.int32)}


def _max_instructions(tile: TileShape) -> float:
    """Executed instructions."""
    layer: PoolShape = tile.site.analysis
    groups, windows = ceil_div(layer.channels, _CHANNELS), pools.windows(layer)
    return pools.share(tile, layer) * windows * (groups * (layer.taps * 5 + layer.windows.kernel[0] * 4 + 10) + 12)


def _average_instructions(tile: TileShape) -> float:
    """Executed instructions."""
    layer: PoolShape = tile.site.analysis.pool
    groups, windows = ceil_div(layer.channels, _CHANNELS), pools.windows(layer)
    part = pools.share(tile, layer)
    if layer.in_parts and part < 1:
        return groups * (part * layer.taps * 6 + 25) + 20
    return part * windows * (groups * (layer.taps * 6 + layer.windows.kernel[0] * 4 + 40) + 60)


def _max_values(call: Call) -> Mapping[str, object]:
    widen = call.site.input(0).dtype.value
    return {
        "widen": widen,
        "function": f"tw_dsp_max_pool_{widen}",
        "more": "",
        **pools.call_values(call, call.site.analysis),
    }


def _average_values(call: Call) -> Mapping[str, object]:
    return _part_values(call) if call.is_part else {**pools.NO_PART, **_whole_values(call)}


def _part_values(call: Call) -> Mapping[str, object]:
    one: Average = call.site.analysis
    form, widen = _form(one), call.site.input(0).dtype.value
    _, above, last = form.only(one.requant.zero_point)
    return {
        "widen": widen,
        "function": f"tw_dsp_average_part_{widen}_{form.label(one.requant)}",
        "numbers": f"{above}, {last}",
        **form.names(one.requant),
        **pools.part_values(call, one),
    }


def _whole_values(call: Call) -> Mapping[str, object]:
    site, analysis = call.site, call.site.analysis
    layer, form = analysis.pool, _form(analysis)
    widen, words, long_windows = site.input(0).dtype.value, analysis.words, layer.taps > _LONG
    kind = f"{min(words, 2)}{'p' if analysis.padding else ''}{'l' if long_windows else ''}"
    numbers = (analysis.zero_point, *form.only(analysis.requant.zero_point)[1:], *layer.counted_fields(call))
    return {
        "widen": widen,
        "function": f"tw_dsp_average_pool_{widen}_{kind}_{form.label(analysis.requant)}",
        "words": words,
        "padding": analysis.padding,
        "long_windows": long_windows,
        **form.names(analysis.requant),
        "more": f", {call.operands['R']}, {', '.join(map(str, numbers))}",
        **pools.call_values(call, layer),
    }


def _describe(site: Matched) -> Mapping[str, object]:
    return {"accumulator_bits": 32, "requant": _form(site.analysis).described()}


_POOL = c_template("tw_dsp_pool_${widen}", "dsp_pool.c.mako")
_MAX = c_template("${function}", "dsp_max_pool.c.mako", _POOL)
_AVERAGE = c_template("${function}", "dsp_average_pool.c.mako", _POOL)
_PART = c_template("${function}", "dsp_average_part.c.mako", _POOL)


def _average_kernel(op: str, name: str, roundings: tuple[str, ...]) -> Kernel:
    return Kernel(
        roundings=roundings,
        name=name,
        op=op,
        target="cortex-m",
        engine="dsp",
        match=_match_average,
        access=_access,
        requires=pools.requires,
        pack=_pack,
        instructions=_average_instructions,
        describe=_describe,
        values=_average_values,
        source=lambda values: (*requantiser(values), _PART if values["part"] else _AVERAGE),
        accumulates=lambda site: pools.accumulates(site.analysis.pool),
        call=pools.AVERAGE_CALL,
        includes=("<stdint.h>", "<string.h>"),
    )


KERNELS = (
    Kernel(
        name="cortex-m.dsp.max_pool",
        op="MaxPool",
        target="cortex-m",
        engine="dsp",
        match=_match,
        access=lambda site: pools.access(site, site.analysis),
        requires=pools.requires,
        instructions=_max_instructions,
        values=_max_values,
        source=(_MAX,),
        call=pools.CALL,
        includes=("<stdint.h>", "<string.h>"),
    ),
    _average_kernel("QAveragePool", "cortex-m.dsp.qaverage_pool", ("onnx", "rational")),
    _average_kernel("QReduceMean", "cortex-m.dsp.qreduce_mean", ROUNDINGS),
)
