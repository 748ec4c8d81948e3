"""The host runner: right answers, step by step; and every fault that generated code could have is caught."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tilewright.emit import EmitOptions
from tilewright.errors import Exit, TilewrightError
from tilewright.ir.programs.program import Program
from tilewright.ir.programs.runner import Job, Runner, RunResult
from tilewright.ir.programs.statements import Foreign, KernelCall
from tilewright.runners.host import HostRunner
from tilewright.transform import CodePass

RANDOM = np.random.default_rng(7)
SETS = tuple({"mfcc:0": RANDOM.integers(-128, 128, (1, 10)).astype(np.int8)} for _ in range(3))
RUNNER: Runner = HostRunner()


def harmful(old: str, new: str, step: int = 0) -> CodePass:
    """A pass that puts a mistake into one kernel call."""

    def apply(program: Program, context: object) -> Program:
        *before, call = program.steps[step].body
        assert isinstance(call, KernelCall)
        assert old in str(call.code)
        worse = replace(call, code=Foreign(text=f"{call.code};".replace(old, new)))
        changed = replace(program.steps[step], body=(*before, worse))
        return replace(program, steps=(*program.steps[:step], changed, *program.steps[step + 1 :]))

    return CodePass(name="harm", summary="", apply=apply, default=True)


def run(
    toy: Any, folder: Path, *, io: str = "pool", form: Any = "auto", wanted: tuple[str, ...] = (), passes: Any = (),
    **job: Any,
) -> RunResult:  # fmt: skip
    program = toy.program(toy.graph(), io=io)
    artifact = toy.artifact(program, EmitOptions(const_format=form), wanted=wanted, passes=passes)
    return RUNNER.run(
        Job(artifact=artifact, plan=program.allocated, prefix="toy", input_sets=job.pop("sets", SETS), **job), folder
    )


@pytest.mark.slow
@pytest.mark.parametrize("io", ["pool", "user"])
@pytest.mark.parametrize("form", ["c", "incbin", "bin"])
@pytest.mark.parametrize("sanitize", [False, True])
def test_outputs_and_every_step(toy: Any, tmp_path: Path, io: str, form: Any, sanitize: bool) -> None:
    result = run(toy, tmp_path, io=io, form=form, wanted=("lifetimes",), trace=True, sanitize=sanitize)
    graph = toy.graph()
    for given, outputs, values in zip(SETS, result.outputs, result.values, strict=True):
        np.testing.assert_array_equal(outputs["scores"], toy.expected(graph, given["mfcc:0"]))
        np.testing.assert_array_equal(values["biased"], given["mfcc:0"] + graph.constants["b"])
        np.testing.assert_array_equal(values["turned"], values["biased"][:, ::-1])
        assert list(values) == ["biased", "turned", "again", "scores"]
    assert run(toy, tmp_path / "plain", io=io).values == ()


@pytest.mark.slow
def test_only_the_sets_that_are_traced_show_their_steps(toy: Any, tmp_path: Path) -> None:
    result = run(toy, tmp_path, trace=True, untraced=2)
    seen = run(toy, tmp_path / "all", trace=True)
    assert result.values[:2] == ({}, {}) and len(result.outputs) == len(result.values) == len(SETS)
    for name, array in seen.values[2].items():
        np.testing.assert_array_equal(result.values[2][name], array)
    for given, outputs in zip(SETS, result.outputs, strict=True):
        np.testing.assert_array_equal(outputs["scores"], toy.expected(toy.graph(), given["mfcc:0"]))


def test_floats(toy: Any, tmp_path: Path) -> None:
    program = toy.program(toy.float_graph(), "floats")
    x = np.array([1.5, -0.0, np.inf, 1e-40, -8.0], np.float32)
    job = Job(
        artifact=toy.artifact(program), plan=program.allocated, prefix="floats", input_sets=({"x": x},), trace=True
    )
    result = RUNNER.run(job, tmp_path)
    np.testing.assert_array_equal(result.values[0]["half"], x / 2)
    np.testing.assert_array_equal(result.outputs[0]["y"], x / 4)


FAULTS: dict[str, tuple[CodePass, bool, str]] = {
    "write far beyond the pool": (harmful(", y)", ", y + 30)"), False, "written"),
    "write before the pool": (harmful(", y)", ", y - 60)"), False, "written"),
    "write just beyond, seen by ASan": (harmful("tw_toy_bias(10,", "tw_toy_bias(60,"), True, "AddressSanitizer"),
    "not even C": (harmful("tw_toy_bias(", "tw_toy_bias((", 0), False, "host_main|toy.c"),
    "a warning": (harmful("tw_toy_bias(10,", "tw_toy_bias(10.5,"), False, "conversion"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_are_caught(toy: Any, tmp_path: Path, fault: str) -> None:
    harm, sanitize, said = FAULTS[fault]
    with pytest.raises(TilewrightError, match=said) as caught:
        run(toy, tmp_path, passes=(harm,), sanitize=sanitize)
    assert caught.value.exit_code is Exit.TOOLCHAIN


@pytest.mark.slow
def test_use_of_a_dead_buffer_is_caught(toy: Any, tmp_path: Path) -> None:
    """Step 3 reads what step 2 read: those bytes are dead by then."""
    program = toy.program(toy.graph(length=64), io="user")

    def wrong(program: Program, context: object) -> Program:
        *others, before, step = program.steps
        pointer, *_ = before.body
        return replace(program, steps=(*others, before, replace(step, body=(pointer, *step.body[1:]))))

    stale = CodePass(name="stale", summary="", apply=wrong, default=True)
    sets = ({"mfcc:0": np.zeros((1, 64), np.int8)},)
    for passes, caught in (((), False), ((stale,), True)):
        artifact = toy.artifact(program, wanted=("lifetimes",), passes=passes)
        job = Job(artifact=artifact, plan=program.allocated, prefix="toy", input_sets=sets, sanitize=True)
        if not caught:
            RUNNER.run(job, tmp_path)
            continue
        with pytest.raises(TilewrightError, match="poison"):
            RUNNER.run(job, tmp_path)


def test_wrong_inputs_are_refused(toy: Any, tmp_path: Path) -> None:
    bad: tuple[dict[str, Any], ...]
    for bad in (({},), ({"mfcc:0": np.zeros((1, 10), np.float32)},), ({"mfcc:0": np.zeros(10, np.int8)},)):
        with pytest.raises(TilewrightError) as refused:
            run(toy, tmp_path, sets=bad)
        assert refused.value.code == "TW6020"


def test_a_trace_without_hooks_says_what_is_missing(toy: Any, tmp_path: Path) -> None:
    from tilewright.emit import emit

    program = toy.program(toy.graph())
    artifact = emit(program, EmitOptions())
    job = Job(artifact=artifact, plan=program.allocated, prefix="toy", input_sets=SETS, trace=True)
    with pytest.raises(TilewrightError, match="hooks"):
        RUNNER.run(job, tmp_path)


@pytest.mark.slow
def test_it_stops_what_takes_too_long(toy: Any, tmp_path: Path) -> None:
    endless = harmful("tw_toy_bias(10,", "for (volatile int go = 1; go;) {}\ntw_toy_bias(10,")
    program = toy.program(toy.graph())
    artifact = toy.artifact(program, passes=(endless,))
    with pytest.raises(TilewrightError) as stopped:
        HostRunner(run_seconds=0.5).run(
            Job(artifact=artifact, plan=program.allocated, prefix="toy", input_sets=SETS), tmp_path
        )
    assert stopped.value.code == "TW7004"


@pytest.mark.slow
def test_same_answers_from_the_wheel(toy: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pip alone is enough."""
    pytest.importorskip("ziglang")
    monkeypatch.setenv("CC", f"{sys.executable} -m ziglang cc")
    result = run(toy, tmp_path, form="incbin")
    np.testing.assert_array_equal(result.outputs[0]["scores"], toy.expected(toy.graph(), SETS[0]["mfcc:0"]))


def test_the_compilers_words_reach_the_user(toy: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "no-such-compiler -m32")
    said: Callable[[], str | None] = RUNNER.available
    assert "no-such-compiler" in str(said())
    with pytest.raises(TilewrightError, match="no-such-compiler") as refused:
        run(toy, tmp_path)
    assert refused.value.code == "TW7001"
    assert refused.value.fix
