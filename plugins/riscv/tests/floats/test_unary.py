"""Functions of one float on a made-up machine: right in any layout and tile, and what they refuse and cost."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tilewright.api.testing import kernel_errors, refusal, site_of, vocabulary
from tilewright.ir.plans.layer import layer_of
from tilewright_riscv.floats.functions import UNARY
from tilewright_riscv.floats.machines import Machine
from tilewright_riscv.floats.unary import gelu_kernel, unary_kernel

X = np.random.default_rng(3).standard_normal((3, 4, 5)).astype(np.float32)
X.flat[:4] = np.nan, 1e30, -np.inf, 0


@pytest.mark.parametrize(
    ("op", "attributes"), [("Tanh", {}), ("LeakyRelu", {"alpha": -0.5}), ("Clip", {"min": 3.0, "max": 1.0})]
)
def test_results_are_inside_the_error_model(
    machine: Machine, op: str, attributes: dict[str, float], tmp_path: Path
) -> None:
    site = site_of(vocabulary()[op], [X], attributes)
    with np.errstate(all="ignore"):
        errors = kernel_errors(
            vocabulary()[op], unary_kernel(machine, op), site, [X], np.random.default_rng(1), tmp_path
        )
    assert errors == []


def test_gelu_computes_in_runs_of_its_own(machine: Machine, tmp_path: Path) -> None:
    site = site_of(vocabulary()["Gelu"], [X])
    with np.errstate(all="ignore"):
        errors = kernel_errors(
            vocabulary()["Gelu"], gelu_kernel(machine), site, [X], np.random.default_rng(1), tmp_path
        )
    assert errors == []


@pytest.mark.parametrize(("alpha", "refused"), [(0.49, True), (0.5, False), (2.0**20, False), (2.0**21, True)])
def test_a_swish_that_is_too_flat_or_too_steep_is_refused(machine: Machine, alpha: float, refused: bool) -> None:
    site = site_of(vocabulary()["Swish"], [X], {"alpha": alpha})
    assert (refusal(unary_kernel(machine, "Swish"), site) is not None) is refused


def test_other_types_are_refused_and_results_may_take_the_bytes_of_what_is_read(machine: Machine) -> None:
    kernel = unary_kernel(machine, "Tanh")
    assert "f64" in str(refusal(kernel, site_of(vocabulary()["Tanh"], [X.astype(np.float64)])))
    assert layer_of(vocabulary()["Tanh"], kernel, site_of(vocabulary()["Tanh"], [X])).in_place == (("X", "Y"),)
    assert kernel.memories == {"X": ("l1",), "Y": ("l1",)} and kernel.name == "acme.tanh_f32"
    assert unary_kernel(replace(machine, inner=()), "Tanh").memories == {}


def test_a_result_that_keeps_what_is_no_number_costs_another_run(machine: Machine) -> None:
    costs = {}
    for op in ("Tanh", "Sqrt"):
        if op in UNARY:
            tile = layer_of(vocabulary()[op], unary_kernel(machine, op), site_of(vocabulary()[op], [X])).whole
            kernel = unary_kernel(machine, op)
            assert kernel.cycles is not None
            costs[op] = (kernel.cycles(tile), 70.0 * (2 if UNARY[op].keeps_nan else 1))
    assert costs and all(found == wanted for found, wanted in costs.values())


def test_what_is_cut_ends_a_run_of_neighbours(machine: Machine) -> None:
    kernel = unary_kernel(machine, "LeakyRelu")
    layer = layer_of(vocabulary()["LeakyRelu"], kernel, site_of(vocabulary()["LeakyRelu"], [X], {"alpha": 0.5}))
    assert kernel.cycles is not None
    loops = list(layer.whole.box)
    each = 2 if UNARY["LeakyRelu"].keeps_nan else 1
    assert kernel.cycles(layer.whole) == each * (10 + 60)
    assert kernel.cycles(layer.tile({**layer.whole.box, loops[1]: (0, 2)})) == each * 3 * (10 + 10)
    assert kernel.cycles(layer.tile({**layer.whole.box, loops[2]: (1, 3)})) == each * 12 * (10 + 2)
