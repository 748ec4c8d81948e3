"""A network of two branches on the Acme NPU: the engine computes one while the cores compute the other. Results are
there at the wait and not before, the twin's clock says what the estimate says, and what goes wrong is found.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from acme_engine import RUNNER, edited, files, vendor
from onnx import TensorProto, helper, numpy_helper

from tilewright.config.options import Options
from tilewright.deployment import Deployment
from tilewright.errors import TilewrightError
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.plans.stages import Artifact
from tilewright.ir.programs.runner import Job, RunResult
from tilewright.lower import lower
from tilewright.report.report_json import build_report
from tilewright.report.text import layer_table
from tilewright.testing.cluster import registry_for
from tilewright.validation.validation import validate, vectors_of

COUNT = 200
X = (np.arange(COUNT) * 7).astype(np.int8)


def model() -> bytes:
    """Limited by the engine; turned round twice by the cores; and the larger one."""
    limits = [numpy_helper.from_array(np.int8(value), f"at{value}") for value in (-100, 90)]
    nodes = [
        helper.make_node("Neg", ["x"], ["n"], "one"),
        helper.make_node("Abs", ["n"], ["m"], "two"),
        helper.make_node("Clip", ["x", "at-100", "at90"], ["y"], "job"),
        helper.make_node("Max", ["m", "y"], ["z"], "both"),
    ]
    ends = [[helper.make_tensor_value_info(name, TensorProto.INT8, [COUNT])] for name in "xz"]
    graph = helper.make_graph(nodes, "g", *ends, limits)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)]).SerializeToString()


def deployed(pins: Decisions | None = None) -> Deployment:
    npu: Any = vendor()
    registry = registry_for(npu.ACME_NPU)
    clip = replace(npu.CLIP, cycles=lambda tile: 400.0 + 4 * tile.extent("i"))
    registry = replace(registry, kernels={**registry.kernels, "acme.clip": clip})
    return Deployment(model(), "acme-npu", Options(groups=1, pins=pins or Decisions()), registry)


def built(plan: Deployment) -> Artifact:
    return files(lower(plan.allocated, plan.registry.operators, plan.prefix))


def run(plan: Deployment, artifact: Artifact, folder: Path) -> RunResult:
    job = Job(artifact=artifact, plan=plan.allocated, prefix=plan.prefix, input_sets=({"x": X},))
    return RUNNER.run(job, folder)


@pytest.fixture(scope="module", name="plan")
def _plan() -> Deployment:
    plan = deployed()
    assert plan.allocated.decisions.deferred == {"job": "two"}
    return plan


@pytest.fixture(scope="module", name="artifact")
def _artifact(plan: Deployment) -> Artifact:
    return built(plan)


@pytest.mark.slow
def test_both_branches_are_computed_at_once(plan: Deployment, artifact: Artifact, tmp_path: Path) -> None:
    """The clock of the twin is the estimate; without it each branch waits for the other."""
    found = run(plan, artifact, tmp_path / "beside")
    np.testing.assert_array_equal(found.outputs[0]["z"], np.maximum(np.abs(X), np.clip(X, -100, 90)))
    groups = plan.allocated.tiled.groups
    assert found.counts["cycles"] == sum(group.cycles for group in groups)
    alone = deployed(Decisions(deferred={"job": ""}))
    before = run(alone, built(alone), tmp_path / "alone").counts["cycles"]
    assert before > 1.25 * found.counts["cycles"]


@pytest.mark.slow
def test_every_step_is_right_after_its_own_wait(plan: Deployment) -> None:
    found = validate(plan, RUNNER, vectors_of(plan, None, 1))
    assert found.passed
    assert [step.name for step in found.verdict.steps if step.exact] == ["job", "one", "two", "both"]


EARLY = "    model_0_clip_end(dram, pad);\n"
CHANGED = "model_1_neg(uint8_t *dram, uint8_t *pad)\n{\n"
FAULTS = {
    "no end": (EARLY, "    (void)model_0_clip_end;\n", "TW7041"),
    "no wait": ("tw_rt_engine_wait(1u, behind);", "(void)behind;", "TW7041"),
    "an input that changes": (CHANGED, CHANGED + "    *(volatile uint8_t *)(pad + CLIP_0_X_PAD_0) = 99u;\n", "TW7041"),
}


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
def test_what_goes_wrong_is_named(plan: Deployment, artifact: Artifact, tmp_path: Path, fault: str) -> None:
    old, new, code = FAULTS[fault]
    with pytest.raises(TilewrightError) as caught:
        run(plan, edited(plan, artifact, old, new), tmp_path)
    assert caught.value.code == code
    assert "kernel 'acme.clip'" in caught.value.message
    assert "step 'job'" in caught.value.message
    assert "acme_npu" in caught.value.where


def test_reports_say_what_runs_beside_what(plan: Deployment) -> None:
    report = build_report(plan, artifacts=False)
    (step,) = [one for one in report["steps"] if "beside" in one]
    assert (step["name"], step["beside"], step["cycles"]["hidden"]) == ("job", [1, 2], 1200.0)
    assert report["cycles"]["total"] == sum(group.cycles for group in plan.allocated.tiled.groups)
    assert "step 0 is computed by 'npu' beside steps 1 to 2, which hides 1,200 cycles of it" in layer_table(report)
