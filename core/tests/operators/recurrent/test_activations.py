"""Activations of recurrent layers: against independent values, errors inside the bound, steps that are missed."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tilewright.operators.recurrent.activations import KINDS, Activation


@pytest.mark.parametrize(
    ("name", "alpha", "beta", "wanted"),
    [
        ("Affine", 2.0, 0.5, 1.9),
        ("Elu", 2.0, 0.0, 0.7),
        ("HardSigmoid", 0.2, 0.5, 0.64),
        ("LeakyRelu", 0.1, 0.0, 0.7),
        ("Relu", 0.0, 0.0, 0.7),
        ("ScaledTanh", 2.0, 0.5, 2 * math.tanh(0.35)),
        ("Sigmoid", 0.0, 0.0, 1 / (1 + math.exp(-0.7))),
        ("Softplus", 0.0, 0.0, math.log(1 + math.exp(0.7))),
        ("Softsign", 0.0, 0.0, 0.7 / 1.7),
        ("Tanh", 0.0, 0.0, math.tanh(0.7)),
        ("ThresholdedRelu", 0.7, 0.0, 0.0),
    ],
)
def test_values(name: str, alpha: float, beta: float, wanted: float) -> None:
    found = Activation(name=name, alpha=alpha, beta=beta).exact(np.array([0.7]))
    assert found[0] == pytest.approx(wanted)


@pytest.mark.parametrize("name", sorted(KINDS))
def test_errors_grow_no_faster_than_the_bound(name: str) -> None:
    function = Activation(name=name, alpha=1.5, beta=0.25)
    x = np.linspace(-3, 3, 601)
    for off in (1e-3, 0.1):
        moved = np.abs(function.exact(x + off) - function.exact(x))
        assert np.all(moved <= function.error(x, np.full_like(x, off)))
