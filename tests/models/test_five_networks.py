"""Networks of every family, end to end on `generic`: results, memory, flash, and what the object file may hold."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from networks import INTEGER, MORE_NETWORKS, NETWORKS, network_file, vectors_file
from tilewright.comparison.reference import run as run_reference
from tilewright.comparison.verdicts import judge_steps
from tilewright.config.options import Options
from tilewright.deployment import Deployment
from tilewright.ir.programs.runner import Job, RunResult
from tilewright.plugins import load_named
from tilewright.report.report_json import build_report
from tilewright.snapshot.atomic_folder import write_folder

INT8 = INTEGER
ALL = (*NETWORKS, *MORE_NETWORKS)
ACTIVATION_BYTES = {"kws_int8": 16_000, "resnet8_int8": 49_152, "vww_int8": 55_296, "ad_int8": 768}
SCRATCH_BYTES = 2_048


@cache
def deployment(name: str) -> Deployment:
    return Deployment(network_file(name), "generic")


@cache
def vectors(name: str) -> dict[str, np.ndarray]:
    with np.load(vectors_file(name)) as archive:
        return {key: archive[key] for key in archive.files}


def inputs_of(name: str) -> tuple[dict[str, np.ndarray], ...]:
    sets = sorted({key.split("/")[0] for key in vectors(name)})
    return tuple({tensor: vectors(name)[f"{one}/in/{tensor}"] for tensor in deployment(name).inputs} for one in sets)


def run(name: str, folder: Path, *, sanitize: bool) -> RunResult:
    plan = deployment(name)
    job = Job(
        artifact=plan.artifact,
        plan=plan.allocated,
        prefix=plan.prefix,
        input_sets=inputs_of(name),
        trace=True,
        sanitize=sanitize,
    )
    return load_named(("runner", "host")).runners["host"].run(job, folder)


def with_clang(name: str) -> object:
    """Bytes, floats, attention and a recurrence always."""
    always = name in ("kws_int8", "resnet8_f32", "attention_int8", "recurrent_f32")
    return pytest.param("clang", name, marks=() if always else pytest.mark.long)


@pytest.mark.slow
@pytest.mark.parametrize(("compiler", "name"), [*(("gcc", name) for name in ALL), *map(with_clang, ALL)])
def test_every_step_is_exact(
    compiler: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tool: Callable[[str], str]
) -> None:
    """Integer steps bit-equal to the reference on the same inputs, float steps inside the error model; sanitized."""
    monkeypatch.setenv("CC", tool(compiler))
    plan = deployment(name)
    result = run(name, tmp_path, sanitize=True)
    executed = [step.name for step in plan.scheduled.steps]
    graph = plan.scheduled.bound.graph
    verdicts = judge_steps(graph, executed, plan.registry.operators, inputs_of(name), result.values)
    assert [verdict.name for verdict in verdicts if not verdict.exact] == []
    assert len(verdicts) == len(executed)
    for index, outputs in enumerate(result.outputs):
        for tensor, got in outputs.items():
            expected = vectors(name).get(f"set{index}/out_fused/{tensor}", vectors(name)[f"set{index}/out/{tensor}"])
            assert np.argmax(got) == np.argmax(expected)
            limit = 1 if got.dtype.kind in "iu" else 1e-5 * max(1, np.max(np.abs(expected)))
            assert np.max(np.abs(got.astype(np.float64) - expected)) <= limit


@pytest.mark.parametrize("name", INT8)
def test_activations_take_no_more_than_the_operator_level_optimum(name: str) -> None:
    plan = Deployment(network_file(name), "generic", Options(tiler="whole")).allocated
    scratch = max([0, *(buffer.size_bytes for buffer in plan.tiled.buffers if buffer.kind == "scratch")])
    used = sum(pool.used_bytes for pool in plan.pools if pool.kind == "ram")
    assert scratch <= SCRATCH_BYTES
    assert used <= ACTIVATION_BYTES[name] + scratch
    assert all(pool.optimal for pool in plan.pools if pool.kind == "ram")
    assert deployment(name).worst_case_buffer_size["ram"] <= used  # outputs over what their steps read


@pytest.mark.parametrize("name", INT8)
def test_constants_are_weights_biases_and_multipliers_and_little_more(name: str) -> None:
    """At most 10 % over one byte for each weight, four for each bias and each multiplier."""
    plan = deployment(name)
    needed = 0
    for site in plan.graph.sites():
        if site.node.op in ("QConv", "QGemm"):
            weights = plan.graph.tensors[site.node.inputs[1]]
            needed += weights.elements + 8 * site.output.shape[1 if site.node.op == "QConv" else -1]
    used = sum(pool.used_bytes for pool in plan.allocated.pools if pool.kind == "const")
    assert needed <= used <= 1.1 * needed


@pytest.mark.parametrize("name", ALL)
def test_no_transpose_is_executed(name: str) -> None:
    steps = {site.node.op for site in deployment(name).scheduled.bound.graph.sites()}
    executed = {step.name for step in deployment(name).scheduled.steps}
    moved = [
        site.node.name
        for site in deployment(name).scheduled.bound.graph.sites()
        if site.node.op in ("Transpose", "Reshape") and site.node.name in executed
    ]
    assert moved == [] and steps


@pytest.mark.parametrize("name", INT8)
def test_only_integer_operators_are_left(name: str) -> None:
    graph = deployment(name).graph
    assert [tensor.name for tensor in graph.tensors.values() if tensor.dtype.is_float] == []


def test_dead_channels_of_vww_are_gone_and_nothing_changed() -> None:
    plan = deployment("vww_int8")
    operators = plan.registry.operators
    assert plan.number_of_ops <= 3_800_000
    for given in inputs_of("vww_int8"):
        whole = run_reference(plan.imported.graph, given, operators)
        thin = run_reference(plan.graph, given, operators)
        for tensor in plan.outputs:
            assert np.max(np.abs(whole[tensor].astype(int) - thin[tensor].astype(int))) <= 1


@pytest.mark.slow
@pytest.mark.parametrize("name", ALL)
def test_the_object_writes_nothing_but_the_pools(name: str, tmp_path: Path, tool: Callable[[str], str]) -> None:
    plan = deployment(name)
    write_folder(tmp_path, plan.artifact.files)
    subprocess.run(
        [tool("gcc"), "-std=c11", "-O2", "-c", f"{plan.prefix}.c", "-o", "model.o"], cwd=tmp_path, check=True
    )
    sizes = subprocess.run(["size", "-A", "model.o"], cwd=tmp_path, check=True, capture_output=True, text=True).stdout
    written = {
        line.split()[0]: int(line.split()[1]) for line in sizes.splitlines() if line.startswith((".data", ".bss"))
    }
    assert sum(written.values()) == 0, sizes


@pytest.mark.parametrize("name", ALL)
def test_the_report_agrees_with_the_plan(name: str) -> None:
    plan = deployment(name)
    report = build_report(plan)
    assert report["macs"] == plan.number_of_ops
    assert [step["name"] for step in report["steps"]] == [step.name for step in plan.scheduled.steps]
    assert all(step["onnx_nodes"] for step in report["steps"])
    peak = max(step["peak_bytes"] for step in report["steps"])
    assert peak <= sum(pool["used_bytes"] for pool in report["pools"] if pool["kind"] == "ram")
