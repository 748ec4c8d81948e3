"""Faults that show when a program runs are told with the kernel, its package and its functions in C."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tilewright.comparison.verdicts import Verdict, judge_steps
from tilewright.config.options import Options
from tilewright.deployment import Deployment
from tilewright.errors import TilewrightError, toolchain_error
from tilewright.ir.graphs.graph import Graph
from tilewright.ir.machines.kernel import Kernel
from tilewright.ir.machines.platform import Memory, Platform
from tilewright.ir.programs.runner import Job, RunResult
from tilewright.ir.tensors.dtypes import DType
from tilewright.plugins.registry import Provenance
from tilewright.runners.host import HostRunner
from tilewright.testing.cluster import registry_for
from tilewright.testing.one_step import portable_kernels, vocabulary
from tilewright.testing.sketch import Sketch
from tilewright.validation.blame import blame, run_on, with_blame
from tilewright.validation.verdict_text import mismatch

BOARD = Platform(name="board", memories=(Memory(name="ram", size_bytes=None),))
X = np.arange(24, dtype=np.float32).reshape(4, 6)
SOURCE = "TW_KERNEL void acme_neg(const float *x, float *y)\n{\n    for (int i = 0; i < 24; ++i) {\n%s    }\n}"
RIGHT = "        y[i] = -x[i];\n"
LINE = "step 'turn' is computed by kernel 'acme.neg' of acme 1.2, in C acme_neg"


def kernel(body: str = RIGHT) -> Kernel:
    portable = portable_kernels()["portable.neg"]
    return replace(
        portable, name="acme.neg", target="board", source=SOURCE % body, values=lambda call: {},
        call="acme_neg(${X}, ${Y});", in_place=lambda site: (), cycles=lambda tile: 1.0,
    )  # fmt: skip


def deployment(own: Kernel) -> Deployment:
    registry = registry_for(BOARD)
    registry = replace(
        registry,
        kernels={**registry.kernels, own.name: own},
        provenance={**registry.provenance, ("kernel", own.name): Provenance(distribution="acme", version="1.2")},
    )
    sketch = Sketch(operators=vocabulary())
    turned = sketch.node("Neg", (sketch.input("x", DType.F32, (4, 6)),), name="turn")
    plan = Deployment(b"", "board", Options(name="net"), registry)
    plan._given[Graph] = sketch.finish(sketch.node("Tanh", (turned,), name="last"))
    return plan


def run(plan: Deployment, folder: Path, runner: Any = None) -> RunResult:
    job = Job(
        artifact=plan.artifact, plan=plan.allocated, prefix=plan.prefix, input_sets=({"x": X},), trace=True
    )  # fmt: skip
    return run_on(runner or HostRunner(), job, folder, plan)


def test_who_computes_a_step() -> None:
    found = blame(deployment(kernel()), "turn")
    assert str(found) == LINE
    assert str(blame(deployment(kernel()), "last")).startswith(
        "step 'last' is computed by kernel 'portable.tanh' of til"
    )
    assert blame(deployment(kernel()), "nothing") is None


def test_a_program_that_crashes_names_the_step_that_it_was_in(tmp_path: Path) -> None:
    crash = "        y[i] = *(const volatile float *)(uintptr_t)(16 + i) + x[i];\n"
    with pytest.raises(TilewrightError) as caught:
        run(deployment(kernel(crash)), tmp_path)
    assert caught.value.code == "TW7003"
    assert caught.value.details[0] == "it ended in step 'turn'"
    assert caught.value.details[-1] == LINE
    assert caught.value.fix[-1] == "report it to the author of acme 1.2, with the model, unless the package is yours"


def test_bytes_outside_a_step_name_package_and_function(tmp_path: Path) -> None:
    with pytest.raises(TilewrightError) as caught:
        run(deployment(kernel(f"{RIGHT}        y[i + 24] = 1;\n")), tmp_path)
    assert caught.value.code == "TW7007"
    assert LINE in caught.value.details


@dataclass(frozen=True, slots=True, kw_only=True)
class Vendors:
    """A runner that knows nothing of what programs leave behind."""

    name: str = "acme-sim"
    summary: str = "made up"

    def available(self) -> str | None:
        return None

    def run(self, job: Job, folder: Path) -> RunResult:
        try:
            return HostRunner().run(job, folder)
        except TilewrightError as error:
            raise toolchain_error("TW7003", "the simulator has stopped") from error


def test_a_runner_of_somebody_else_is_told_the_reason_that_the_program_left(tmp_path: Path) -> None:
    with pytest.raises(TilewrightError) as caught:
        run(deployment(kernel(f"{RIGHT}        y[i + 24] = 1;\n")), tmp_path, Vendors())
    assert caught.value.code == "TW7007"
    assert LINE in caught.value.details


def test_a_step_that_is_wrong_names_package_and_function(tmp_path: Path) -> None:
    plan = deployment(kernel("        y[i] = x[i];\n"))
    values = run(plan, tmp_path).values
    (wrong, _) = judge_steps(plan.graph, ["turn", "last"], plan.registry.operators, ({"x": X},), values)
    error = with_blame(mismatch(Verdict(steps=(wrong,), outputs=()), lambda: ""), plan)
    assert (error.code, error.where, error.details[-1]) == ("TW6002", "step 'turn' (Neg)", LINE)
    assert error.fix == ("report it to the author of acme 1.2, with the model, unless the package is yours",)


def test_values_that_depend_on_the_order_of_cores_are_those_of_a_kernel() -> None:
    error = toolchain_error("TW7112", "the twin found: 'turn:0' depends on the order of cores", where="value 'turn:0'")
    assert LINE in with_blame(error, deployment(kernel())).details


def test_a_pass_is_named_with_its_package() -> None:
    plan = deployment(kernel())
    owners: Mapping[Any, Provenance] = {("graph_pass", "acme.pass"): Provenance(distribution="acme", version="1.2")}
    plan.registry = replace(plan.registry, provenance={**plan.registry.provenance, **owners})
    told = with_blame(toolchain_error("TW6003", "moved", where="graph pass 'acme.pass'"), plan)
    assert told.details == ("graph pass 'acme.pass' is of acme 1.2",)
    assert told.fix == ("report it to the author of acme 1.2, with the model, unless the package is yours",)


def test_an_error_that_names_no_step_stays_as_it_is() -> None:
    error = toolchain_error("TW7001", "no compiler")
    assert with_blame(error, deployment(kernel())) is error
