"""Knows the arithmetic `tflm`: that of TensorFlow Lite Micro's reference kernels, operator by operator.
Does not know their file format.

A sum has a multiplier of 31 bits and an exponent, and is rounded twice (`roundings.DoubleRounding`). They are made of a
scale in float64: x * w[c] / y of a convolution and of a product of two tensors; of a fully connected layer with one
scale, and of a product of matrices, x * w is rounded to float32 first. An average pool divides the values as they are
stored, halves away from zero, and does not change their scale. Sums of two tensors are in `arithmetic.pair_sums`,
softmax in `arithmetic.fixed_softmax` and `arithmetic.wide_softmax`.

Products of values of 16 bits with weights of 8 are summed in 64 bits, and rounded once: the multiplier is cut to 16
bits, and sum times multiplier shifted to the right, halves up. Everything else of 16 bits is as with 8.

A change of scale, and both sides of a LeakyRelu, are products with x / y. Other functions of one value (QLookup) are
the tables that the file's importer makes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

import numpy as np

from tilewright.arithmetic.bounds import AccumulatorBounds
from tilewright.ir.graphs.arithmetic import Arithmetic
from tilewright.ir.graphs.graph import Attribute, Site
from tilewright.ir.tensors.requant import Requant, StoredScales
from tilewright.ir.tensors.roundings import DoubleRounding, MultiplyShift, Rational, fixed_multiplier
from tilewright.operators.arithmetics.sums import both_sides, requantised
from tilewright.operators.quantised.qsoftmax import refused_fixed
from tilewright.operators.quantised.qsoftmax_wide import refused_wide

TFLM_ROUNDING = "tflm"


def _products(requant: Requant, stored: StoredScales, bounds: AccumulatorBounds) -> Requant | str:
    """x * w[c] / y in float64."""
    return _rounded_twice(requant, tuple(stored.x * w / stored.y for w in stored.w), bounds)


def _matrix(requant: Requant, stored: StoredScales, bounds: AccumulatorBounds) -> Requant | str:
    """The same where columns have scales of their own; of one scale, x * w in float32 over y in float64."""
    if len(stored.w) > 1:
        return _products(requant, stored, bounds)
    product = float(np.float32(stored.x) * np.float32(stored.w[0]))
    return _rounded_twice(requant, (product / stored.y,), bounds)


def _wide_products(requant: Requant, stored: StoredScales, bounds: AccumulatorBounds) -> Requant | str:
    """x * w[c] / y in float64, of 16 bits."""
    return _rounded_once(requant, tuple(stored.x * w / stored.y for w in stored.w), bounds)


def _wide_matrix(requant: Requant, stored: StoredScales, bounds: AccumulatorBounds) -> Requant | str:
    """As `_matrix`, of 16 bits."""
    if len(stored.w) > 1:
        return _wide_products(requant, stored, bounds)
    product = float(np.float32(stored.x) * np.float32(stored.w[0]))
    return _rounded_once(requant, (product / stored.y,), bounds)


def _rounded_once(requant: Requant, scale: tuple[float, ...], bounds: AccumulatorBounds) -> Requant | str:
    """`(sum * (multiplier cut to 16 bits) + half) >> (15 - exponent)` in 64 bits."""
    if min(bounds.lowest) < -(2**47) or max(bounds.highest) >= 2**47:
        return "its sums leave the 48 bits that tflm has for them"
    once = scale[:1] if len(set(scale)) == 1 else scale
    numbers = [fixed_multiplier(factor) for factor in once]
    if max(exponent for _, exponent in numbers) > 14:
        return "its scales are so far apart that tflm would shift to the left"
    cut = tuple(min((multiplier + 2**15) >> 16, 2**15 - 1) for multiplier, _ in numbers)
    shift = tuple(15 - exponent for _, exponent in numbers)
    return replace(requant, scale=once, rounding=MultiplyShift(multiplier=cut, shift=shift, bits=64))


def _mean(requant: Requant, stored: StoredScales, bounds: AccumulatorBounds) -> Requant | str:
    """x / y in float64, and a multiplier that is divided by the number of terms."""
    return _rounded_twice(requant, (stored.x / stored.y,), bounds, stored.terms[0])


def _rounded_twice(
    requant: Requant, scale: tuple[float, ...], bounds: AccumulatorBounds, terms: int = 1
) -> Requant | str:
    if min(bounds.lowest) < -(2**31) or max(bounds.highest) >= 2**31:
        return "its sums leave the 32 bits that tflm has for them"
    once = scale[:1] if len(set(scale)) == 1 else scale
    return replace(requant, scale=once, rounding=DoubleRounding(terms=terms))


def _average_pool(site: Site) -> Mapping[str, Attribute] | str:
    """Stored values, divided by how many a window has."""
    node, requant = site.node, site.node.requant()
    stored = requant.stored
    if stored is None:
        return "the scales of the file are not known here"
    if (stored.x, node.integer("x_zero_point")) != (stored.y, requant.zero_point):
        return "an average pool of tflm does not change scale or zero point"
    if node.integer("count_include_pad") and any(node.integers("pads")):
        return "an average pool of tflm does not count padding"
    counts = stored.terms
    halves = Rational(numerator=(1,) * len(counts), denominator=counts, halves="away")
    scale = tuple(1 / count for count in counts)
    plain = replace(requant, scale=scale, zero_point=0, rounding=halves)
    return {"x_zero_point": 0, "requant": plain}


def _sum(site: Site) -> Mapping[str, Attribute] | str:
    if "y_scale" not in site.node.attributes:
        return "the scales of the file are not known here"
    return {"rounding": TFLM_ROUNDING}


def _wide_softmax(site: Site) -> Mapping[str, Attribute] | str:
    changed: Mapping[str, Attribute] = {"rounding": TFLM_ROUNDING}
    node = replace(site.node, attributes={**site.node.attributes, **changed})
    return refused_wide(replace(site, node=node)) or changed


def _softmax(site: Site) -> Mapping[str, Attribute] | str:
    changed: Mapping[str, Attribute] = {"rounding": TFLM_ROUNDING}
    return refused_fixed(site) or changed


TFLM = Arithmetic(
    name="tflm",
    summary="TensorFlow Lite Micro's reference kernels: fixed point of 31 bits, rounded twice",
    functions=MappingProxyType(
        {
            ("QAdd", 8): _sum,
            ("QAdd", 16): _sum,
            ("QAveragePool", 8): _average_pool,
            ("QAveragePool", 16): _average_pool,
            ("QConv", 8): requantised(_products),
            ("QConv", 16): requantised(_wide_products),
            ("QGemm", 8): requantised(_matrix),
            ("QGemm", 16): requantised(_wide_matrix),
            ("QMatMul", 8): requantised(_matrix),
            ("QMatMul", 16): requantised(_wide_matrix),
            ("QMul", 8): requantised(_products),
            ("QMul", 16): requantised(_products),
            ("QReduceMean", 8): requantised(_mean),
            ("QReduceMean", 16): requantised(_mean),
            ("QRescale", 8): both_sides(_products),
            ("QRescale", 16): both_sides(_products),
            ("QSoftmax", 8): _softmax,
            ("QSoftmax", 16): _wide_softmax,
        }
    ),
)
