"""Knows what each float function of one input computes: in float64, as C of our own without libm, and its error.
Does not know operators: `unary` makes them from this table.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from tilewright.c_text.literals import c_float
from tilewright.operators.shared.float_error import TINY, UNIT

Doubles = npt.NDArray[np.float64]
Numbers = Mapping[str, float]


def _no_slack(x: Doubles, numbers: Numbers) -> Doubles:
    return np.zeros_like(x)


@dataclass(frozen=True, slots=True, kw_only=True)
class Function:
    """One function of the table. `exact` and `slack` get float64 and the attributes' float32 values."""

    exact: Callable[[Doubles, Numbers], Doubles]
    c: str  # expression over x and the attributes' names
    summary: str
    attributes: Mapping[str, float] = field(default_factory=dict)  # with ONNX's defaults
    since: tuple[int, ...] = ()  # opsets with a signature of their own
    slack: Callable[[Doubles, Numbers], Doubles] = _no_slack  # beyond 4 ULP, where the formula itself cancels


_erf = np.vectorize(math.erf, otypes=[np.float64])
_erfc = np.vectorize(math.erfc, otypes=[np.float64])
_GELU = (math.sqrt(8 / math.pi), math.sqrt(8 / math.pi) * 0.044715)


def _sigmoid(x: Doubles) -> Doubles:
    e = np.exp(-np.abs(x))
    return np.asarray(np.where(x < 0, e, 1.0) / (1 + e))


def _times(x: Doubles, share: Doubles) -> Doubles:
    """x * share, where a share of 0 beats an infinite x."""
    return np.asarray(np.where(share == 0, np.copysign(0.0, x), x * share))


def _softplus(x: Doubles) -> Doubles:
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


def _gelu(x: Doubles) -> Doubles:
    return _times(x, _erfc(-x / math.sqrt(2)) / 2)


def _gelu_argument(x: Doubles) -> Doubles:
    return x * (_GELU[0] + _GELU[1] * x * x)


def _steep(x: Doubles, y: Doubles, argument: Doubles) -> Doubles:
    """What a rounded argument of an exponential does to a product with it; below 2^-126 steps are absolute."""
    found: Doubles = np.abs(y) * np.minimum(np.abs(argument), 200) * 4 * UNIT + np.minimum(np.abs(x), 200) * TINY
    return found


def _hard_sigmoid(x: Doubles, n: Numbers) -> Doubles:
    return np.minimum(np.maximum(n["alpha"] * x + n["beta"], 0), 1)


def _hard_sigmoid_slack(x: Doubles, n: Numbers) -> Doubles:
    return 2 * UNIT * (np.abs(n["alpha"] * x) + abs(n["beta"]))


_SIXTH = {"alpha": float(np.float32(1 / 6)), "beta": 0.5}
_SELU = {"alpha": 1.6732632423543772, "gamma": 1.0507009873554805}

