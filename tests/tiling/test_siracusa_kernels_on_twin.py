"""Five networks with the kernels of Siracusa, in the portable form of their instructions, on the twin: every
step exact, no byte too many in L1, and the kernels really chosen.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from networks import network_file, vectors_file
from tilewright.comparison.verdicts import judge_steps
from tilewright.config.options import Options
from tilewright.deployment import Deployment
from tilewright.emit import EmitOptions, emit
from tilewright.ir.programs.runner import Job
from tilewright.lower import lower
from tilewright.plugins import load_for
from tilewright.runners.twin import TwinRunner
from tilewright.transform import transform

PORTABLE = {"QSoftmax"}  # operators of these networks that the cluster has no kernel for


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "near_kib", "sanitize"),
    [
        pytest.param("kws_int8", 16, True, marks=pytest.mark.long),
        ("kws_int8", 16, False),
        ("ad_int8", 16, True),
        pytest.param("kws_int8", 64, False, marks=pytest.mark.long),
        pytest.param("resnet8_int8", 16, False, marks=pytest.mark.long),
        pytest.param("resnet8_int8", 64, False, marks=pytest.mark.long),
        pytest.param("vww_int8", 16, False, marks=pytest.mark.long),
        ("ad_int8", 64, False),
    ],
)
def test_exact_with_kernels_of_the_cluster(name: str, near_kib: int, sanitize: bool, tmp_path: Path) -> None:
    plan = Deployment(
        network_file(name),
        "siracusa",
        Options(memory={"l1": near_kib << 10}, groups=1),
        load_for(target="siracusa"),
    )
    bound = plan.scheduled.bound
    kernels = [bound.bindings[step.name].kernel for step in plan.scheduled.steps]
    portable = {kernel.op for kernel in kernels if kernel.target == "*"}
    assert portable <= PORTABLE
    program = lower(plan.allocated, plan.registry.operators, plan.prefix)
    artifact = emit(transform(program, tuple(plan.registry.code_passes.values()), ("lifetimes",)), EmitOptions())
    with np.load(vectors_file(name)) as archive:
        inputs = {tensor: archive[f"set0/in/{tensor}"] for tensor in plan.inputs}
    job = Job(
        artifact=artifact,
        plan=plan.allocated,
        prefix=plan.prefix,
        input_sets=(inputs,),
        trace=True,
        sanitize=sanitize,
    )
    result = TwinRunner(seeds=(0, 2)).run(job, tmp_path)
    executed = [step.name for step in plan.scheduled.steps]
    verdicts = judge_steps(bound.graph, executed, plan.registry.operators, job.input_sets, result.values)
    assert [verdict.name for verdict in verdicts if not verdict.exact] == []
    assert len(verdicts) == len(executed)
    used = plan.worst_case_buffer_size["l1"]
    assert used + bound.platform.runtime_bytes["l1"] <= near_kib << 10
