"""A runner that gets a stride wrong is told from a kernel that computes something else."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

from tilewright.ir.machines.kernel import Kernel
from tilewright.ir.programs.runner import Job, RunResult
from tilewright.plugins.registry import Provenance
from tilewright.runners.twin import TwinRunner
from tilewright.testing.cluster import CLUSTER, registry_for
from tilewright.testing.one_step import portable_kernels, vocabulary
from tilewright.testing.operator_sites import site_of
from tilewright.testing.runner_faults import runner_faults

X = np.linspace(-2, 2, 28, dtype=np.float32).reshape(4, 7)
SITE = site_of(vocabulary()["Neg"], [X])
NEG = replace(portable_kernels()["portable.neg"], name="acme.neg", target=CLUSTER.name, rank=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Simulator:
    """A runner of a package, which reads outputs as if rows were `pitch` elements apart."""

    pitch: int
    name: str = "acme-sim"
    summary: str = "made up"

    def available(self) -> str | None:
        return None

    def run(self, job: Job, folder: Path) -> RunResult:
        ran = TwinRunner().run(job, folder)
        (outputs,) = ran.outputs
        rows = {name: np.resize(array.ravel(), (4, self.pitch))[:, :7] for name, array in outputs.items()}
        return replace(ran, outputs=(rows,))


def faults(simulator: Simulator, kernel: Kernel, folder: Path) -> list[str]:
    registry = registry_for(CLUSTER)
    kernels = {name: each for name, each in registry.kernels.items() if each.computes != "Neg"}
    acme = Provenance(distribution="acme-tools", version="2.0")
    registry = replace(
        registry,
        kernels={**kernels, kernel.name: kernel},
        provenance={**registry.provenance, ("runner", simulator.name): acme},
    )
    return runner_faults(SITE, [X], CLUSTER.name, registry, simulator, folder)


@pytest.mark.slow
def test_whose_fault_it_is(tmp_path: Path) -> None:
    wrong = replace(NEG, call=f"{NEG.call}\n(*${{Y}}) += 1.0f;")
    found = [
        faults(Simulator(pitch=pitch), kernel, tmp_path / f"{pitch}{kernel is NEG}")
        for pitch, kernel in ((7, NEG), (9, NEG), (7, wrong))
    ]
    assert found[0] == []
    (runner,), (kernel_on_both,) = found[1:]
    assert runner.startswith("runner 'acme-sim' of acme-tools 2.0 (`run` at testing/test_runner_faults.py:")
    assert "otherwise than 'twin', where kernel 'acme.neg' computes what it should" in runner
    assert kernel_on_both.startswith("kernel 'acme.neg' on runner 'acme-sim' of acme-tools 2.0")
    assert "; on 'twin': " in kernel_on_both