FUNCTIONS: Mapping[str, Function] = MappingProxyType(
    {
        "Abs": Function(exact=lambda x, n: np.abs(x), c="x < 0.0f ? -x : x + 0.0f", summary="|x|", since=(6,)),
        "Acos": Function(
            exact=lambda x, n: np.arccos(x), c="tw_acosf(x)", summary="inverse cosine, 0 to pi", since=(7,)
        ),
        "Acosh": Function(
            exact=lambda x, n: np.arccosh(x), c="tw_acoshf(x)", summary="inverse hyperbolic cosine", since=(9,)
        ),
        "Asin": Function(exact=lambda x, n: np.arcsin(x), c="tw_asinf(x)", summary="inverse sine", since=(7,)),
        "Asinh": Function(
            exact=lambda x, n: np.arcsinh(x), c="tw_asinhf(x)", summary="inverse hyperbolic sine", since=(9,)
        ),
        "Atan": Function(exact=lambda x, n: np.arctan(x), c="tw_atanf(x)", summary="inverse tangent", since=(7,)),
        "Atanh": Function(
            exact=lambda x, n: np.arctanh(x), c="tw_atanhf(x)", summary="inverse hyperbolic tangent", since=(9,)
        ),
        "Ceil": Function(exact=lambda x, n: np.ceil(x), c="tw_ceilf(x)", summary="x rounded up", since=(6,)),
        "Cos": Function(
            exact=lambda x, n: np.cos(x), c="tw_cosf(x)", summary="cosine of an angle in radians", since=(7,)
        ),
        "Cosh": Function(exact=lambda x, n: np.cosh(x), c="tw_coshf(x)", summary="hyperbolic cosine", since=(9,)),
        "Elu": Function(
            exact=lambda x, n: np.where(x < 0, n["alpha"] * np.expm1(np.minimum(x, 0)), x),
            c="x < 0.0f ? alpha * tw_expm1f(x) : x",
            summary="x, or alpha (exp(x) - 1) below 0",
            attributes={"alpha": 1.0},
            since=(6,),
        ),
        "Erf": Function(exact=lambda x, n: _erf(x), c="tw_erff(x)", summary="the error function", since=(9,)),
        "Exp": Function(exact=lambda x, n: np.exp(x), c="tw_expf(x)", summary="e to the x", since=(6,)),
        "Floor": Function(exact=lambda x, n: np.floor(x), c="tw_floorf(x)", summary="x rounded down", since=(6,)),
        "Gelu": Function(
            exact=lambda x, n: _gelu(x), c="tw_geluf(x)", summary="x times the normal distribution up to x"
        ),
        "GeluTanh": Function(
            exact=lambda x, n: _times(x, _sigmoid(_gelu_argument(x))),
            c="tw_gelu_tanhf(x)",
            summary="Gelu by a tanh",
            slack=lambda x, n: _steep(x, _times(x, _sigmoid(_gelu_argument(x))), _gelu_argument(x)),
        ),
        "HardSigmoid": Function(
            exact=_hard_sigmoid,
            c="tw_clip(alpha * x + beta, 0.0f, 1.0f)",
            summary="alpha x + beta between 0 and 1",
            attributes={"alpha": 0.2, "beta": 0.5},
            since=(6,),
            slack=_hard_sigmoid_slack,
        ),
        "HardSwish": Function(
            exact=lambda x, n: x * _hard_sigmoid(x, _SIXTH),
            c=f"x * tw_clip({c_float(_SIXTH['alpha'])} * x + 0.5f, 0.0f, 1.0f)",
            summary="x times (x / 6 + 0.5 between 0 and 1)",
            since=(14,),
            slack=lambda x, n: np.where(np.abs(x) < 4, np.abs(x) * _hard_sigmoid_slack(x, _SIXTH), 0),
        ),
        "LeakyRelu": Function(
            exact=lambda x, n: np.where(x < 0, n["alpha"] * x, x),
            c="x < 0.0f ? alpha * x : x",
            summary="x, or alpha x below 0",
            attributes={"alpha": 0.01},
            since=(6,),
        ),
        "Log": Function(exact=lambda x, n: np.log(x), c="tw_logf(x)", summary="natural logarithm", since=(6,)),
        "Mish": Function(
            exact=lambda x, n: _times(x, np.tanh(_softplus(x))),
            c="tw_mishf(x)",
            summary="x tanh(log(1 + exp(x)))",
            since=(18,),
            slack=lambda x, n: 4 * TINY * np.minimum(np.abs(x), 200),
        ),
        "Neg": Function(exact=lambda x, n: -x, c="-x", summary="-x", since=(6,)),
        "Reciprocal": Function(exact=lambda x, n: 1 / x, c="1.0f / x", summary="1 / x", since=(6,)),
        "Round": Function(
            exact=lambda x, n: np.rint(x), c="tw_roundf(x)", summary="nearest integer, halves to even", since=(11,)
        ),
        "Selu": Function(
            exact=lambda x, n: n["gamma"] * np.where(x < 0, n["alpha"] * np.expm1(np.minimum(x, 0)), x),
            c="gamma * (x < 0.0f ? alpha * tw_expm1f(x) : x)",
            summary="Elu, scaled",
            attributes=_SELU,
            since=(6,),
        ),
        "Sigmoid": Function(
            exact=lambda x, n: _sigmoid(x), c="tw_sigmoidf(x)", summary="1 / (1 + exp(-x))", since=(6,)
        ),
        "Sign": Function(
            exact=lambda x, n: np.sign(x),
            c="x > 0.0f ? 1.0f : (x < 0.0f ? -1.0f : x + 0.0f)",  # 0 of -0
            summary="-1, 0 or 1",
            since=(9,),
        ),
        "Sin": Function(
            exact=lambda x, n: np.sin(x), c="tw_sinf(x)", summary="sine of an angle in radians", since=(7,)
        ),
        "Sinh": Function(exact=lambda x, n: np.sinh(x), c="tw_sinhf(x)", summary="hyperbolic sine", since=(9,)),
        "Softplus": Function(
            exact=lambda x, n: _softplus(x), c="tw_softplusf(x)", summary="log(1 + exp(x))", since=(1,)
        ),
        "Softsign": Function(
            exact=lambda x, n: x / (1 + np.abs(x)),
            c="x / (1.0f + (x < 0.0f ? -x : x))",
            summary="x / (1 + |x|)",
            since=(1,),
        ),
        "Sqrt": Function(exact=lambda x, n: np.sqrt(x), c="tw_sqrtf(x)", summary="square root", since=(6,)),
        "Swish": Function(
            exact=lambda x, n: _times(x, _sigmoid(n["alpha"] * x)),
            c="tw_swishf(x, alpha)",
            summary="x sigmoid(alpha x)",
            attributes={"alpha": 1.0},
            since=(24,),
            slack=lambda x, n: _steep(x, _times(x, _sigmoid(n["alpha"] * x)), n["alpha"] * x),
        ),
        "Tan": Function(
            exact=lambda x, n: np.tan(x), c="tw_tanf(x)", summary="tangent of an angle in radians", since=(7,)
        ),
        "Tanh": Function(exact=lambda x, n: np.tanh(x), c="tw_tanhf(x)", summary="hyperbolic tangent", since=(6,)),
    }
)
