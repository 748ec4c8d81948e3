"""Sums too long for the scratchpad, computed in parts on the twin: float layers, and a network of bytes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from networks import network_file, vectors_file
from tilewright.comparison.verdicts import judge_steps
from tilewright.config.options import Options
from tilewright.deployment import Deployment
from tilewright.emit import EmitOptions, emit
from tilewright.errors import TilewrightError
from tilewright.ir.access.index_map import Access
from tilewright.ir.programs.runner import Job
from tilewright.lower import lower
from tilewright.runners.twin import RACE, TwinRunner
from tilewright.testing.cluster import CLUSTER, registry_for
from tilewright.transform import transform


def saved(path: Path) -> Path:
    """A convolution over 80 channels, and a matrix product over 1,100 inputs."""
    numbers = np.random.default_rng(0)

    def constant(name: str, *shape: int) -> onnx.TensorProto:
        return numpy_helper.from_array(numbers.standard_normal(shape).astype(np.float32), name)

    nodes = [
        helper.make_node("Conv", ["x", "w", "b"], ["c"], pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["c"], ["r"]),
        helper.make_node("Flatten", ["r"], ["f"]),
        helper.make_node("Gemm", ["f", "m", "v"], ["y"], transB=1),
    ]
    values = [constant("w", 11, 80, 3, 3), constant("b", 11), constant("m", 10, 1100), constant("v", 10)]
    x, y = (
        helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
        for name, shape in (("x", [1, 80, 10, 10]), ("y", [1, 10]))
    )
    model = helper.make_model(
        helper.make_graph(nodes, "sums", [x], [y], values), opset_imports=[helper.make_opsetid("", 17)]
    )
    onnx.save(model, str(path))
    return path


def deployment(model: Path, scratchpad_bytes: int) -> Deployment:
    registry = registry_for(CLUSTER)
    return Deployment(model, CLUSTER.name, Options(memory={"l1": scratchpad_bytes}), registry)


def access_of(plan: Deployment, step: str) -> Access:
    return plan.scheduled.bound.layers[step].access


def steps_in_parts(plan: Deployment) -> list[str]:
    found = []
    for group in plan.tiled.groups:
        cut = {name for hop in group.region.hops for name, _ in hop.nest}
        if len(group.steps) == 1 and any(
            loop.kind == "reduce" and loop.name in cut for loop in access_of(plan, group.name).loops
        ):
            found.append(group.name)
    return found


def job_of(plan: Deployment, inputs: dict[str, np.ndarray]) -> Job:
    program = lower(plan.allocated, plan.registry.operators, plan.prefix)
    code = emit(transform(program, tuple(plan.registry.code_passes.values()), ("lifetimes",)), EmitOptions())
    return Job(artifact=code, plan=plan.allocated, prefix=plan.prefix, input_sets=(inputs,), trace=True)


def inexact(plan: Deployment, job: Job, values: object) -> list[str]:
    executed = [step.name for step in plan.scheduled.steps]
    graph, operators = plan.scheduled.bound.graph, plan.registry.operators
    verdicts = judge_steps(graph, executed, operators, job.input_sets, values)
    assert verdicts
    return [verdict.name for verdict in verdicts if not verdict.exact]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("runner", "scratchpad_bytes"),
    [(TwinRunner(), 4608), (TwinRunner(), 12288), (RACE, 4608)],
    ids=["twin", "twin with room", "race"],
)
def test_layers_in_parts(runner: TwinRunner, scratchpad_bytes: int, tmp_path: Path) -> None:
    plan = deployment(saved(tmp_path / "sums.onnx"), scratchpad_bytes)
    assert len(steps_in_parts(plan)) == 2
    assert plan.worst_case_buffer_size["l1"] + CLUSTER.runtime_bytes["l1"] <= scratchpad_bytes
    job = job_of(plan, {"x": np.random.default_rng(1).standard_normal((1, 80, 10, 10)).astype(np.float32)})
    result = runner.run(job, tmp_path)
    assert inexact(plan, job, result.values) == []
    if runner is not RACE:
        estimate = sum(group.cycles for group in plan.tiled.groups)
        assert result.counts["cycles"] == pytest.approx(estimate, rel=0.15)


def test_nothing_is_computed_in_parts_where_that_gains_nothing() -> None:
    """Sums come and go in every part: reductions stay whole where a step is near what it takes at least."""
    assert steps_in_parts(deployment(network_file("resnet8_int8"), 65536)) == []


def test_what_does_not_fit_in_parts_either_says_what_would_do(tmp_path: Path) -> None:
    with pytest.raises(TilewrightError) as caught:
        _ = deployment(saved(tmp_path / "sums.onnx"), CLUSTER.runtime_bytes["l1"] + 64).tiled
    assert caught.value.code == "TW5101"
    assert any("--memory l1=" in line for line in caught.value.fix)


@pytest.mark.slow
def test_bytes_in_parts(tmp_path: Path) -> None:
    plan = deployment(network_file("resnet8_int8"), CLUSTER.runtime_bytes["l1"] + 584)
    assert steps_in_parts(plan)
    with np.load(vectors_file("resnet8_int8")) as archive:
        inputs = {tensor: archive[f"set0/in/{tensor}"] for tensor in plan.inputs}
    job = job_of(plan, inputs)
    assert inexact(plan, job, TwinRunner(seeds=(3,)).run(job, tmp_path).values) == []
