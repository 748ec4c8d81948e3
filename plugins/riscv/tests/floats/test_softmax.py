"""Softmax and LogSoftmax on a made-up machine: whole rows along any axis, and what a row costs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tilewright.api.testing import kernel_errors, site_of, vocabulary
from tilewright.ir.plans.layer import layer_of
from tilewright_riscv.floats.machines import Machine
from tilewright_riscv.floats.softmax import APART, PROGRAMS, softmax_kernel

X = (np.random.default_rng(5).standard_normal((3, 7, 5)) * 9).astype(np.float32)
X[0, 0] = -np.inf, 0, 80, -80, 1e-3


@pytest.mark.parametrize(("op", "axis"), [("Softmax", 2), ("LogSoftmax", 1)])
def test_results_are_inside_the_error_model(machine: Machine, op: str, axis: int, tmp_path: Path) -> None:
    site = site_of(vocabulary()[op], [X], {"axis": axis})
    with np.errstate(all="ignore"):
        errors = kernel_errors(
            vocabulary()[op], softmax_kernel(machine, op), site, [X], np.random.default_rng(2), tmp_path
        )
    assert errors == []


@pytest.mark.parametrize("op", PROGRAMS)
def test_a_row_costs_its_runs_a_logarithm_where_there_is_one_and_more_where_it_is_not_together(
    machine: Machine, op: str
) -> None:
    costs = []
    for axis in (2, 1):
        kernel = softmax_kernel(machine, op)
        assert kernel.cycles is not None
        layer = layer_of(vocabulary()[op], kernel, site_of(vocabulary()[op], [X], {"axis": axis}))
        costs.append(kernel.cycles(layer.whole))
    logarithm = 50 if op == "LogSoftmax" else 0
    assert costs == pytest.approx([21 * (3 * 15 + logarithm), 15 * (3 * 17 + logarithm) * APART])
