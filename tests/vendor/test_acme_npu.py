"""An engine with a queue that somebody else ships, in about 80 lines: its jobs run beside copies and cores, and what a
vendor can get wrong about them is found, with the kernel and its package in the message.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from acme_engine import PROJECT, RUNNER, edited, files, vendor
from onnx import TensorProto, helper, numpy_helper

from tilewright.config.options import Options
from tilewright.deployment import Deployment
from tilewright.errors import TilewrightError
from tilewright.ir.plans.stages import Artifact
from tilewright.ir.programs.program import CodePass, Program, StepCode
from tilewright.ir.programs.runner import Job
from tilewright.ir.programs.statements import Barrier, CopyWait, JobWait, KernelWait, replaced
from tilewright.lower import lower
from tilewright.testing.cluster import registry_for
from tilewright.transform import transform

COUNT = 1700
FEW = 40  # one tile
INPUTS = {count: {"x": (np.arange(count) * 7).astype(np.int8)} for count in (COUNT, FEW)}


def model(count: int = COUNT) -> bytes:
    """A vector of int8, limited twice."""
    limits = [numpy_helper.from_array(np.int8(value), f"at{value}") for value in (-100, 90, -50, 60)]
    nodes = [
        helper.make_node("Clip", ["x", "at-100", "at90"], ["y"], "first"),
        helper.make_node("Neg", ["y"], ["n"], "between"),
        helper.make_node("Clip", ["n", "at-50", "at60"], ["z"], "second"),
    ]
    ends = [[helper.make_tensor_value_info(name, TensorProto.INT8, [count])] for name in "xz"]
    graph = helper.make_graph(nodes, "g", *ends, limits)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)]).SerializeToString()


@pytest.fixture(scope="module", name="plan")
def _plan() -> Deployment:
    npu: Any = vendor()
    registry = registry_for(npu.ACME_NPU)
    registry = replace(registry, kernels={**registry.kernels, "acme.clip": npu.CLIP})
    return Deployment(model(), "acme-npu", Options(groups=1), registry)


@pytest.fixture(scope="module", name="program")
def _program(plan: Deployment) -> Program:
    return lower(plan.allocated, plan.registry.operators, plan.prefix)


def run(plan: Deployment, artifact: Artifact, folder: Path, count: int = COUNT) -> np.ndarray[Any, Any]:
    job = Job(artifact=artifact, plan=plan.allocated, prefix=plan.prefix, input_sets=(INPUTS[count],), trace=True)
    return RUNNER.run(job, folder).outputs[0]["z"]


def test_it_is_about_80_lines() -> None:
    assert len((PROJECT / "acme_npu.py").read_text(encoding="utf-8").splitlines()) < 95


def test_a_job_runs_while_the_one_before_is_finished(plan: Deployment, program: Program, tmp_path: Path) -> None:
    text = files(program).files[f"{plan.prefix}.c"].decode("ascii")
    step = text[text.index("TW_STEP void") :]
    order = [step.index(f"clip_{phase}(") for phase in ("start", "wait", "finish")]
    assert order == sorted(order)
    assert "tw_rt_engine_start(1u" in text
    expected = np.clip(-np.clip(INPUTS[COUNT]["x"], -100, 90), -50, 60)
    np.testing.assert_array_equal(run(plan, files(program), tmp_path), expected)


def test_jobs_copies_and_cores_overlap(plan: Deployment, program: Program, tmp_path: Path) -> None:
    """The slowest of them, here the copies, is what a step takes, but for a tenth: its first tile and its last."""
    job = Job(artifact=files(program), plan=plan.allocated, prefix=plan.prefix, input_sets=(INPUTS[COUNT],))
    counts = RUNNER.run(job, tmp_path).step_counts["first"]
    engine = sum(40 + min(243, COUNT - start) for start in range(0, COUNT, 243))
    assert counts["cycles"] <= 1.10 * max(engine, counts["copy_cycles"])
    assert counts["compute_cycles"] + engine + counts["copy_cycles"] > 1.8 * counts["cycles"]


WAITED = "        if (t > 0) {\n            model_0_clip_wait("
CHANGED = WAITED.replace("{\n", "{\n            *(volatile uint8_t *)(uintptr_t)x[t % 2].bytes ^= 1u;\n")
FAULTS = {
    "no wait": ("tw_rt_engine_wait(1u, behind);", "(void)behind;", "TW7041"),
    "a wait that leaves one job too many": ("tw_rt_engine_wait(1u, behind);", "tw_rt_engine_wait(1u, 2);", "TW7041"),
    "no last wait": ("tw_rt_engine_wait(1u, behind);", "if (behind) tw_rt_engine_wait(1u, 1);", "TW7041"),
    "inputs change": (WAITED, CHANGED, "TW7041"),
    "a job outside": ("(const uint8_t *)scratch", "(const uint8_t *)(scratch + 99999)", "TW7042"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_what_goes_wrong_is_named(plan: Deployment, program: Program, tmp_path: Path, fault: str) -> None:
    old, new, code = FAULTS[fault]
    with pytest.raises(TilewrightError) as caught:
        run(plan, edited(plan, files(program), old, new), tmp_path)
    assert caught.value.code == code
    assert "kernel 'acme.clip'" in caught.value.message
    assert "acme_npu" in caught.value.where
    assert "step 'first'" in caught.value.where


def test_a_missing_wait_is_found_at_the_end(tmp_path: Path) -> None:
    """Of a step in one tile nobody touches what the job owns, and the emulation has computed everything."""
    npu: Any = vendor()
    registry = registry_for(npu.ACME_NPU)
    alone = replace(npu.CLIP, finish=None, scratch_bytes=lambda tile: 0, call=ALONE, source="", wait=";")
    plan = Deployment(
        model(FEW), "acme-npu", Options(groups=1), replace(registry, kernels={**registry.kernels, "acme.clip": alone})
    )
    artifact = files(lower(plan.allocated, plan.registry.operators, plan.prefix))
    assert run(plan, artifact, tmp_path / "right", FEW).shape == (FEW,)
    with pytest.raises(TilewrightError) as caught:
        run(plan, edited(plan, artifact, "tw_rt_engine_wait(1u, ", "(void)("), tmp_path / "wrong", FEW)
    assert caught.value.code == "TW7041"
    assert "a tile that is declared dead" in caught.value.message  # its input
    unowned = artifact
    for _ in ("first", "second"):
        unowned = edited(plan, unowned, "}, 2u);", "}, 0u);")
        unowned = edited(plan, unowned, "tw_rt_engine_wait(1u, ", "(void)(")
    with pytest.raises(TilewrightError) as caught:
        run(plan, unowned, tmp_path / "unowned", FEW)
    assert caught.value.code == "TW7040"
    assert "kernel 'acme.clip' (step 'first') was never waited for" in caught.value.message


ALONE = """\
for (int32_t i = 0; i < ${loops['i']}; ++i) {
    ${Y}[i] = ${X}[i] < ${low} ? ${low} : ${X}[i] > ${high} ? ${high} : ${X}[i];
}"""


def without(kind: type) -> CodePass:
    """A pass that drops statements of a kind."""

    def dropped(step: StepCode) -> StepCode:
        parts = tuple(
            replace(part, body=replaced(part.body, lambda one: () if isinstance(one, kind) else (one,)))
            for part in step.parts
        )
        return replace(step, parts=parts, body=replaced(step.body, lambda one: () if isinstance(one, kind) else (one,)))

    def apply(program: Program, context: object) -> Program:
        return replace(program, steps=tuple(map(dropped, program.steps)))

    return CodePass(name="careless", summary="", apply=apply, default=True)


@pytest.mark.parametrize("kind", [KernelWait, JobWait, CopyWait, Barrier])
def test_a_pass_that_drops_waits_is_named(program: Program, kind: type) -> None:
    with pytest.raises(TilewrightError) as caught:
        transform(program, (without(kind),))
    assert caught.value.code == "TW8030"
    assert "code pass 'careless'" in caught.value.message
    assert "step 'first' waits for" in caught.value.message
