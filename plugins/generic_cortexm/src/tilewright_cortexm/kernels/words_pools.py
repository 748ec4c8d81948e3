"""Knows how values of 16 bits are pooled: with Helium the largest of eight channels, and sums of four; with the DSP
extension sums of two. Means are quotients whose halves go away from zero (`tflm`). Does not know bytes.

A quotient is VQRDMULH, `(sum * multiplier + 2**30) >> 31`: with a multiplier just above `2**31 / divisor` halves leave
zero, and up to divisors of 181 no other sum of 16-bit values comes as near to a half as that.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from tilewright.api import ceil_div
from tilewright.api.graph import DType, Rational, Site
from tilewright.api.kernel import Call, Kernel, Matched, TileShape
from tilewright.api.operator import Access
from tilewright_cortexm.kernels import pools
from tilewright_cortexm.kernels.pools import Average, PoolShape, average, pool
from tilewright_cortexm.kernels.sources import c_template

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]

MOST_DIVISOR = 181  # its square is below 2**15
_TYPES = (DType.I16,)


def _match(site: Site) -> PoolShape | str:
    """Windows in one piece: no sums of parts of them are kept."""
    layer = pool(site, _TYPES)
    return layer if isinstance(layer, str) else replace(layer, summed=False)


def _match_average(site: Site) -> Average | str:
    layer = _match(site)
    one = layer if isinstance(layer, str) else average(site, layer)
    if isinstance(one, str):
        return one
    rounding = one.requant.rounding
    if not isinstance(rounding, Rational) or rounding.halves != "away" or set(rounding.numerator) != {1}:
        return "is no quotient whose halves go away from zero"
    if one.zero_point or one.requant.zero_point:
        return "has a zero point"
    return one if max(rounding.denominator) <= MOST_DIVISOR else f"divides by more than {MOST_DIVISOR}"


def multipliers(divisors: tuple[int, ...]) -> list[int]:
    """Of quotients, as the module's text says; that of 1 changes nothing."""
    return [min(2**31 // divisor + 1, 2**31 - 1) for divisor in divisors]


def _words(one: Average) -> list[int]:
    rounding = one.requant.rounding
    return multipliers(rounding.denominator[: one.words]) if isinstance(rounding, Rational) else []


def _shape(site: Matched) -> PoolShape:
    shape: PoolShape | Average = site.analysis
    return shape.pool if isinstance(shape, Average) else shape


def _access(site: Matched) -> Access:
    words = {"R": (len(_words(site.analysis)),)} if isinstance(site.analysis, Average) else pools.NOTHING
    return pools.access(site, _shape(site), words)


def _pack(site: Matched) -> Mapping[str, Array]:
    shape: PoolShape | Average = site.analysis
    return {"R": np.asarray(_words(shape), np.int32)} if isinstance(shape, Average) else {}


def _describe(site: Matched) -> Mapping[str, object]:
    mean = isinstance(site.analysis, Average)
    return {"accumulator_bits": 32, "rounding": site.node.rounding} if mean else {}


def _instructions(lanes: int, tap: float, block: float) -> Callable[[TileShape], float]:
    def instructions(tile: TileShape) -> float:
        layer = _shape(tile.site)
        each = ceil_div(layer.channels, lanes) * (layer.taps * tap + layer.windows.kernel[0] * 5 + block)
        return pools.share(tile, layer) * pools.windows(layer) * (each + 25)

    return instructions


def _values(vector: bool) -> Callable[[Call], Mapping[str, object]]:
    def values(call: Call) -> Mapping[str, object]:
        site, layer = call.site, _shape(call.site)
        one = site.analysis if isinstance(site.analysis, Average) else None
        low, high = (one.requant.low, one.requant.high) if one else DType.I16.limits
        words, padding = (one.words, one.padding) if one else (0, False)
        kind, limited = "average" if one else "max", (low, high) != DType.I16.limits
        some = f"_{low}_{high}".replace("-", "m") if limited else ""
        end = ", ".join(map(str, (int(padding), *layer.counted_fields(call))))
        return {
            "function": f"tw_{'mve' if vector else 'dsp'}_words_{kind}{'_counted' if words > 1 else ''}{some}",
            "kind": kind,
            "vector": vector,
            "words": words,
            "low": low,
            "high": high,
            "limited": limited,
            "more": f", {call.operands['R'] if one else 'NULL'}, {end}",
            **pools.call_values(call, layer),
        }

    return values


_CALL = pools.CALL.replace("const uint8_t", "const int16_t").replace("(uint8_t", "(int16_t")


def _kernel(name: str, op: str, vector: bool, cost: tuple[int, float, float]) -> Kernel:
    mean = op == "QAveragePool"
    return Kernel(
        name=name,
        op=op,
        roundings=("rational",) if mean else ("onnx",),
        target="cortex-m",
        engine="mve" if vector else "dsp",
        match=_match_average if mean else _match,
        access=_access,
        requires=pools.requires,
        pack=_pack,
        instructions=_instructions(*cost),
        describe=_describe,
        values=_values(vector),
        source=(c_template("${function}", "words_pool.c.mako"),),
        call=_CALL,
        includes=("<stdint.h>", "<stddef.h>", "<string.h>"),
    )


KERNELS = (
    _kernel("cortex-m.mve.max_pool_words", "MaxPool", True, (8, 5, 12)),
    _kernel("cortex-m.mve.qaverage_pool_words", "QAveragePool", True, (4, 5, 12)),
    _kernel("cortex-m.dsp.qaverage_pool_words", "QAveragePool", False, (2, 4, 5)),
)
