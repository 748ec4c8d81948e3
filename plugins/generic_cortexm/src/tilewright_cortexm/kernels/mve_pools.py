"""Knows how Helium pools: the largest of sixteen channels at a time, sums of eight, or of four in long windows.
Does not know integer forms of requantisation: the formula itself costs no more. What is divided with halves away from
zero is multiplied by the least float32 that is not below `1 / divisor`: a half stays one or is more, and nothing else
comes to one, up to sums of 2**21.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from tilewright.api import ceil_div
from tilewright.api.graph import DType, Rational, Requant, Site
from tilewright.api.kernel import Call, Kernel, Matched, TileShape
from tilewright.api.operator import Access
from tilewright_cortexm.kernels import pools
from tilewright_cortexm.kernels.pools import Average, PoolShape, average, pool
from tilewright_cortexm.kernels.shifts import divides, quotient_numbers
from tilewright_cortexm.kernels.sources import c_fragment, c_template

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]

_LONG = 255  # more 8-bit values than this overflow a sum of 16 bits


_LARGEST = 2**21  # of sums that are divided


def _match_average(site: Site) -> Average | str:
    layer = pool(site)
    one = layer if isinstance(layer, str) else average(site, layer)
    if isinstance(one, str) or not divides(one.requant):
        return one
    numbers = quotient_numbers(one.requant, one.bounds)
    if isinstance(numbers, str):
        return numbers
    most = max(number.reach for number in numbers)
    return f"divides sums as large as {most}; floats hold {_LARGEST} exactly enough" if most >= _LARGEST else one


def _scales(requant: Requant) -> npt.NDArray[np.float32]:
    """What sums are multiplied by."""
    if not isinstance(requant.rounding, Rational):
        return np.asarray(requant.scale, np.float32)
    divisors = np.asarray(requant.rounding.denominator, np.float64)
    scales = (1 / divisors).astype(np.float32)
    return np.where(scales * divisors < 1, np.nextafter(scales, np.float32(2)), scales).astype(np.float32)


def _kind(requant: Requant) -> str:
    """Part of a C name."""
    return "a" if divides(requant) else ""


def _rounded(requant: Requant) -> dict[str, object]:
    """What C templates are told of it."""
    away = divides(requant)
    return {
        "away": away,
        "convert": "vcvta" if away else "vcvtn",
        "requantise": "tw_mve_requant_away" if away else "tw_mve_requant",
    }


def _sign(site: Site) -> str:
    return "u" if site.input(0).dtype is DType.U8 else "s"


def _lanes(layer: PoolShape) -> int:
    return 4 if layer.taps > _LONG else 8


def _access(site: Matched) -> Access:
    return pools.access(site, site.analysis.pool, {"R": (site.analysis.words,)})


def _pack(site: Matched) -> Mapping[str, Array]:
    return {"R": _scales(site.node.requant())[: site.analysis.words].view(np.int32)}


def _instructions(tile: TileShape, layer: PoolShape, lanes: int, each: float) -> float:
    windows, blocks = pools.share(tile, layer) * pools.windows(layer), ceil_div(layer.channels, lanes)
    return windows * (blocks * (layer.taps * 5 + layer.windows.kernel[0] * 4 + each) + 15)


def _max_instructions(tile: TileShape) -> float:
    """Executed instructions."""
    return _instructions(tile, tile.site.analysis, 16, 14)


def _average_instructions(tile: TileShape) -> float:
    """Executed instructions."""
    layer: PoolShape = tile.site.analysis.pool
    part = pools.share(tile, layer)
    if layer.in_parts and part < 1:
        return layer.channels / 4 * (part * layer.taps * 4 + 20) + 20
    return _instructions(tile, layer, _lanes(layer), 28)


def _max_values(call: Call) -> Mapping[str, object]:
    sign = _sign(call.site)
    return {
        "function": f"tw_mve_max_pool_{sign}",
        "sign": sign,
        "more": "",
        **pools.call_values(call, call.site.analysis),
    }


def _average_values(call: Call) -> Mapping[str, object]:
    return _part_values(call) if call.is_part else {**pools.NO_PART, **_whole_values(call)}


def _part_values(call: Call) -> Mapping[str, object]:
    one: Average = call.site.analysis
    sign, requant = _sign(call.site), one.requant
    return {
        "function": f"tw_mve_average_part_{sign}{_kind(requant)}_{requant.low}_{requant.high}".replace("-", "m"),
        **_rounded(requant),
        "sign": sign,
        "low": requant.low,
        "high": requant.high,
        "numbers": requant.zero_point,
        **pools.part_values(call, one),
    }


def _whole_values(call: Call) -> Mapping[str, object]:
    one: Average = call.site.analysis
    layer = one.pool
    sign, lanes, words, requant = _sign(call.site), _lanes(layer), one.words, one.requant
    kind = f"{sign}{lanes}_{min(words, 2)}{'p' if one.padding else ''}{_kind(requant)}_{requant.low}_{requant.high}"
    numbers = (one.zero_point, requant.zero_point, *layer.counted_fields(call))
    return {
        "function": f"tw_mve_average_pool_{kind}".replace("-", "m"),
        **_rounded(requant),
        "sign": sign,
        "lanes": lanes,
        "words": words,
        "padding": one.padding,
        "low": requant.low,
        "high": requant.high,
        "more": f", {call.operands['R']}, {', '.join(map(str, numbers))}",
        **pools.call_values(call, layer),
    }


def _describe(site: Matched) -> Mapping[str, object]:
    scales = site.analysis.words
    return {"accumulator_bits": 32, "requant": {"channels": scales, "exact": scales}}


_AVERAGE = c_template("${function}", "mve_average_pool.c.mako")
_AWAY = c_fragment("mve_away.h")
_PART = c_template("${function}", "mve_average_part.c.mako")


def _average_kernel(op: str, name: str, roundings: tuple[str, ...] = ("onnx",)) -> Kernel:
    return Kernel(
        roundings=roundings,
        name=name,
        op=op,
        target="cortex-m",
        engine="mve",
        match=_match_average,
        access=_access,
        requires=pools.requires,
        pack=_pack,
        instructions=_average_instructions,
        describe=_describe,
        values=_average_values,
        source=lambda values: (*([_AWAY] if values["away"] else []), _PART if values["part"] else _AVERAGE),
        accumulates=lambda site: pools.accumulates(site.analysis.pool),
        call=pools.AVERAGE_CALL,
        includes=("<stdint.h>", "<string.h>"),
    )


KERNELS = (
    Kernel(
        name="cortex-m.mve.max_pool",
        op="MaxPool",
        target="cortex-m",
        engine="mve",
        match=pool,
        access=lambda site: pools.access(site, site.analysis),
        requires=pools.requires,
        instructions=_max_instructions,
        values=_max_values,
        source=(c_template("${function}", "mve_max_pool.c.mako"),),
        call=pools.CALL,
        includes=("<stdint.h>", "<string.h>"),
    ),
    _average_kernel("QAveragePool", "cortex-m.mve.qaverage_pool", ("onnx", "rational")),
    _average_kernel("QReduceMean", "cortex-m.mve.qreduce_mean"),
)
