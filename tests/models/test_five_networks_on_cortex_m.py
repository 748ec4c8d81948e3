"""Five networks on emulated Cortex-M4 and Cortex-M55: every step bit-equal to its reference.

Stack, code, scratch and constants in bounds on every core, from both compilers.

The full cross of networks and cores is `benchmarks/cortex_m.py`; what is counted is in `docs/benchmarks.md`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from networks import INTEGER, NETWORKS, network_file, vectors_file
from tilewright.comparison.verdicts import judge_steps
from tilewright.config.options import Options
from tilewright.deployment import Deployment
from tilewright.ir.programs.runner import Job, Runner
from tilewright.plugins import load_named

CORES = ("m4", "m55")
OTHER_CORES = ("m0plus", "m3", "m7", "m33")
OFTEN = {("m0plus", "gcc"), ("m3", "clang"), ("m7", "gcc"), ("m33", "clang")}  # each of both once, and with both
COMPILERS = {"gcc": "", "clang": "clang"}
STACK_BYTES = 1024
CODE_BYTES = 48 * 1024
SCRATCH_BYTES = 4096


@pytest.fixture(name="runner")
def _runner(tool: Callable[[str], str]) -> Runner:
    for name in ("arm-none-eabi-gcc", "qemu-system-arm", "clang"):
        tool(name)
    return load_named(("runner", "qemu-cortex-m")).runners["qemu-cortex-m"]


@cache
def deployment(name: str, target: str) -> Deployment:
    return Deployment(network_file(name), target)


@cache
def in_one_piece(name: str, target: str) -> Deployment:
    return Deployment(network_file(name), target, Options(tiler="whole"))


def first_inputs(name: str) -> dict[str, np.ndarray]:
    with np.load(vectors_file(name)) as archive:
        return {key.removeprefix("set0/in/"): archive[key] for key in archive.files if key.startswith("set0/in/")}


def job(name: str, target: str, *, trace: bool) -> Job:
    plan = deployment(name, target)
    return Job(
        artifact=plan.artifact,
        plan=plan.allocated,
        prefix=plan.prefix,
        input_sets=(first_inputs(name),),
        trace=trace,
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize("core", CORES)
def test_every_step_is_exact(name: str, core: str, runner: Runner, tmp_path: Path) -> None:
    plan = deployment(name, f"cortex-{core}")
    result = runner.run(job(name, f"cortex-{core}", trace=True), tmp_path)
    executed = [step.name for step in plan.scheduled.steps]
    graph = plan.scheduled.bound.graph
    verdicts = judge_steps(graph, executed, plan.registry.operators, (first_inputs(name),), result.values)
    assert [verdict.name for verdict in verdicts if not verdict.exact] == []
    assert len(verdicts) == len(executed)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "limit", "slower"), [("resnet8_int8", 49_664, 1), ("kws_int8", 16_000, 4)])
def test_every_step_is_exact_with_kernels_of_less_scratch(
    name: str, limit: int, slower: int, runner: Runner, tmp_path: Path
) -> None:
    """Where the fastest kernels do not fit, the steps whose scratch is in the way have others."""
    plan = Deployment(network_file(name), "cortex-m4", Options(memory={"ram": limit}, tiler="whole"))
    short = Job(
        artifact=plan.artifact, plan=plan.allocated, prefix=plan.prefix, input_sets=(first_inputs(name),), trace=True
    )
    executed = [step.name for step in plan.scheduled.steps]
    result = runner.run(short, tmp_path)
    graph = plan.scheduled.bound.graph
    verdicts = judge_steps(graph, executed, plan.registry.operators, (first_inputs(name),), result.values)
    assert [verdict.name for verdict in verdicts if not verdict.exact] == []
    (note,) = (item for item in plan.diagnostics if item.code == "TW5035")
    assert (note.severity, len(note.details)) == ("note", slower)
    assert plan.worst_case_buffer_size["ram"] <= limit < in_one_piece(name, "cortex-m4").worst_case_buffer_size["ram"]


def test_rows_with_the_fastest_kernels_come_before_slower_ones_in_one_piece() -> None:
    """Both fit: four convolutions in portable C would take more than twice as long."""
    plan = Deployment(network_file("kws_int8"), "cortex-m4", Options(memory={"ram": 16_000}))
    free = Deployment(network_file("kws_int8"), "cortex-m4", Options())
    assert plan.worst_case_buffer_size == free.worst_case_buffer_size
    assert [item for item in plan.diagnostics if item.code == "TW5035"] == []


@pytest.mark.slow
@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize("core", CORES)
def test_stack_and_code_stay_small(
    name: str, core: str, compiler: str, runner: Runner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TILEWRIGHT_ARM_CC", COMPILERS[compiler])
    counts = runner.run(job(name, f"cortex-{core}", trace=False), tmp_path).counts
    assert 0 < counts["stack_bytes"] <= STACK_BYTES
    assert 0 < counts["code_bytes"] <= CODE_BYTES


@pytest.mark.slow
@pytest.mark.parametrize(
    ("core", "compiler"),
    [
        pytest.param(core, compiler, marks=() if (core, compiler) in OFTEN else pytest.mark.long)
        for core in OTHER_CORES
        for compiler in COMPILERS
    ],
)
def test_code_of_the_largest_network_on_the_other_cores(
    core: str, compiler: str, runner: Runner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TILEWRIGHT_ARM_CC", COMPILERS[compiler])
    counts = runner.run(job("vww_int8", f"cortex-{core}", trace=False), tmp_path).counts
    assert 0 < counts["stack_bytes"] <= STACK_BYTES
    assert 0 < counts["code_bytes"] <= CODE_BYTES


@pytest.mark.slow
@pytest.mark.parametrize("name", INTEGER)
@pytest.mark.parametrize("core", (*OTHER_CORES, *CORES))
def test_scratch_and_constants_are_little_more_than_portable_code_needs(name: str, core: str) -> None:
    needed = deployment(name, f"cortex-{core}").worst_case_buffer_size
    portable = in_one_piece(name, "generic").worst_case_buffer_size
    assert needed["ram"] <= portable["ram"] + SCRATCH_BYTES
    assert needed["flash"] <= 1.1 * portable["flash"]  # which holds weights, biases and multipliers, and no padding
