"""Irrational functions, to many digits, against values from tables and against the C library's."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest

from tilewright.comparison.exact.functions import FUNCTIONS, MOST_ARGUMENTS, applied, inverse_root, softmax
from tilewright.comparison.exact.rationals import NotExact, rationals

# 45 digits each: exp(1), erf(1/2), tanh(1/2), ln(3)
KNOWN = {
    ("Exp", 1.0): "2.71828182845904523536028747135266249775724709",
    ("Erf", 0.5): "0.520499877813046537682746653891964528736451575",
    ("Tanh", 0.5): "0.462117157260009758502318483643672548730289280",
    ("Log", 3.0): "1.09861228866810969139524523692252570464749056",
    ("Sqrt", 2.0): "1.41421356237309504880168872420969807856967188",
}


@pytest.mark.parametrize(("op", "x"), KNOWN)
def test_digits_of_tables(op: str, x: float) -> None:
    found = applied(rationals(np.array([x])), FUNCTIONS[op], {}).at((0,))
    with localcontext(prec=60):
        assert abs(Decimal(found.numerator) / Decimal(found.denominator) - Decimal(KNOWN[op, x])) < Decimal("1e-43")


def reference(op: str, x: float) -> float:
    def sigmoid(value: float) -> float:
        return 1 / (1 + math.exp(-value))

    softplus = math.log1p(math.exp(x))
    return {
        "Elu": x if x >= 0 else math.expm1(x),
        "Erf": math.erf(x),
        "Exp": math.exp(x),
        "Gelu": x * (1 + math.erf(x / math.sqrt(2))) / 2,
        "GeluTanh": x / 2 * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
        "Mish": x * math.tanh(softplus),
        "Selu": 1.0507009873554805 * (x if x >= 0 else 1.6732632423543772 * math.expm1(x)),
        "Sigmoid": sigmoid(x),
        "Softplus": softplus,
        "Swish": x * sigmoid(x),
        "Tanh": math.tanh(x),
    }[op]


@pytest.mark.parametrize("op", sorted(FUNCTIONS.keys() - {"Log", "Sqrt"}))
def test_like_the_c_library(op: str) -> None:
    points = np.array([-9.5, -3, -1, -0.01, 0, 0.3, 1, 2.5, 7, 12])
    found = applied(rationals(points), FUNCTIONS[op], {}).floats()
    np.testing.assert_allclose(found, [reference(op, float(x)) for x in points], rtol=1e-12, atol=1e-14)


def test_shares_sum_to_one() -> None:
    rows = np.array([[0.0, 1.0, -2.5], [1000.0, 0.0, -1000.0]])
    shares = softmax(rationals(rows), 1)
    for row in range(2):
        assert abs(sum(shares.at((row, column)) for column in range(3)) - 1) < Fraction(1, 10**40)
    np.testing.assert_allclose(softmax(rationals(rows), 1, logarithm=True).floats()[1], [0, -1000, -2000])


def test_what_has_no_value_is_refused() -> None:
    with pytest.raises(NotExact, match="not positive"):
        inverse_root(rationals(np.array([0.0])))
    with pytest.raises(NotExact, match="larger than any float"):
        applied(rationals(np.array([1001.0])), FUNCTIONS["Exp"], {})
    with pytest.raises(NotExact, match="more than 30,000 numbers"):
        applied(rationals(np.arange(MOST_ARGUMENTS + 1)), FUNCTIONS["Exp"], {})
