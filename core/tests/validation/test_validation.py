"""What a run has shown is judged against the reference; here by runners that only pretend to run."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from onnx import TensorProto, helper, numpy_helper

from tilewright.comparison.reference import run
from tilewright.deployment import Deployment
from tilewright.errors import Exit, TilewrightError
from tilewright.ir.graphs.carried_errors import own_limits
from tilewright.ir.graphs.evaluation import results
from tilewright.ir.programs.runner import Job, RunResult
from tilewright.report.plain_text import json_text
from tilewright.testing.cluster import CLUSTER, registry_for
from tilewright.validation.validation import Validation, validate, vectors_of


@dataclass(frozen=True, slots=True)
class Pretender:
    """A runner that answers with the reference, moved."""

    deployment: Deployment
    moved: float
    lost: float = 0.0  # on the way from the last step to who asked
    name: str = "pretender"

    def available(self) -> str | None:
        return None

    def run(self, job: Job, folder: Path) -> RunResult:
        operators = self.deployment.registry.operators
        values = [run(self.deployment.graph, inputs, operators) for inputs in job.input_sets]
        written = tuple({"y": (one["y"] + self.moved).astype(np.float32)} for one in values)
        return RunResult(outputs=tuple({"y": one["y"] + np.float32(self.lost)} for one in written), values=written)


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


def test_what_is_lost_behind_the_last_step_is_a_fault(deployment: Deployment) -> None:
    found = validate(deployment, Pretender(deployment, 0, lost=2.0**-20), vectors_of(deployment, None, 1))
    assert [step.exact for step in found.steps] == [True]
    assert [(output.within, output.as_written) for output in found.outputs] == [(False, False)]
    assert found.fault is not None
    assert "hands out something else" in found.fault.message


def test_expected_values_with_infinities_are_json(deployment: Deployment, tmp_path: Path) -> None:
    x, y = np.zeros((4, 4), np.float32), np.full((4, 4), 0.5, np.float32)
    y[0, 0] = np.inf
    np.savez(tmp_path / "v.npz", **{"set0/in/x": x, "set0/out/y": y})
    found = validate(deployment, Pretender(deployment, 0), vectors_of(deployment, tmp_path / "v.npz", 1))
    assert (found.passed, found.outputs[0].different) == (False, 1)
    assert json.loads(json_text(found.data))["status"] == "fail"


@dataclass(frozen=True, slots=True)
class Rounder:
    """A runner whose float steps are as far off as their error model has it, each element either way."""

    deployment: Deployment
    seed: int
    name: str = "rounder"

    def available(self) -> str | None:
        return None

    def run(self, job: Job, folder: Path) -> RunResult:
        graph, operators = self.deployment.scheduled.bound.graph, self.deployment.registry.operators
        drawn, written = np.random.default_rng(self.seed), []
        for inputs in job.input_sets:
            values: dict[str, npt.NDArray[Any]] = {**graph.constants, **inputs}
            for site in graph.sites():
                arrays = [values[name] if name else None for name in site.node.inputs]
                (found,), (limit,) = (make(operators[site.node.op], site, arrays) for make in (results, own_limits))
                moved = found + 0.5 * limit * drawn.choice((-1.0, 1.0), found.shape)
                values[site.node.outputs[0]] = np.asarray(moved).astype(found.dtype)
            written.append({name: array for name, array in values.items() if name not in graph.constants})
        outputs = tuple({name: values[name] for name in graph.outputs} for values in written)
        return RunResult(outputs=outputs, values=tuple(written))


def resized_between_quantisations() -> bytes:
    """Halves of steps, rounded to even or not, then a product that makes more of them: a bilinear Resize by two, which
    is computed in float where it is asked to keep from aliasing.
    """
    drawn, node = np.random.default_rng(0), helper.make_node
    ends = [
        helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 4, 12, 12]),
        helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 8, 24, 24]),
    ]
    constants = {
        "s": np.array(0.0137, np.float32),
        "z": np.array(0, np.int8),
        "z16": np.array(0, np.int16),
        "sw": np.array(0.01, np.float32),
        "w": drawn.integers(-127, 128, (8, 4, 3, 3), np.int8),
        "sizes": np.array([1, 1, 2, 2], np.float32),
        "sy": np.array(0.05, np.float32),
    }
    nodes = [
        node("QuantizeLinear", ["x", "s", "z"], ["xq"]),
        node("DequantizeLinear", ["xq", "s", "z"], ["xd"]),
        node("Resize", ["xd", "", "sizes"], ["u"], mode="linear", antialias=1),
        node("QuantizeLinear", ["u", "s", "z16"], ["uq"]),
        node("DequantizeLinear", ["uq", "s", "z16"], ["ud"]),
        node("DequantizeLinear", ["w", "sw", "z"], ["wd"]),
        node("Conv", ["ud", "wd"], ["c"], kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
        node("QuantizeLinear", ["c", "sy", "z"], ["yq"]),
        node("DequantizeLinear", ["yq", "sy", "z"], ["y"]),
    ]
    stored = [numpy_helper.from_array(array, name) for name, array in constants.items()]
    graph = helper.make_graph(nodes, "g", ends[:1], ends[1:], stored)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    return bytes(model.SerializeToString())


def test_the_verdict_does_not_depend_on_luck() -> None:
    """Roundings inside the error models, which other steps make more of, are right however they fall."""
    deployment = Deployment(resized_between_quantisations(), CLUSTER.name, registry=registry_for(CLUSTER))
    assert "Resample" in {node.op for node in deployment.scheduled.bound.graph.nodes}
    for seed in range(4):
        found = validate(deployment, Rounder(deployment, seed), vectors_of(deployment, None, 1 + seed % 2))
        assert found.outputs[0].max_difference >= 0.05, "a whole step of the output, at least"
        assert found.passed, str(found)
        assert "PASS" in str(found)


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
