"""The runner `qemu-riscv32`: exact answers on any cluster, faults by name, counts exact to the instruction."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tilewright.api.testing import CLUSTER
from tilewright.comparison.vectors import random_vectors
from tilewright.comparison.verdicts import judge_steps
from tilewright.config.options import Options
from tilewright.deployment import Deployment
from tilewright.errors import Exit, TilewrightError
from tilewright.ir.machines.platform import Memory, Platform
from tilewright.ir.plans.stages import Artifact
from tilewright.ir.programs.runner import Job, RunResult
from tilewright.testing.cluster import registry_for
from tilewright_riscv.runners import qemu_tools
from tilewright_riscv.runners.qemu import QemuRiscvRunner

DIGITS = Path(__file__).resolve().parents[4] / "examples" / "digits"
SMALL = 1024  # bytes of the scratchpad for the plan: several tiles in a step
QUICK = QemuRiscvRunner(run_seconds=60.0)


@pytest.fixture(autouse=True)
def _tools(tool: Callable[[str], str]) -> None:
    for name in ("riscv64-unknown-elf-gcc", "qemu-system-riscv32"):
        tool(name)


WIDE = replace(
    CLUSTER,
    name="wide-test",
    engines=(replace(CLUSTER.engines[0], cores=3),),
    copies=tuple(replace(path, channels=3) for path in CLUSTER.copies),
)

PLAIN = Platform(
    name="plain-test",
    summary="made up: one core, one memory",
    memories=(Memory(name="ram", size_bytes=None), Memory(name="rom", size_bytes=None, kind="const")),
)


@cache
def deployment(target: str = CLUSTER.name, model: str = "digits_int8", tiled: bool = False, **how: Any) -> Deployment:
    made_up = {platform.name: platform for platform in (CLUSTER, WIDE, PLAIN)}
    memory = {"l1": SMALL + made_up[target].runtime_bytes["l1"]} if tiled else {}
    return Deployment(DIGITS / f"{model}.onnx", target, Options(memory=memory, **how), registry_for(made_up[target]))


def job_for(plan: Deployment, *, sets: int = 1, trace: bool = True, artifact: Artifact | None = None) -> Job:
    drawn = random_vectors(plan.inputs, sets, seed=1)
    return Job(
        artifact=artifact or plan.artifact,
        plan=plan.allocated,
        prefix=plan.prefix,
        input_sets=tuple(item.inputs for item in drawn),
        trace=trace,
    )


def demand_exact(plan: Deployment, job: Job, result: RunResult) -> None:
    executed = [step.name for step in plan.scheduled.steps]
    graph = plan.scheduled.bound.graph
    verdicts = judge_steps(graph, executed, plan.registry.operators, job.input_sets, result.values)
    assert [verdict.name for verdict in verdicts if not verdict.exact] == []
    hidden = [value for group in plan.tiled.groups for value in group.region.internal_values]
    assert len(verdicts) + len(hidden) == len(executed)


def changed(plan: Deployment, change: Callable[[str], str], having: str = "") -> Artifact:
    """The generated files with another text of the function of the first step that has `having` in it."""
    name = f"{plan.prefix}.c"
    text = plan.artifact.files[name].decode("ascii")
    functions = re.findall(r"^TW_STEP void .*?^}\n", text, re.MULTILINE | re.DOTALL)
    function = next(function for function in functions if having in function)
    return Artifact(files={**plan.artifact.files, name: text.replace(function, change(function)).encode("ascii")})


def begun(statements: str) -> Callable[[str], str]:
    """`statements` at the beginning of the function."""
    return lambda text: text.replace("{", "{\n    " + statements, 1)


def put(pattern: str, new: str) -> Callable[[str], str]:
    """Replaces the first match."""

    def change(text: str) -> str:
        replaced, count = re.subn(pattern, new, text, count=1, flags=re.S)
        assert count == 1, pattern
        return replaced

    return change


def failure(plan: Deployment, change: Callable[[str], str], folder: Path) -> TilewrightError:
    with pytest.raises(TilewrightError) as failed:
        QUICK.run(job_for(plan, artifact=changed(plan, change)), folder)
    assert failed.value.exit_code is Exit.TOOLCHAIN
    return failed.value


@pytest.mark.slow
@pytest.mark.parametrize("extra_dma_core", [True, False], ids=["own DMA core", "core 0 moves"])
@pytest.mark.parametrize("model", ["digits_int8", "digits_f32"])
def test_a_tiled_network_is_exact_step_by_step(model: str, extra_dma_core: bool, tmp_path: Path) -> None:
    plan = deployment(model=model, tiled=True)
    assert b"for (int32_t t = 0" in plan.artifact.files[f"{plan.prefix}.c"]
    job = job_for(plan, sets=2)
    result = replace(QUICK, dma_core=extra_dma_core).run(job, tmp_path)
    demand_exact(plan, job, result)
    harts = [name for name in result.counts if name.startswith("instructions.")]
    assert len(harts) == 8 + extra_dma_core
    assert ("instructions.dma_core" in harts) is extra_dma_core


@pytest.mark.slow
@pytest.mark.parametrize("platform", [CLUSTER, WIDE], ids=lambda platform: str(platform.name))
def test_a_cluster_of_somebody_else(platform: Platform, tmp_path: Path) -> None:
    plan = deployment(platform.name, tiled=True)
    job = job_for(plan)
    result = QUICK.run(job, tmp_path)
    demand_exact(plan, job, result)
    assert f"instructions.core{platform.engines[0].cores - 1}" in result.counts


@pytest.mark.parametrize("options", [{}, {"const_format": "bin"}, {"io_inputs": "user", "io_outputs": "user"}], ids=str)
def test_a_program_with_one_memory_runs_on_one_hart(options: dict[str, str], tmp_path: Path) -> None:
    plan = deployment(PLAIN.name, **options)
    job = job_for(plan, sets=2)
    result = QUICK.run(job, tmp_path)
    demand_exact(plan, job, result)
    assert [name for name in result.counts if name.startswith("instructions.")] == ["instructions.core0"]


@pytest.mark.slow
def test_the_wheel_alone_builds_it_too(tmp_path: Path) -> None:
    pytest.importorskip("ziglang")
    plan = deployment(tiled=True)
    job = job_for(plan)
    demand_exact(plan, job, replace(QUICK, builder=qemu_tools.zig()).run(job, tmp_path))


def test_counts_are_whole_and_the_same_every_time(tmp_path: Path) -> None:
    plan = deployment(tiled=True)
    traced, again = (QUICK.run(job_for(plan, trace=trace), tmp_path / str(trace)) for trace in (True, False))
    assert traced.counts == again.counts
    assert traced.step_counts == again.step_counts
    assert traced.kind == "measured"
    for counts in (traced.counts, *traced.step_counts.values()):
        by_core = [count for name, count in counts.items() if name.startswith("instructions.")]
        assert counts["instructions"] == sum(by_core) > 0
    in_steps = sum(counts["instructions"] for counts in traced.step_counts.values())
    assert 0 < traced.counts["instructions"] - in_steps < 20_000  # copies at the border, and the run function
    assert 0 < traced.counts["stack_bytes"] < 2048
    assert traced.counts["code_bytes"] > 1000


def test_one_core_executes_exactly_what_a_loop_adds(tmp_path: Path) -> None:
    plan = deployment(tiled=True)
    step = plan.scheduled.steps[0].name
    loop = (
        "if (tw_rt_core() == 5u) {{ volatile uint32_t trips = {0}u; uint32_t n = trips; "
        '__asm__ volatile("1: addi %0, %0, -1\\n\\tbnez %0, 1b" : "+r"(n)); }}'
    )
    short, long = (
        QUICK.run(job_for(plan, artifact=changed(plan, begun(loop.format(trips)))), tmp_path / str(trips))
        for trips in (1_000_000, 61_000_000)  # more than QEMU gives one hart at a time
    )
    grown = {name: count - short.step_counts[step][name] for name, count in long.step_counts[step].items()}
    assert {name: count for name, count in grown.items() if count} == {
        "instructions": 120_000_000,
        "instructions.core5": 120_000_000,
    }
    others = [item.name for item in plan.scheduled.steps if item.name != step]
    assert all(short.step_counts[name] == long.step_counts[name] for name in others)


def test_stack_is_that_of_the_core_that_used_it(tmp_path: Path) -> None:
    plan = deployment(tiled=True)
    large = (
        "if (tw_rt_core() == 2u) { volatile uint8_t b[3000]; b[0] = 1; b[2999] = b[0]; "
        '__asm__ volatile("" : : "r"(b) : "memory"); }'
    )
    plain, deep = (
        QUICK.run(job_for(plan, artifact=changed(plan, begun(code))), tmp_path / str(index)).counts
        for index, code in enumerate(('__asm__ volatile("");', large))
    )
    assert plain["stack_bytes.core2"] < 2048
    assert 2900 < deep["stack_bytes.core2"] <= deep["stack_bytes"]


FAULTS: dict[str, tuple[Callable[[str], str], str, str]] = {
    "illegal instruction": (
        begun('if (tw_rt_core() == 3u) { __asm__ volatile(".word 0"); }'),
        "TW7120",
        "illegal instruction",
    ),
    "address where nothing is": (
        begun("if (tw_rt_core() == 3u) { *(volatile int *)0x40000000u = 1; }"),
        "TW7111",
        "store outside every memory: address 0x40000000",
    ),
    "write behind the scratchpad": (
        begun("if (tw_rt_core() == 3u) { ((volatile uint8_t *)l1)[LIMIT + 64u] = 1; }"),
        "TW7111",
        "just behind l1",
    ),
    "write before the scratchpad": (
        begun("if (tw_rt_core() == 3u) { ((volatile uint8_t *)l1)[-4096] = 1; }"),
        "TW7111",
        "just before l1",
    ),
    "write just behind the scratchpad": (
        begun("if (tw_rt_core() == 3u) { ((volatile uint8_t *)l1)[LIMIT] = 1; }"),
        "TW711[01]",
        "behind the end of l1|just behind l1",
    ),
    "write to constants": (
        begun("if (tw_rt_core() == 3u) { *(volatile uint8_t *)(uintptr_t)flash = 1; }"),
        "TW7111",
        "store outside every memory.*constants",
    ),
    "copy by a core that does not move": (
        begun("if (tw_rt_core() == 3u) { tw_rt_wait(0u); }"),
        "TW7113",
        "moves no data",
    ),
    "second wait": (begun("if (tw_rt_is_dma_core()) { tw_rt_wait(5u); }"), "TW7107", "not in flight"),
    "leaked transfer": (
        begun("if (tw_rt_is_dma_core()) { (void)tw_rt_copy(l1, l2, 4u, 1u, 0u, 0u); }"),
        "TW7108",
        "never waited for",
    ),
    "too many transfers": (
        begun("for (int i = 0; i < 17 && tw_rt_is_dma_core(); ++i) { (void)tw_rt_copy(l1, l2, 4u, 1u, 0u, 0u); }"),
        "TW7103",
        "channels",
    ),
    "one core leaves": (begun("if (tw_rt_core() == 3u) { return; }"), "TW7109", "others wait at a barrier"),
}


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_named_with_its_place(fault: str, tmp_path: Path) -> None:
    change, code, said = FAULTS[fault]
    plan = deployment(tiled=True)
    limit = next(use.used_bytes for use in plan.allocated.pools if use.memory == "l1")
    error = failure(plan, lambda text: change(text).replace("LIMIT", f"{limit}u"), tmp_path)
    assert re.fullmatch(code, error.code), str(error)
    assert re.search(said, error.message), str(error)
    if "core() == 3u" in change("{") and code not in ("TW7109", "TW711[01]"):
        assert error.where == f"step '{plan.scheduled.steps[0].name}', hart 3 (core3)"
        assert code == "TW7113" or f"in function {plan.prefix}_" in error.details[0]


def test_a_stack_overflow_is_named(tmp_path: Path) -> None:
    plan = deployment(tiled=True)
    deep = (
        "int tw_deep(int n);\n"
        "int tw_deep(int n) { volatile char b[256]; b[0] = (char)n; return n ? tw_deep(n - 1) + b[0] : 0; }\n"
    )
    error = failure(plan, lambda text: deep + begun("(void)tw_deep(100000);")(text), tmp_path)
    assert error.code == "TW7121"
    assert "below the stack of hart" in error.message


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (put(r"tw_rt_barrier\(\);(.*?tw_rt_barrier\(\);)", r"\1"), "TW7112"),
        (put(r"(tw_rt_barrier\(\);.*?)tw_rt_barrier\(\);", r"\1"), "TW7112"),
        (lambda text: re.sub(r"tw_arrived\([^;]*\);", "", text), "TW7103|TW7108|TW7112"),
    ],
    ids=["barrier before", "barrier behind", "waits"],
)
def test_a_missing_barrier_or_wait_is_found(change: Callable[[str], str], code: str, tmp_path: Path) -> None:
    plan = deployment(tiled=True)
    job = job_for(plan, artifact=changed(plan, change, "for (int32_t t = 0"))
    with pytest.raises(TilewrightError) as found:
        QUICK.run(job, tmp_path)
    assert re.fullmatch(code, found.value.code), str(found.value)


def test_a_program_that_never_ends_is_stopped(tmp_path: Path) -> None:
    plan = deployment(tiled=True)
    stuck = changed(plan, begun("for (;;) {}"))
    with pytest.raises(TilewrightError) as stopped:
        QemuRiscvRunner(run_seconds=2.0).run(job_for(plan, artifact=stuck), tmp_path)
    assert stopped.value.code == "TW7004"


def test_code_that_does_not_compile_shows_the_compilers_words(tmp_path: Path) -> None:
    plan = deployment(tiled=True)
    error = failure(plan, begun("undeclared = 1;"), tmp_path)
    assert error.code == "TW7002"
    assert "undeclared" in str(error)


def test_what_is_missing_is_named_with_its_package(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    said = QUICK.available()
    assert said is not None
    assert "apt install qemu-system-misc" in said
    with pytest.raises(TilewrightError) as refused:
        QUICK.run(job_for(deployment(tiled=True)), tmp_path)
    assert refused.value.code == "TW7001"
    assert "qemu-system-riscv32" in str(refused.value)


def test_a_missing_compiler_is_named_with_its_packages(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "qemu-system-riscv32").write_text("#!/bin/sh\n", encoding="ascii")
    (tmp_path / "qemu-system-riscv32").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(qemu_tools, "find_spec", lambda name: None)
    said = QUICK.available()
    assert said is not None
    assert "pip install ziglang" in said
    assert "apt install gcc-riscv64-unknown-elf picolibc-riscv64-unknown-elf" in said
