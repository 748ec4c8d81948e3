"""Five networks, tiled for Siracusa and run on QEMU as nine harts: every step exact, L1 never exceeded.

The whole matrix is `benchmarks/qemu_matrix.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np
import pytest

from networks import network_file, vectors_file
from tilewright.comparison.verdicts import judge_steps
from tilewright.config.options import Options
from tilewright.deployment import Deployment
from tilewright.ir.programs.runner import Job
from tilewright_riscv.runners.qemu import QemuRiscvRunner


@dataclass(frozen=True)
class Case:
    """One point of the matrix."""

    name: str
    near_kib: int
    buffering: Literal["single", "double"]
    settings: dict[str, str] = field(default_factory=dict)
    groups: int | None = None  # 1: layer by layer, so that every step's values are seen
    long: bool = False

    def __str__(self) -> str:
        return "-".join(
            (
                self.name,
                f"{self.near_kib}K",
                self.buffering,
                *self.settings.values(),
                *(["layers"] if self.groups else []),
            )
        )


CASES = (
    Case("ad_int8", 16, "double"),
    Case("kws_int8", 64, "single", groups=1, long=True),
    Case("kws_int8", 16, "double", {"home": "l3"}),
    Case("resnet8_int8", 16, "single", groups=1, long=True),
    Case("resnet8_int8", 64, "double", long=True),
    Case("vww_int8", 16, "double", long=True),
    Case("resnet8_f32", 64, "double", groups=1),
)


@pytest.mark.slow
@pytest.mark.parametrize(
    "case", [pytest.param(case, marks=pytest.mark.long if case.long else ()) for case in CASES], ids=str
)
def test_exact_on_nine_harts(case: Case, tmp_path: Path, tool: Callable[[str], str]) -> None:
    tool("qemu-system-riscv32")
    scratchpad_bytes = case.near_kib << 10
    options = Options(
        memory={"l1": scratchpad_bytes}, buffering=case.buffering, settings=case.settings, groups=case.groups
    )
    plan = Deployment(network_file(case.name), "siracusa", options)
    with np.load(vectors_file(case.name)) as archive:
        inputs = {tensor: archive[f"set0/in/{tensor}"] for tensor in plan.inputs}
    job = Job(artifact=plan.artifact, plan=plan.allocated, prefix=plan.prefix, input_sets=(inputs,), trace=True)
    result = QemuRiscvRunner().run(job, tmp_path)
    executed = [step.name for step in plan.scheduled.steps]
    graph = plan.scheduled.bound.graph
    verdicts = judge_steps(graph, executed, plan.registry.operators, job.input_sets, result.values)
    assert [verdict.name for verdict in verdicts if not verdict.exact] == []
    assert len(verdicts) == len(executed) or not case.groups
    assert executed[-1] in {verdict.name for verdict in verdicts}
    assert plan.worst_case_buffer_size["l1"] + plan.bound.platform.runtime_bytes["l1"] <= scratchpad_bytes
    assert result.counts["instructions.core7"] > 0
