"""The runner `qemu-cortex-m`: right answers on every core, faults by name, counts exact to the instruction."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from tilewright.cli.main import tilewright
from tilewright.comparison.reference import run as run_reference
from tilewright.comparison.vectors import random_vectors
from tilewright.comparison.verdicts import judge_steps
from tilewright.config.options import Options
from tilewright.deployment import Deployment
from tilewright.errors import Exit, TilewrightError
from tilewright.ir.plans.stages import Artifact
from tilewright.ir.programs.runner import Job, RunResult
from tilewright_cortexm.cores import CORES
from tilewright_cortexm.qemu.runner import QemuRunner
from tilewright_cortexm.qemu.tools import missing_tools

CORE_NAMES = tuple(core.name for core in CORES)
DIGITS = Path(__file__).resolve().parents[4] / "examples" / "digits"
FIRST_STEP = "TW_STEP void"


@pytest.fixture(autouse=True)
def _tools(tool: Callable[[str], str]) -> None:
    for name in ("arm-none-eabi-gcc", "qemu-system-arm"):
        tool(name)


@cache
def deployment(core: str, model: str = "digits_int8") -> Deployment:
    return Deployment(DIGITS / f"{model}.onnx", f"cortex-{core}")


def job_for(plan: Deployment, *, sets: int = 1, trace: bool = False, artifact: Artifact | None = None) -> Job:
    drawn = random_vectors(plan.inputs, sets, seed=1)
    return Job(
        artifact=artifact or plan.artifact,
        plan=plan.allocated,
        prefix=plan.prefix,
        input_sets=tuple(item.inputs for item in drawn),
        trace=trace,
    )


def with_code(plan: Deployment, statements: str, above: str = "") -> Artifact:
    """The generated files with `statements` at the beginning of the first step."""
    name = f"{plan.prefix}.c"
    text = plan.artifact.files[name].decode("ascii")
    start = text.index(FIRST_STEP)
    body = text.index("{", start) + 1
    changed = f"{text[:start]}{above}\n{text[start:body]}\n    {statements}{text[body:]}"
    return Artifact(files={**plan.artifact.files, name: changed.encode("ascii")})


def count(plan: Deployment, folder: Path, statements: str) -> RunResult:
    return QemuRunner().run(job_for(plan, artifact=with_code(plan, statements)), folder)


def failure(core: str, folder: Path, statements: str, above: str = "") -> str:
    plan = deployment(core)
    runner = replace(QemuRunner(), run_seconds=20.0)
    with pytest.raises(TilewrightError) as failed:
        runner.run(job_for(plan, artifact=with_code(plan, statements, above), trace=True), folder)
    assert failed.value.exit_code is Exit.TOOLCHAIN
    return str(failed.value)


@pytest.mark.slow
@pytest.mark.parametrize("model", ["digits_int8", "digits_f32"])
@pytest.mark.parametrize("core", CORE_NAMES)
def test_every_step_is_exact_on_every_core(core: str, model: str, tmp_path: Path) -> None:
    plan = deployment(core, model)
    job = job_for(plan, sets=2, trace=True)
    result = QemuRunner().run(job, tmp_path)
    executed = [step.name for step in plan.scheduled.steps]
    graph = plan.scheduled.bound.graph
    verdicts = judge_steps(graph, executed, plan.registry.operators, job.input_sets, result.values)
    assert [verdict.name for verdict in verdicts if not verdict.exact] == []
    assert len(verdicts) == len(executed)


@pytest.mark.slow
@pytest.mark.parametrize("core", CORE_NAMES)
def test_the_counted_run_computes_the_same_and_is_the_sum_of_its_steps(core: str, tmp_path: Path) -> None:
    plan = deployment(core)
    job = job_for(plan, sets=2)
    result = QemuRunner().run(job, tmp_path)
    for inputs, outputs in zip(job.input_sets, result.outputs, strict=True):
        values = run_reference(plan.graph, inputs, plan.registry.operators)
        for name, got in outputs.items():
            np.testing.assert_array_equal(got, values[name])
    assert result.kind == "measured"
    assert list(result.step_counts) == [step.name for step in plan.scheduled.steps]
    in_steps = sum(counts["instructions"] for counts in result.step_counts.values())
    assert 0 < result.counts["instructions"] - in_steps < 2000  # the run function, and copies at the border
    by_class = sum(number for name, number in result.counts.items() if name.startswith("instructions."))
    assert by_class == result.counts["instructions"]
    of_steps = sum(counts["modelled_cycles"] for counts in result.step_counts.values())
    assert 0.5 * by_class < of_steps <= result.counts["modelled_cycles"]
    assert max(counts["stack_bytes"] for counts in result.step_counts.values()) <= result.counts["stack_bytes"] + 64
    assert 0 < result.counts["stack_bytes"] < 1024
    assert result.counts["code_bytes"] > 1000


@pytest.mark.slow
@pytest.mark.parametrize("core", CORE_NAMES)
def test_counts_are_exact_on_a_loop_that_is_known(core: str, tmp_path: Path) -> None:
    plan = deployment(core)
    step = plan.scheduled.steps[0].name
    loop = (
        "{{ volatile uint32_t trips = {0}u; uint32_t n = trips; "
        '__asm__ volatile(".syntax unified\\n1: subs %0, %0, #1\\n\\tbne 1b" : "+l"(n) : : "cc"); }}'
    )
    short, long = (count(plan, tmp_path / str(n), loop.format(n)).step_counts[step] for n in (100_000, 200_000))
    assert long["instructions"] - short["instructions"] == 200_000
    assert long["instructions.branch"] - short["instructions.branch"] == 100_000
    assert long["instructions.other"] - short["instructions.other"] == 100_000


def test_counts_are_the_same_every_time_and_see_seven_nops(tmp_path: Path) -> None:
    plan = deployment("m4")
    step = plan.scheduled.steps[0].name
    none = '__asm__ volatile("" : : : "memory");'
    seven = '__asm__ volatile("nop\\n\\tnop\\n\\tnop\\n\\tnop\\n\\tnop\\n\\tnop\\n\\tnop" : : : "memory");'
    one, again, more = (
        count(plan, tmp_path / str(index), code).step_counts[step] for index, code in enumerate((none, none, seven))
    )
    assert one == again
    assert more["instructions"] - one["instructions"] == 7


def test_multiply_classes_are_told_apart(tmp_path: Path) -> None:
    plan = deployment("m55")
    step = plan.scheduled.steps[0].name
    none = '{ volatile uint32_t v = 3u; uint32_t a = v; __asm__ volatile("" : "+r"(a)); }'
    code = (
        "{ volatile uint32_t v = 3u; uint32_t a = v; "
        '__asm__ volatile("smlad %0, %0, %0, %0\\n\\tmul %0, %0, %0\\n\\tudiv %0, %0, %0\\n\\tvmov.i32 q0, #1\\n\\t'
        'vmladav.s8 r0, q0, q0\\n\\tvadd.f32 s0, s0, s0" : "+r"(a) : : "r0", "q0"); }'
    )
    plain, busy = (
        count(plan, tmp_path / str(index), text).step_counts[step] for index, text in enumerate((none, code))
    )
    grown = {name: busy[name] - plain.get(name, 0) for name in busy if name.startswith("instructions.")}
    expected = {"simd_multiply": 1, "multiply": 1, "divide": 1, "vector": 1, "vector_multiply": 1, "float": 1}
    classes = {name.partition(".")[2]: number for name, number in grown.items() if number}
    assert {name: number for name, number in classes.items() if name != "other"} == expected  # other: registers saved


@pytest.mark.parametrize("core", CORE_NAMES)
@pytest.mark.parametrize(
    ("statements", "said"),
    [
        ("*(volatile int *)0xF0000000u = 1;", "access where nothing is (PRECISERR); address 0xf0000000"),
        ('__asm__ volatile(".inst.n 0xde00");', "undefined instruction (UNDEFINSTR)"),
        ("((void (*)(void))0x20002000u)();", "jump to an even address (INVSTATE)"),
    ],
)
def test_a_fault_is_named_and_placed(core: str, statements: str, said: str, tmp_path: Path) -> None:
    text = failure(core, tmp_path, statements)
    assert said in text
    assert "failed with exit status 139" in text
    if "INVSTATE" not in said:
        assert f"in function {deployment(core).prefix}_0_" in text


@pytest.mark.parametrize("core", CORE_NAMES)
def test_a_stack_overflow_is_named(core: str, tmp_path: Path) -> None:
    above = (
        "int tw_deep(int n);\n"
        "int tw_deep(int n) { volatile char b[256]; b[0] = (char)n; return n ? tw_deep(n - 1) + b[0] : 0; }"
    )
    assert "fault: stack overflow" in failure(core, tmp_path, "(void)tw_deep(100000);", above)


def test_m0plus_meets_a_core_that_traps_unaligned_words(tmp_path: Path) -> None:
    odd = "{ volatile uintptr_t odd = 0x20003001u; *(volatile int *)odd = 1; }"
    assert "unaligned access (UNALIGNED)" in failure("m0plus", tmp_path, odd)


def test_a_write_beyond_a_pool_is_found(tmp_path: Path) -> None:
    plan = deployment("m4")
    pool = next(pool for pool in plan.allocated.pools if pool.kind == "ram")
    assert "written beyond its end: ram" in failure("m4", tmp_path, f"ram[{pool.used_bytes}] = 1;")


def test_a_program_that_never_ends_is_stopped(tmp_path: Path) -> None:
    plan = deployment("m3")
    runner = replace(QemuRunner(), run_seconds=2.0)
    with pytest.raises(TilewrightError) as stopped:
        runner.run(job_for(plan, artifact=with_code(plan, "for (;;) {}"), trace=True), tmp_path)
    assert stopped.value.code == "TW7004"


def test_constants_may_come_from_a_file(tmp_path: Path) -> None:
    whole = deployment("m4")
    plan = Deployment(whole.model, whole.target, replace(whole.options, const_format="bin"))
    job = job_for(plan)
    (outputs,) = QemuRunner().run(job, tmp_path).outputs
    values = run_reference(plan.graph, job.input_sets[0], plan.registry.operators)
    for name, got in outputs.items():
        np.testing.assert_array_equal(got, values[name])


def test_code_that_does_not_compile_shows_the_compilers_words(tmp_path: Path) -> None:
    plan = deployment("m4")
    with pytest.raises(TilewrightError) as refused:
        QemuRunner().run(job_for(plan, artifact=with_code(plan, "undeclared = 1;")), tmp_path)
    assert refused.value.code == "TW7002"
    assert "undeclared" in str(refused.value)


def test_what_is_missing_is_named_with_its_package(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    said = missing_tools()
    assert said is not None
    assert "apt install gcc-arm-none-eabi libnewlib-arm-none-eabi qemu-system-arm" in said
    with pytest.raises(TilewrightError) as refused:
        QemuRunner().run(job_for(deployment("m4")), tmp_path)
    assert refused.value.code == "TW7001"


@pytest.mark.slow
@pytest.mark.parametrize("core", CORE_NAMES)
def test_optimised_for_size_it_is_smaller_and_computes_the_same(core: str, tmp_path: Path) -> None:
    plan = deployment(core)
    job = job_for(plan)
    fast, small = (
        replace(QemuRunner(), optimise=level).run(job, tmp_path / level.strip("-")) for level in ("-O2", "-Os")
    )
    for name, got in small.outputs[0].items():
        np.testing.assert_array_equal(got, fast.outputs[0][name])
    assert small.counts["code_bytes"] < fast.counts["code_bytes"]


@pytest.mark.parametrize("core", CORE_NAMES)
def test_clang_builds_it_too(
    core: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, tool: Callable[[str], str]
) -> None:
    monkeypatch.setenv("TILEWRIGHT_ARM_CC", tool("clang"))
    plan = deployment(core)
    job = job_for(plan)
    result = QemuRunner().run(job, tmp_path)
    values = run_reference(plan.graph, job.input_sets[0], plan.registry.operators)
    for name, got in result.outputs[0].items():
        np.testing.assert_array_equal(got, values[name])
    assert result.counts["instructions"] > 1000


def test_bench_says_the_same_as_text_and_as_json() -> None:
    arguments = ["bench", str(DIGITS / "digits_int8.onnx"), "-t", "cortex-m4", "--on", "qemu-cortex-m"]
    text = CliRunner().invoke(tilewright, arguments, catch_exceptions=False)
    data = CliRunner().invoke(tilewright, [*arguments, "--json", "-"], catch_exceptions=False)
    bench = json.loads(data.stdout)
    assert bench["kind"] == "measured"
    assert bench["target"]["settings"]["core"] == "m4"
    assert sum(bench["instructions_by_class"].values()) == bench["instructions"]
    assert [step["id"] for step in bench["steps"]] == list(range(len(bench["steps"])))
    assert all(step["instructions"] > 0 and step["stack_bytes"] >= 0 for step in bench["steps"])
    assert f"{bench['instructions']:,}" in text.stdout
    assert f"{bench['stack_bytes']:,}" in text.stdout


def test_bench_counts_a_network_that_takes_rows() -> None:
    """The functions of a run are others where rows pass."""
    asked = ["bench", str(DIGITS / "digits_int8.onnx"), "-t", "cortex-m4", "--on", "qemu-cortex-m", "--io", "push"]
    data = CliRunner().invoke(tilewright, [*asked, "--optimize", "ram", "--json", "-"], catch_exceptions=False)
    bench = json.loads(data.stdout)
    assert bench["instructions"] > sum(step.get("instructions", 0) for step in bench["steps"]) > 0


def test_a_network_that_prints_runs_where_there_is_no_console(tmp_path: Path) -> None:
    plan = Deployment(DIGITS / "digits_int8.onnx", "cortex-m4", Options(code_passes={"print-tensors": {}}))
    assert b"TW_PRINT(" in plan.artifact.files["digits_int8.c"]
    (outputs,) = QemuRunner().run(job_for(plan), tmp_path / "printing").outputs
    (silent,) = QemuRunner().run(job_for(deployment("m4")), tmp_path / "silent").outputs
    np.testing.assert_array_equal(outputs["scores"], silent["scores"])


def test_bench_on_a_runner_that_counts_nothing_says_so(tool: Callable[[str], str]) -> None:
    tool("gcc")
    model = str(DIGITS / "digits_int8.onnx")
    with pytest.raises(TilewrightError) as refused:
        CliRunner().invoke(tilewright, ["bench", model, "-t", "generic"], catch_exceptions=False)
    assert refused.value.code == "TW7011"
