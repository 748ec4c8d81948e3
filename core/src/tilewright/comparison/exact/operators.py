"""Knows what operators of the normal form give in rational arithmetic. Does not know graphs, nor who computes what.

Only what a model itself asks to be rounded is rounded: by QuantizeLinear, Round and casts to integers. Scales are the
float32 values of the file. Operators that only move elements do with indices what their references do.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from tilewright.comparison.exact.functions import FUNCTIONS, applied
from tilewright.comparison.exact.layers import (
    average_pool,
    batch_normalised,
    conv,
    conv_integer,
    gemm,
    interpolated,
    matmul_integer,
    max_pool,
    number,
    reduction,
    rows_normalised,
    softmax_of,
)
from tilewright.comparison.exact.products import matrix_product
from tilewright.comparison.exact.rationals import (
    NotExact,
    Rationals,
    added,
    aligned,
    divided,
    extreme,
    multiplied,
    narrowed,
    negated,
    rationals,
    widened,
)
from tilewright.comparison.exact.rounding import nearest
from tilewright.ir.graphs.graph import Site
from tilewright.ir.tensors.dtypes import DType

if TYPE_CHECKING:
    import numpy.typing as npt

    from tilewright.ir.graphs.operator import Operator

    Array = npt.NDArray[Any]

Values = Sequence[Rationals | None]
_MOVING = frozenset(("Concat", "Gather", "GatherElements", "Pad", "Reshape", "Slice", "Transpose", "Upsample"))
_ZERO_POINTS = frozenset(("ConvInteger", "MatMulInteger"))
_PADDED = -1  # the index of what Pad puts outside


def exact_result(site: Site, values: Values, operators: Mapping[str, Operator]) -> Rationals:
    """The only output of a node. NotExact where its operator has no rational value here."""
    op = site.node.op
    absent = [rationals(0)] if op in _ZERO_POINTS else []  # whose place matters
    present = [each for value in values for each in ([value] if value is not None else absent)]
    if len(site.outputs) != 1:
        raise NotExact(f"{op} has several outputs")
    if op in _ZERO_POINTS and site.output.dtype.is_float:
        raise NotExact(f"{op} has scales, with which its sums are rounded")
    if op in _MOVING:
        return _moved(site, present, operators[op])
    if op in FUNCTIONS:
        return applied(present[0], FUNCTIONS[op], _numbers(site))
    if op not in _OPERATORS:
        raise NotExact(f"{op} has no rational arithmetic here")
    return _OPERATORS[op](site, present)


def _numbers(site: Site) -> dict[str, float]:
    import numpy as np

    return {
        name: float(np.float32(value)) for name, value in site.node.attributes.items() if isinstance(value, int | float)
    }


def _moved(site: Site, values: Sequence[Rationals], operator: Operator) -> Rationals:
    """What the reference does with indices, or with the numerators of several."""
    import numpy as np

    op, first = site.node.op, values[0]
    if op == "Concat":
        numerators, unit = aligned(values)
        whole = np.asarray(operator.reference(site, [widened(each) for each in numerators])[0])
        return Rationals(numerators=narrowed(whole), unit=unit, rounded=any(value.rounded for value in values))
    outside = rationals(np.zeros(1))
    if op == "Pad":
        outside = rationals(np.asarray([site.node.number("value", 0.0)]))
        site = replace(site, node=replace(site.node, attributes={**site.node.attributes, "value": _PADDED}))
    places = np.arange(math.prod(first.shape), dtype=np.int64).reshape(first.shape)
    arguments = [places, *(value.numerators.astype(np.int64) for value in values[1:])]
    index = np.asarray(operator.reference(site, arguments)[0])
    (own, padding), unit = aligned((first, outside))
    return Rationals(numerators=np.concatenate([own.reshape(-1), padding])[index], unit=unit, rounded=first.rounded)


def _along(site: Site, parameter: Rationals, rank: int) -> Rationals:
    """A scale or zero point in the shape that broadcasts over X."""
    if parameter.numerators.size == 1:
        return parameter.moved(lambda array: array.reshape(()))
    axis = site.node.integer("axis", 1) % rank
    return parameter.moved(lambda array: array.reshape(-1, *(1,) * (rank - axis - 1)))


def _dequantised(site: Site, values: Sequence[Rationals]) -> Rationals:
    x, *parameters = values
    scale, *zero = (_along(site, parameter, len(x.shape)) for parameter in parameters)
    return multiplied(added(x, negated(zero[0])) if zero else x, scale)


def quotient(site: Site, values: Sequence[Rationals]) -> Rationals:
    """What a QuantizeLinear rounds: x / scale, one unit for each scale brought to a common one."""
    import numpy as np

    x = values[0]
    scale = _along(site, values[1], len(x.shape))
    if scale.numerators.size == 1:
        return divided(x, scale)
    shared = math.lcm(*(int(each) for each in scale.numerators.reshape(-1)))
    factors = np.asarray([shared // int(each) for each in scale.numerators.reshape(-1)], object)
    numerators = widened(x.numerators) * factors.reshape(scale.shape)
    return replace(x, numerators=narrowed(numerators), unit=x.unit / scale.unit / shared)


def _quantised(site: Site, values: Sequence[Rationals]) -> Rationals:
    whole, _ = nearest(quotient(site, values))
    if len(values) > 2:
        whole = whole + _along(site, values[2], len(values[0].shape)).numerators
    return _in_type(whole, site.output.dtype)


def _in_type(whole: Array, dtype: DType) -> Rationals:
    import numpy as np

    low, high = dtype.limits
    return Rationals(numerators=narrowed(np.minimum(np.maximum(whole, int(low)), int(high))))


def _cast(site: Site, values: Sequence[Rationals]) -> Rationals:
    import numpy as np

    (value,) = values
    dtype = site.output.dtype
    if dtype.is_float:
        return value
    if dtype is DType.BOOL:
        return _truth(value.numerators != 0)
    whole = _truncated(value.numerators, value.unit)
    low, high = dtype.limits
    if whole.size and (int(np.min(whole)) < low or int(np.max(whole)) > high):
        raise NotExact(f"a number is outside {dtype.value}")
    return Rationals(numerators=whole)


def _truncated(numerators: Array, unit: Fraction) -> Array:
    import numpy as np

    sizes = abs(widened(numerators)) * unit.numerator // unit.denominator
    return narrowed(np.where(numerators < 0, -sizes, sizes))


def _truth(holds: Array) -> Rationals:
    import numpy as np

    return Rationals(numerators=np.asarray(holds).astype(np.int64))


def _compared(compare: Callable[[Array, Array], Array]) -> Callable[[Site, Sequence[Rationals]], Rationals]:
    def compute(site: Site, values: Sequence[Rationals]) -> Rationals:
        del site
        (left, right), _ = aligned(values)
        return _truth(compare(left, right))

    return compute


def _clipped(site: Site, values: Sequence[Rationals]) -> Rationals:
    import numpy as np

    result = values[0]
    for name, choose in (("min", np.maximum), ("max", np.minimum)):
        limit = site.node.number(name, math.nan)
        if math.isfinite(limit):
            result = extreme((result, rationals(np.asarray(limit, np.float32))), choose)
    return result


def _extreme_of(largest: bool) -> Callable[[Site, Sequence[Rationals]], Rationals]:
    def compute(site: Site, values: Sequence[Rationals]) -> Rationals:
        import numpy as np

        del site
        return extreme(values, np.maximum if largest else np.minimum)

    return compute


def _chosen(site: Site, values: Sequence[Rationals]) -> Rationals:
    import numpy as np

    del site
    condition, first, second = values
    (left, right), unit = aligned((first, second))
    return Rationals(
        numerators=np.where(condition.numerators != 0, left, right), unit=unit, rounded=first.rounded or second.rounded
    )


def _stepped(down: bool) -> Callable[[Site, Sequence[Rationals]], Rationals]:
    """Floor, or Ceil."""

    def compute(site: Site, values: Sequence[Rationals]) -> Rationals:
        del site
        (value,) = values
        sign, unit = (1 if down else -1), value.unit
        whole = sign * widened(value.numerators) * unit.numerator // unit.denominator * sign
        return Rationals(numerators=narrowed(whole))

    return compute


def _sign(site: Site, values: Sequence[Rationals]) -> Rationals:
    del site
    return Rationals(numerators=_truth(values[0].numerators > 0).numerators - (values[0].numerators < 0))


def _softsign(site: Site, values: Sequence[Rationals]) -> Rationals:
    del site
    return divided(values[0], added(values[0].moved(abs), rationals(1)))


def _leaky(site: Site, values: Sequence[Rationals]) -> Rationals:
    import numpy as np

    (x,) = values
    below = multiplied(x, number(site, "alpha", 0.01))
    (own, less), unit = aligned((x, below))
    return Rationals(numerators=np.where(x.numerators < 0, less, own), unit=unit, rounded=x.rounded)


def _hard_sigmoid(site: Site, values: Sequence[Rationals]) -> Rationals:
    import numpy as np

    line = added(multiplied(values[0], number(site, "alpha", 0.2)), number(site, "beta", 0.5))
    return extreme((extreme((line, rationals(0)), np.maximum), rationals(1)), np.minimum)


def _hard_swish(site: Site, values: Sequence[Rationals]) -> Rationals:
    attributes = {"alpha": 1 / 6, "beta": 0.5}
    return multiplied(values[0], _hard_sigmoid(replace(site, node=replace(site.node, attributes=attributes)), values))


def _power(site: Site, values: Sequence[Rationals]) -> Rationals:
    """Of small whole exponents."""
    x, exponent = values
    power = exponent.at((0,) * len(exponent.shape)) if exponent.numerators.size == 1 else Fraction(0)
    if power.denominator != 1 or not 1 <= power <= 8:
        raise NotExact(f"{site.node.op} has exponents that are not 1 to 8")
    result = x
    for _ in range(int(power) - 1):
        result = multiplied(result, x)
    return result


_OPERATORS: Mapping[str, Callable[[Site, Sequence[Rationals]], Rationals]] = MappingProxyType(
    {
        "Abs": lambda site, values: values[0].moved(abs),
        "Add": lambda site, values: added(*values),
        "And": _compared(lambda left, right: (left != 0) & (right != 0)),
        "AveragePool": average_pool,
        "BatchNormalization": batch_normalised,
        "Cast": _cast,
        "Ceil": _stepped(down=False),
        "Clip": _clipped,
        "Conv": conv,
        "ConvInteger": conv_integer,
        "ConvTranspose": conv,
        "DequantizeLinear": _dequantised,
        "Div": lambda site, values: divided(*values),
        "Equal": _compared(lambda left, right: left == right),
        "Floor": _stepped(down=True),
        "Gemm": gemm,
        "Greater": _compared(lambda left, right: left > right),
        "GreaterOrEqual": _compared(lambda left, right: left >= right),
        "HardSigmoid": _hard_sigmoid,
        "HardSwish": _hard_swish,
        "LayerNormalization": rows_normalised,
        "LeakyRelu": _leaky,
        "Less": _compared(lambda left, right: left < right),
        "LessOrEqual": _compared(lambda left, right: left <= right),
        "LogSoftmax": softmax_of,
        "MatMul": lambda site, values: matrix_product(*values),
        "MatMulInteger": matmul_integer,
        "Max": _extreme_of(largest=True),
        "MaxPool": max_pool,
        "Min": _extreme_of(largest=False),
        "Mul": lambda site, values: multiplied(*values),
        "Neg": lambda site, values: negated(values[0]),
        "Not": lambda site, values: _truth(values[0].numerators == 0),
        "Or": _compared(lambda left, right: (left != 0) | (right != 0)),
        "Pow": _power,
        "QuantizeLinear": _quantised,
        "RMSNormalization": rows_normalised,
        "Reciprocal": lambda site, values: divided(rationals(1), values[0]),
        "ReduceMax": reduction,
        "ReduceMean": reduction,
        "ReduceMin": reduction,
        "ReduceSum": reduction,
        "ResizeLinear": interpolated,
        "Round": lambda site, values: Rationals(numerators=nearest(values[0])[0]),
        "Sign": _sign,
        "Softmax": softmax_of,
        "Softsign": _softsign,
        "Sub": lambda site, values: added(values[0], negated(values[1])),
        "Where": _chosen,
        "Xor": _compared(lambda left, right: (left != 0) != (right != 0)),
    }
)
