"""Knows the activations that LSTM, GRU and RNN may have: exact, in C, and how errors pass through them.
Does not know cells. Source: ONNX LSTM-22, whose names and default parameters these are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from tilewright.c_text.literals import c_float
from tilewright.operators.elementwise.unary import sigmoid
from tilewright.operators.shared.float_results import TINY, UNIT

Doubles = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """`exact` and `slope` (the steepest one) are of x and (alpha, beta); `c` is over v, alpha and beta."""

    exact: Callable[[Doubles, float, float], Doubles]
    slope: Callable[[float, float], float]
    c: str
    defaults: tuple[float, float] = (0.0, 0.0)


KINDS: Mapping[str, Kind] = MappingProxyType(
    {
        "Affine": Kind(
            exact=lambda x, a, b: a * x + b, slope=lambda a, b: abs(a), c="{alpha} * v + {beta}", defaults=(1.0, 0.0)
        ),
        "Elu": Kind(
            exact=lambda x, a, b: np.where(x < 0, a * np.expm1(np.minimum(x, 0)), x),
            slope=lambda a, b: max(1.0, abs(a)),
            c="v < 0.0f ? {alpha} * tw_expm1f(v) : v",
            defaults=(1.0, 0.0),
        ),
        "HardSigmoid": Kind(
            exact=lambda x, a, b: np.clip(a * x + b, 0, 1),
            slope=lambda a, b: abs(a),
            c="tw_clip({alpha} * v + {beta}, 0.0f, 1.0f)",
            defaults=(0.2, 0.5),
        ),
        "LeakyRelu": Kind(
            exact=lambda x, a, b: np.where(x < 0, a * x, x),
            slope=lambda a, b: max(1.0, abs(a)),
            c="v < 0.0f ? {alpha} * v : v",
            defaults=(0.01, 0.0),
        ),
        "Relu": Kind(exact=lambda x, a, b: np.maximum(x, 0), slope=lambda a, b: 1.0, c="v < 0.0f ? 0.0f : v"),
        "ScaledTanh": Kind(
            exact=lambda x, a, b: a * np.tanh(b * x),
            slope=lambda a, b: abs(a * b),
            c="{alpha} * tw_tanhf({beta} * v)",
            defaults=(1.0, 1.0),
        ),
        "Sigmoid": Kind(exact=lambda x, a, b: sigmoid(x), slope=lambda a, b: 0.25, c="tw_sigmoidf(v)"),
        "Softplus": Kind(
            exact=lambda x, a, b: np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x))),
            slope=lambda a, b: 1.0,
            c="tw_softplusf(v)",
        ),
        "Softsign": Kind(
            exact=lambda x, a, b: x / (1 + np.abs(x)), slope=lambda a, b: 1.0, c="v / (1.0f + (v < 0.0f ? -v : v))"
        ),
        "Tanh": Kind(exact=lambda x, a, b: np.tanh(x), slope=lambda a, b: 1.0, c="tw_tanhf(v)"),
        "ThresholdedRelu": Kind(
            exact=lambda x, a, b: np.where(x > a, x, 0),
            slope=lambda a, b: 1.0,
            c="v > {alpha} ? v : 0.0f",
            defaults=(1.0, 0.0),
        ),
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Activation:
    """One of a cell's activations, its parameters float32 values."""

    name: str
    alpha: float
    beta: float

    def exact(self, x: Doubles) -> Doubles:
        """In float64."""
        return np.asarray(KINDS[self.name].exact(x, self.alpha, self.beta), np.float64)

    def error(self, x: Doubles, off: Doubles) -> Doubles:
        """How far the C may be from `exact` where x is `off`: its slope, its own roundings, and a step it may miss."""
        kind, size = KINDS[self.name], np.abs(self.exact(x))
        slope = kind.slope(self.alpha, self.beta)
        rounding = 8 * UNIT * (size + slope * np.abs(x) * (self.name in _SCALED) + abs(self.beta)) + 8 * TINY
        step = np.where(np.abs(x - self.alpha) <= off, abs(self.alpha), 0) if self.name == "ThresholdedRelu" else 0
        return np.asarray(slope * off + rounding + step, np.float64)

    def c(self) -> str:
        """The C expression over v."""
        return KINDS[self.name].c.format(alpha=c_float(self.alpha), beta=c_float(self.beta))


_SCALED = frozenset({"Affine", "HardSigmoid", "ScaledTanh"})  # v is multiplied before it is looked at


def activations(names: Sequence[str], alphas: Sequence[float], betas: Sequence[float]) -> tuple[Activation, ...]:
    """Those of a cell in normal form: one alpha and one beta each."""
    numbers = zip(names, alphas, betas, strict=True)
    return tuple(
        Activation(name=name, alpha=float(np.float32(alpha)), beta=float(np.float32(beta)))
        for name, alpha, beta in numbers
    )
