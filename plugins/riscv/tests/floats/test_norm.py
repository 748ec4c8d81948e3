"""Normalised rows on a made-up machine: with and without a scale and a shift, and what a row costs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tilewright.api.testing import kernel_errors, site_of, vocabulary
from tilewright.ir.plans.layer import layer_of
from tilewright_riscv.floats.machines import Machine
from tilewright_riscv.floats.norm import norm_kernel

RNG = np.random.default_rng(7)
X = (RNG.standard_normal((2, 5, 9)) * 3 + 100).astype(np.float32)
SCALE, SHIFT = (RNG.standard_normal(9).astype(np.float32) for _ in range(2))
LAYER, RMS = "LayerNormalization", "RMSNormalization"
EPSILON = {"epsilon": 1e-5}


@pytest.mark.parametrize(
    ("op", "inputs", "two"),
    [(LAYER, [X, SCALE, SHIFT], False), (LAYER, [X, SCALE, SHIFT], True), (RMS, [X, SCALE], False)],
)
def test_results_are_inside_the_error_model(
    machine: Machine, op: str, inputs: list[Any], two: bool, tmp_path: Path
) -> None:
    """Far from 0, so that a variance that is not taken around the mean would be wrong."""
    kernel = norm_kernel(replace(machine, two_inputs=two), op)
    site = site_of(vocabulary()[op], inputs, {"axis": 2, **EPSILON})
    assert kernel_errors(vocabulary()[op], kernel, site, inputs, np.random.default_rng(1), tmp_path) == []


def test_a_constant_row_has_no_deviation(machine: Machine, tmp_path: Path) -> None:
    """Inside an error model that leaves nothing but the rounding of the shift."""
    inputs = [np.full((2, 3, 37), 1000.1, np.float32), *(RNG.standard_normal(37).astype(np.float32) for _ in range(2))]
    kernel = norm_kernel(machine, LAYER)
    site = site_of(vocabulary()[LAYER], inputs, {"axis": 2, **EPSILON})
    assert kernel_errors(vocabulary()[LAYER], kernel, site, inputs, np.random.default_rng(1), tmp_path) == []


def test_a_shift_apart_is_one_run_more_and_no_mean_is_one_less(machine: Machine) -> None:
    costs = {}
    for name, op, inputs, two in (
        ("plain", LAYER, [X, SCALE, SHIFT], False),
        ("apart", LAYER, [X, SCALE, SHIFT], True),
        ("root mean square", RMS, [X, SCALE], False),
    ):
        kernel = norm_kernel(replace(machine, two_inputs=two), op)
        assert kernel.cycles is not None
        tile = layer_of(vocabulary()[op], kernel, site_of(vocabulary()[op], inputs, {"axis": 2, **EPSILON})).whole
        costs[name] = kernel.cycles(tile)
    assert costs == {"plain": 10 * (3 * 19 + 30), "apart": 10 * (4 * 19 + 30), "root mean square": 10 * (2 * 19 + 30)}
