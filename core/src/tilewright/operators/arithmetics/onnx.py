"""Knows the arithmetic `onnx`: what an ONNX file means. Does not know other arithmetics.

Sums of products are requantised by the float32 formula (`roundings.Float32HalfEven`). Products of two tensors, means
and pools are exact over the scales as they are stored: by that formula too, with the float32 that makes it exact, or
where halves go up and down, as a rational number. Those of 16 bits, and a change of scale, have the formula.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

import numpy as np

from tilewright.arithmetic.bounds import AccumulatorBounds
from tilewright.arithmetic.exact_scale import exact_scale
from tilewright.ir.graphs.arithmetic import Arithmetic
from tilewright.ir.graphs.graph import Attribute, Site
from tilewright.ir.tensors.requant import ONNX as FLOAT32
from tilewright.ir.tensors.requant import Requant, StoredScales
from tilewright.ir.tensors.roundings import Rational
from tilewright.operators.arithmetics.sums import both_sides, requantised
from tilewright.operators.quantised.qpool import pool_counts

_LARGEST_PRODUCT = 2**62


def _formula(requant: Requant, stored: StoredScales, bounds: AccumulatorBounds) -> Requant:
    """`f32(f32(x * w[c]) / y)`, in the float32 formula."""
    with np.errstate(all="ignore"):
        ratio = np.float32(stored.x) * np.array(stored.w, np.float32) / np.float32(stored.y)
    scale = tuple(float(factor) for factor in ratio)
    return replace(requant, scale=scale[:1] if len(set(scale)) == 1 else scale, rounding=FLOAT32)


def _average_pool(site: Site) -> Mapping[str, Attribute] | str:
    """Exact for every count of positions that some window has; the others are never used."""
    counted = {int(count) for count in np.unique(pool_counts(site))}

    def exact(requant: Requant, stored: StoredScales, bounds: AccumulatorBounds) -> Requant:
        kept = [at for at, count in enumerate(stored.terms) if count in counted] or [0]
        lowest, highest = (tuple(ends[at] for at in kept) for ends in (bounds.lowest, bounds.highest))
        terms = tuple(stored.terms[at] for at in kept)
        compact = _exact(requant, replace(stored, terms=terms), replace(bounds, lowest=lowest, highest=highest))
        places = [kept.index(at) if at in kept else 0 for at in range(len(stored.terms))]
        return replace(
            compact.of_channels(places), scale=tuple(compact.scale[place] for place in places), stored=stored
        )

    return requantised(exact)(site)


def _exact(requant: Requant, stored: StoredScales, bounds: AccumulatorBounds) -> Requant:
    """Exact over the stored scales; the formula where no ratio is positive, or its products leave 64 bits."""
    ratios = stored.ratios()
    steps = requant.low - requant.zero_point, requant.high - requant.zero_point
    reaches = tuple(zip(bounds.lowest, bounds.highest, strict=True))
    result = [exact_scale(ratio, reach, steps) for ratio, reach in zip(ratios, reaches, strict=True)]
    scales = tuple(scale for scale, _ in result)
    plain = replace(requant, scale=scales, rounding=FLOAT32)
    above, below = (tuple(r.numerator for r in ratios), tuple(r.denominator for r in ratios))
    reach = max(map(abs, (*bounds.lowest, *bounds.highest)))
    if all(exact for _, exact in result) or min(above) <= 0 or reach * max(above) + max(below) >= _LARGEST_PRODUCT:
        return plain
    return replace(plain, rounding=Rational(numerator=above, denominator=below))


def _mean_formula(requant: Requant, stored: StoredScales, bounds: AccumulatorBounds) -> Requant:
    """`f32(x / f32(y * terms))`, in the float32 formula."""
    with np.errstate(all="ignore"):
        scale = np.float32(stored.x) / (np.float32(stored.y) * np.array(stored.terms, np.float32))
    return replace(requant, scale=tuple(float(factor) for factor in scale), rounding=FLOAT32)


def _rounding(site: Site) -> Mapping[str, Attribute]:
    """What a node computes that names no rounding."""
    return {"rounding": "onnx"}


ONNX = Arithmetic(
    name="onnx",
    summary="what an ONNX file means: float32 scales, halves to even",
    functions=MappingProxyType(
        {
            ("QAdd", 8): _rounding,
            ("QAdd", 16): _rounding,
            ("QAveragePool", 8): _average_pool,
            ("QAveragePool", 16): requantised(_mean_formula),
            ("QConv", 8): requantised(_formula),
            ("QConv", 16): requantised(_formula),
            ("QGemm", 8): requantised(_formula),
            ("QGemm", 16): requantised(_formula),
            ("QMatMul", 8): requantised(_formula),
            ("QMatMul", 16): requantised(_formula),
            ("QMul", 8): requantised(_exact),
            ("QMul", 16): requantised(_formula),
            ("QReduceMean", 8): requantised(_exact),
            ("QReduceMean", 16): requantised(_mean_formula),
            ("QRescale", 8): both_sides(_formula),
            ("QRescale", 16): both_sides(_formula),
            ("QResizeLinear", 8): requantised(_exact),
            ("QSoftmax", 8): _rounding,
            ("QSoftmax", 16): _rounding,
        }
    ),
)
