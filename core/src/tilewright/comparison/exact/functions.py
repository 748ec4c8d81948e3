"""Knows irrational functions of rational numbers, to some 50 digits: exponentials, roots, the error function, and what
networks make of them. Does not know nodes.

Equal elements are worked out once: a function of a quantised tensor has 256 arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from tilewright.comparison.exact.rationals import FRACTION_BITS, NotExact, Rationals, widened

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[Any]

_DIGITS = 60
_UNIT = Fraction(1, 1 << FRACTION_BITS)
_FAR = Decimal(1000)  # exponentials of less than -1000 are 0 in units of 2**-FRACTION_BITS
_ERF_ENDS = Decimal(11)  # erfc(11) < 2**-160
MOST_ARGUMENTS = 30_000  # different ones: seconds
_LEAST = Decimal(10) ** -_DIGITS  # of a term that still counts
_ROUNDING = Context(prec=_DIGITS, Emin=-(10**9), Emax=10**9)

Decimals = Callable[[Decimal, Mapping[str, float]], Decimal]


def applied(value: Rationals, function: Decimals, numbers: Mapping[str, float]) -> Rationals:
    """`function` of every element, with a node's attributes."""
    known: dict[int, int] = {}
    results = []
    if value.numerators.size > MOST_ARGUMENTS and len(set(value.numerators.reshape(-1).tolist())) > MOST_ARGUMENTS:
        raise NotExact(f"it takes irrational functions of more than {MOST_ARGUMENTS:,} numbers")
    with localcontext(_ROUNDING):
        for numerator in value.numerators.reshape(-1).tolist():
            if numerator not in known:
                known[numerator] = _in_units(function(_decimal(numerator * value.unit), numbers))
            results.append(known[numerator])
    return _rounded(results, value.shape)


def _decimal(number: Fraction) -> Decimal:
    return Decimal(number.numerator) / Decimal(number.denominator)


def _in_units(number: Decimal) -> int:
    if not number.is_finite():
        raise NotExact("there are infinities or NaN")
    return int((number * (1 << FRACTION_BITS)).to_integral_value())


def _rounded(results: list[int], shape: tuple[int, ...]) -> Rationals:
    import numpy as np

    array = np.empty(len(results), object)
    array[:] = results
    return Rationals(numerators=array.reshape(shape), unit=_UNIT, rounded=True)


def inverse_root(value: Rationals) -> Rationals:
    """1 / sqrt."""
    return applied(value, lambda x, n: 1 / _positive(x).sqrt(), {})


def softmax(value: Rationals, axis: int, *, logarithm: bool = False) -> Rationals:
    """Shares of exponentials along an axis, or their logarithms."""
    import numpy as np

    highest = value.moved(lambda array: array - np.max(array, axis=axis, keepdims=True))
    powers = applied(highest, lambda x, n: _exp(x), {})
    total = np.sum(powers.numerators, axis=axis, keepdims=True)
    if logarithm:
        of_total = applied(replace(powers, numerators=np.asarray(total, object)), lambda x, n: x.ln(), {})
        distances = applied(highest, lambda x, n: x, {})
        return distances.moved(lambda array: array - of_total.numerators)
    return powers.moved(lambda array: (widened(array) << FRACTION_BITS) // total)


def _positive(x: Decimal) -> Decimal:
    if x <= 0:
        raise NotExact("there is a root, a logarithm or a quotient of a number that is not positive")
    return x


def _exp(x: Decimal) -> Decimal:
    return Decimal(0) if x < -_FAR else min(x, _FAR).exp() if x <= _FAR else _overflow()


def _overflow() -> Decimal:
    raise NotExact("an exponential is larger than any float")


def _sigmoid(x: Decimal) -> Decimal:
    return 1 / (1 + _exp(-x)) if x >= 0 else 1 - 1 / (1 + _exp(x))


def _tanh(x: Decimal) -> Decimal:
    return 2 * _sigmoid(2 * x) - 1


def _erf(x: Decimal) -> Decimal:
    """By its series, with digits for the terms that cancel."""
    if abs(x) >= _ERF_ENDS:
        return Decimal(1).copy_sign(x)
    with localcontext(Context(prec=_DIGITS + int(x * x))):  # the largest term has 0.44 x^2 digits before the point
        square, number = x * x, 0
        term = total = +x
        while abs(term) > _LEAST:
            number += 1
            term = -term * square / number
            total += term / (2 * number + 1)
        return total * 2 / _pi(_DIGITS).sqrt()


@cache
def _pi(digits: int) -> Decimal:
    """Machin's formula."""
    with localcontext(Context(prec=digits + 5)):
        return 16 * _arctan_of_inverse(5) - 4 * _arctan_of_inverse(239)


def _arctan_of_inverse(number: int) -> Decimal:
    term = total = Decimal(1) / number
    divisor = 1
    while total + term / (divisor + 2) != total or divisor < 3:
        term = -term / (number * number)
        divisor += 2
        total += term / divisor
    return total


def _softplus(x: Decimal) -> Decimal:
    return max(x, Decimal(0)) + (1 + _exp(-abs(x))).ln()


def _elu(x: Decimal, alpha: Decimal) -> Decimal:
    return alpha * (_exp(x) - 1) if x < 0 else x


def _gelu_tanh(x: Decimal) -> Decimal:
    argument = (2 / _pi(_DIGITS)).sqrt() * (x + Decimal("0.044715") * x * x * x)
    return x * _sigmoid(2 * argument)


def _of(numbers: Mapping[str, float], name: str, default: float) -> Decimal:
    return Decimal(numbers.get(name, default))


FUNCTIONS: Mapping[str, Decimals] = MappingProxyType(
    {
        "Elu": lambda x, n: _elu(x, _of(n, "alpha", 1.0)),
        "Erf": lambda x, n: _erf(x),
        "Exp": lambda x, n: _exp(x),
        "Gelu": lambda x, n: x * (1 + _erf(x / Decimal(2).sqrt())) / 2,
        "GeluTanh": lambda x, n: _gelu_tanh(x),
        "Log": lambda x, n: _positive(x).ln(),
        "Mish": lambda x, n: x * _tanh(_softplus(x)),
        "Selu": lambda x, n: _of(n, "gamma", 1.0507009873554805) * _elu(x, _of(n, "alpha", 1.6732632423543772)),
        "Sigmoid": lambda x, n: _sigmoid(x),
        "Softplus": lambda x, n: _softplus(x),
        "Sqrt": lambda x, n: x if x == 0 else _positive(x).sqrt(),
        "Swish": lambda x, n: x * _sigmoid(_of(n, "alpha", 1.0) * x),
        "Tanh": lambda x, n: _tanh(x),
    }
)
