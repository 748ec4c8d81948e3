"""Costs that cannot be: a thousand times below the throughput of the engine, or other than a runner has measured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

from tilewright.ir.machines.kernel import Kernel
from tilewright.ir.plans.layer import layer_of
from tilewright.ir.programs.runner import Job, RunResult
from tilewright.plugins.registry import Provenance
from tilewright.testing.cluster import CLUSTER, registry_for
from tilewright.testing.kernels.kernel_costs import cost_faults, throughput_fault
from tilewright.testing.one_step import portable_kernels, vocabulary
from tilewright.testing.operator_sites import site_of

NEG = vocabulary()["Neg"]
X = np.ones((40, 50), np.float32)
SITE = site_of(NEG, [X])
USUAL = 2000 / CLUSTER.engines[0].operations_per_cycle * CLUSTER.engines[0].cores


def kernel(cycles: float) -> Kernel:
    return replace(portable_kernels()["portable.neg"], name="acme.neg", cycles=lambda tile: cycles, parallel=("*",))


@pytest.mark.parametrize("factor", [10.0, 1.0, 0.1, 0.02])
def test_a_kernel_may_be_faster_and_slower_than_its_engine_usually_is(factor: float) -> None:
    assert throughput_fault(layer_of(NEG, kernel(USUAL * factor), SITE), CLUSTER) is None


def test_a_cost_that_is_a_thousand_times_too_low_is_found() -> None:
    fault = throughput_fault(layer_of(NEG, kernel(USUAL / 1000), SITE), CLUSTER)
    assert fault is not None
    assert fault.startswith("kernel 'acme.neg' (`cycles` at kernels/test_kernel_costs.py:")
    assert " says that this layer takes 1.33 cycles; at 12 operations per cycle engine" in fault


def test_a_kernel_that_states_no_cost_takes_what_its_engine_takes() -> None:
    stated = replace(kernel(1.0), cycles=None)
    assert throughput_fault(layer_of(NEG, stated, SITE), CLUSTER) is None


@dataclass(frozen=True, slots=True, kw_only=True)
class Clock:
    """A runner that computes nothing, and says that every step has taken `cycles`."""

    cycles: int | None
    name: str = "acme-clock"
    summary: str = "made up"

    def available(self) -> str | None:
        return None

    def run(self, job: Job, folder: Path) -> RunResult:
        steps = [step.name for step in job.plan.tiled.scheduled.steps]
        counts: Mapping[str, int] = {} if self.cycles is None else {"cycles": self.cycles}
        return RunResult(outputs=({},), step_counts=dict.fromkeys(steps, counts), kind="measured")


def faults(stated: float, measured: int | None, folder: Path) -> list[str]:
    registry = registry_for(CLUSTER)
    acme = Provenance(distribution="acme", version="1.2")
    owners = {**registry.provenance, ("kernel", "acme.neg"): acme}
    registry = replace(registry, kernels={**registry.kernels, "acme.neg": kernel(stated)}, provenance=owners)
    return cost_faults(SITE, [X], CLUSTER.name, registry, Clock(cycles=measured), folder)


def test_a_cost_that_was_measured_otherwise_is_found_with_its_kernel(tmp_path: Path) -> None:
    (fault,) = faults(1.0, 1_000_000, tmp_path)
    assert fault.startswith("kernel 'acme.neg' of acme 1.2 (`cycles` at kernels/test_kernel_costs.py:")
    assert " is estimated to take " in fault
    assert "takes 1,000,000 on runner 'acme-clock'" in fault


@pytest.mark.parametrize("measured", [None, 1500, 3000])
def test_a_cost_that_is_near_or_that_nobody_measured_is_none(tmp_path: Path, measured: int | None) -> None:
    assert faults(1.0, measured, tmp_path) == []
