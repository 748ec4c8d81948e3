"""What a run has shown is judged against the reference; here by runners that only pretend to run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper

from tilewright.deployment import Deployment
from tilewright.errors import Exit, TilewrightError
from tilewright.ir.runner import Job, RunResult
from tilewright.testing.cluster import CLUSTER
from tilewright.testing.registry import registry_for
from tilewright.validate.reference import run
from tilewright.verification.validation import Validation, validate, vectors_of


@dataclass(frozen=True, slots=True)
class Pretender:
    """A runner that answers with the reference, moved."""

    deployment: Deployment
    moved: float
    name: str = "pretender"

    def available(self) -> str | None:
        return None

    def run(self, job: Job, folder: Path) -> RunResult:
        operators = self.deployment.registry.operators
        values = [run(self.deployment.graph, inputs, operators) for inputs in job.input_sets]
        written = tuple({"y": (one["y"] + self.moved).astype(np.float32)} for one in values)
        return RunResult(outputs=written, values=written)


@pytest.fixture(name="deployment", scope="module")
def _deployment() -> Deployment:
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [4, 4]) for name in "xy"]
    graph = helper.make_graph([helper.make_node("Sigmoid", ["x"], ["y"], "step")], "g", ends[:1], ends[1:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    return Deployment(model.SerializeToString(), CLUSTER.name, registry=registry_for(CLUSTER))


def judged(deployment: Deployment, moved: float) -> Validation:
    return validate(deployment, Pretender(deployment, moved), vectors_of(deployment, None, 3))


def test_what_equals_the_reference_passes(deployment: Deployment) -> None:
    found = judged(deployment, 0)
    assert (found.passed, found.fault, found.runner, len(found.sets)) == (True, None, "pretender", 3)
    assert (found.data["status"], found.data["sets"], found.data["drift"][0]["within"]) == ("pass", 3, True)
    assert str(found) == repr(found)
    assert str(found).endswith("PASS")


def test_what_does_not_is_a_value_that_says_so(deployment: Deployment) -> None:
    found = judged(deployment, 0.5)
    assert (found.passed, found.data["status"]) == (False, "fail")
    assert [step.exact for step in found.steps] == [output.within for output in found.outputs] == [False]
    assert found.fault is not None
    assert (found.fault.code, found.fault.exit_code) == ("TW6002", Exit.MISMATCH)


def test_vectors_are_drawn_with_the_seed_or_read(deployment: Deployment, tmp_path: Path) -> None:
    once, again = (vectors_of(deployment, None, 2) for _ in range(2))
    assert [np.array_equal(a.inputs["x"], b.inputs["x"]) for a, b in zip(once, again, strict=True)] == [True, True]
    np.savez(tmp_path / "v.npz", **{"set0/in/x": once[0].inputs["x"]})
    (read,) = vectors_of(deployment, tmp_path / "v.npz", 2)
    assert np.array_equal(read.inputs["x"], once[0].inputs["x"])
    with pytest.raises(TilewrightError, match="TW6001"):
        vectors_of(deployment, tmp_path / "none.npz", 2)


def test_a_runner_answers_with_what_it_has_run(deployment: Deployment) -> None:
    class Silent(Pretender):
        def run(self, job: Job, folder: Path) -> Any:
            return None

    with pytest.raises(TilewrightError, match=r"TW8062\]: runner 'pretender': run must return a RunResult, found None"):
        validate(deployment, Silent(deployment, 0.0), vectors_of(deployment, None, 1))
