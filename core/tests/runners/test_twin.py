"""The runner `twin` on programs for one core: same answers as the host, same faults caught, and counts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tilewright.emit import EmitOptions
from tilewright.errors import TilewrightError
from tilewright.ir.programs.program import Program
from tilewright.ir.programs.runner import Job, Runner, RunResult
from tilewright.ir.programs.statements import Foreign, KernelCall
from tilewright.runners.twin import RACE, Execution, TwinRunner
from tilewright.transform import CodePass

RANDOM = np.random.default_rng(7)
SETS = tuple({"mfcc:0": RANDOM.integers(-128, 128, (1, 10)).astype(np.int8)} for _ in range(2))
RUNNER: Runner = TwinRunner()


def harmful(old: str, new: str) -> CodePass:
    """A pass that puts a mistake into the first kernel call."""

    def apply(program: Program, context: object) -> Program:
        *before, call = program.steps[0].body
        assert isinstance(call, KernelCall)
        assert old in str(call.code)
        worse = replace(call, code=Foreign(text=f"{call.code};".replace(old, new)))
        changed = replace(program.steps[0], body=(*before, worse))
        return replace(program, steps=(changed, *program.steps[1:]))

    return CodePass(name="harm", summary="", apply=apply, default=True)


def job_of(toy: Any, *, io: str = "pool", form: Any = "auto", passes: Any = (), **more: Any) -> Job:
    program = toy.program(toy.graph(), io=io)
    artifact = toy.artifact(program, EmitOptions(const_format=form), wanted=(), passes=passes)
    return Job(artifact=artifact, plan=program.allocated, prefix="toy", input_sets=SETS, **more)


@pytest.mark.slow
@pytest.mark.parametrize("io", ["pool", "user"])
@pytest.mark.parametrize("form", ["c", "incbin", "bin"])
def test_outputs_and_every_step(toy: Any, tmp_path: Path, io: str, form: Any) -> None:
    result = RUNNER.run(job_of(toy, io=io, form=form, trace=True, timeline=True), tmp_path)
    graph = toy.graph()
    for given, outputs, values in zip(SETS, result.outputs, result.values, strict=True):
        np.testing.assert_array_equal(outputs["scores"], toy.expected(graph, given["mfcc:0"]))
        np.testing.assert_array_equal(values["biased"], given["mfcc:0"] + graph.constants["b"])
    assert result.kind == "estimate"
    assert "twin" in result.clock
    assert set(result.step_counts) == {node.name for node in graph.nodes}
    assert result.timeline is not None
    assert [span.name for span in result.timeline.spans] == [node.name for node in graph.nodes]


@pytest.mark.slow
def test_the_rest_of_a_long_stream_runs_in_one_order(toy: Any, tmp_path: Path) -> None:
    """The program that is run last, as all but the first, has stopped behind the sets that are not traced."""
    result = RUNNER.run(job_of(toy, trace=True, untraced=1), tmp_path)
    graph = toy.graph()
    for given, outputs in zip(SETS, result.outputs, strict=True):
        np.testing.assert_array_equal(outputs["scores"], toy.expected(graph, given["mfcc:0"]))
    assert result.values[0] == {}
    np.testing.assert_array_equal(result.values[1]["biased"], SETS[1]["mfcc:0"] + graph.constants["b"])
    assert 2 * len((tmp_path / "outputs.bin").read_bytes()) == sum(each["scores"].nbytes for each in result.outputs)
    assert set(result.step_counts) == {node.name for node in graph.nodes}


@pytest.mark.slow
@pytest.mark.parametrize("runner", [TwinRunner(seeds=(0,), modes=("lazy",)), RACE], ids=["sanitized", "race"])
def test_under_sanitizers(toy: Any, tmp_path: Path, runner: Runner) -> None:
    result = runner.run(job_of(toy, sanitize=True), tmp_path)
    np.testing.assert_array_equal(result.outputs[0]["scores"], toy.expected(toy.graph(), SETS[0]["mfcc:0"]))


FAULTS: dict[str, tuple[CodePass, bool, str]] = {
    "far beyond the pool": (harmful(", y)", ", y + 300000)"), False, "TW7111"),
    "before the pool": (harmful(", y)", ", y - 60)"), False, "TW7111"),
    "just beyond the pool": (harmful("tw_toy_bias(10,", "tw_toy_bias(60,"), False, "TW7110"),
    "just beyond, seen by ASan": (harmful("tw_toy_bias(10,", "tw_toy_bias(60,"), True, "TW7115"),
    "depends on what nobody wrote": (harmful("tw_toy_bias(10,", "tw_toy_bias(5,"), False, "TW7112"),
    "not even C": (harmful("tw_toy_bias(", "tw_toy_bias(("), False, "TW7002"),
}


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
def test_faults_are_caught(toy: Any, tmp_path: Path, fault: str) -> None:
    harm, sanitize, code = FAULTS[fault]
    with pytest.raises(TilewrightError) as caught:
        RUNNER.run(job_of(toy, passes=(harm,), sanitize=sanitize), tmp_path)
    assert caught.value.code == code
    if code not in ("TW7002", "TW7112"):
        assert "step '/bias'" in caught.value.where or code == "TW7110"


def test_what_a_run_is_called() -> None:
    assert str(Execution(seed=2, mode="eager")) == "seed 2, eager"


def test_counts_are_plain() -> None:
    assert RunResult(outputs=()).clock == ""
