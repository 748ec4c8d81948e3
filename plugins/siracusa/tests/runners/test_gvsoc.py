"""The runner `gvsoc` against a stand-in that executes the very binary: start, event unit, copies, and their faults."""

from __future__ import annotations

import json
import re
import stat
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from networks import network_file
from tilewright.cli.main import tilewright
from tilewright.comparison.reference import run as run_reference
from tilewright.comparison.vectors import random_vectors
from tilewright.comparison.verdicts import StepVerdict, judge_steps
from tilewright.config.options import Options
from tilewright.deployment import Deployment
from tilewright.emit.emit import text as emitted_text
from tilewright.errors import Exit, TilewrightError
from tilewright.ir.plans.stages import Artifact
from tilewright.ir.programs.runner import Job, RunResult
from tilewright_riscv import programs, toolchains
from tilewright_riscv.machine import BareMachine
from tilewright_riscv.runners.gvsoc import GvsocRunner, simulator
from tilewright_siracusa.metal import MACHINE
from tilewright_siracusa.platform import SIRACUSA

DIGITS = Path(__file__).resolve().parents[4] / "examples" / "digits"
STAND_IN = Path(__file__).with_name("fake_gvsoc.py")
RUNNER = GvsocRunner(run_seconds=120.0)
PORTABLE = {"isa": "portable"}  # the stand-in knows no Xpulp


def program(folder: Path, *lines: str) -> None:
    """A `gvsoc` in `folder`."""
    folder.mkdir(parents=True)
    file = folder / "gvsoc"
    file.write_text("\n".join(("#!/bin/sh", *lines, "")), encoding="utf-8")
    file.chmod(file.stat().st_mode | stat.S_IXUSR)


@pytest.fixture(autouse=True)
def _simulator(tool: Callable[[str], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tool("riscv64-unknown-elf-gcc")
    program(tmp_path / "install" / "bin", f'exec "{sys.executable}" "{STAND_IN}" "$@"')
    monkeypatch.setenv("GVSOC_INSTALL_DIR", str(tmp_path / "install"))


@cache
def deployment(model: str = "digits_int8", l1: int = 64 << 10, l2: int | None = None, **settings: str) -> Deployment:
    memory = {"l1": l1} | ({"l2": l2} if l2 else {})
    options = Options(settings={**PORTABLE, **settings}, memory=memory)
    return Deployment(DIGITS / f"{model}.onnx", "siracusa", options)


def job_for(plan: Deployment, *, sets: int = 1, trace: bool = False, artifact: Artifact | None = None) -> Job:
    drawn = random_vectors(plan.inputs, sets, seed=5)
    return Job(
        artifact=artifact or plan.artifact,
        plan=plan.allocated,
        prefix=plan.prefix,
        input_sets=tuple(one.inputs for one in drawn),
        trace=trace,
    )


def demand_right(plan: Deployment, job: Job, result: RunResult) -> None:
    assert [verdict for verdict in judged(plan, job, result) if not verdict.exact] == []


def judged(plan: Deployment, job: Job, result: RunResult) -> tuple[StepVerdict, ...]:
    executed = [step.name for step in plan.scheduled.steps]
    graph = plan.scheduled.bound.graph
    return judge_steps(graph, executed, plan.registry.operators, job.input_sets, result.values)


CASES: dict[str, dict[str, Any]] = {
    "integers": {},
    "floats": {"model": "digits_f32"},
    "stacks in l2": {"l1": 8 << 10},
    "small": {"l1": 8 * 768 + 1024, "stack": "768"},
    "cut twice": {"l1": 8 * 1024 + 1024, "l2": 4096, "home": "l3", "stack": "1024"},
    "floats cut twice": {"model": "digits_f32", "l1": 8 * 1024 + 4096, "l2": 8192, "home": "l3", "stack": "1024"},
    "constants near": {"home": "l3", "weights": "l2"},
    "two cores": {"cores": "2"},
    "alone": {"cores": "1"},
    "weights in mram": {"engine": "neureka", "weight_memory": "mram", "home": "l3", "stack": "2048"},
    "weights in sram": {"engine": "neureka", "weight_memory": "sram", "stack": "2048"},
}


OFTEN = CASES.keys() - {"floats", "alone"}  # of which others show the same


@pytest.mark.slow
@pytest.mark.parametrize(
    ("case", "compiler"),
    [
        *((case, "gcc") if case in OFTEN else pytest.param(case, "gcc", marks=pytest.mark.long) for case in CASES),
        pytest.param("small", "zig", marks=pytest.mark.long),
        ("floats cut twice", "zig"),
    ],
)
def test_every_step_is_right(case: str, compiler: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(toolchains.CHOICE, compiler)
    plan = deployment(**CASES[case])
    job = job_for(plan, sets=2, trace=True)
    demand_right(plan, job, RUNNER.run(job, tmp_path / "work"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("settings", "form"),
    [
        ({"home": "l2"}, "bin"),
        ({"home": "l3"}, "bin"),
        ({"home": "l3"}, "incbin"),
        ({"engine": "neureka", "weight_memory": "mram", "stack": "2048"}, "bin"),
    ],
)
def test_constants_in_other_forms(settings: Mapping[str, str], form: Any, tmp_path: Path) -> None:
    base = deployment(**settings)
    options = replace(base.options, const_format=form)
    plan = Deployment(DIGITS / "digits_int8.onnx", "siracusa", options)
    job = job_for(plan, trace=True)
    demand_right(plan, job, RUNNER.run(job, tmp_path / "work"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "home"),
    [("kws_int8", "l3"), ("ad_int8", "l2"), pytest.param("resnet8_f32", "l3", marks=pytest.mark.long)],
)
def test_networks_are_right(model: str, home: str, tmp_path: Path) -> None:
    options = Options(settings={**PORTABLE, "home": home}, memory={"l1": 64 << 10})
    plan = Deployment(network_file(model), "siracusa", options)
    job = job_for(plan, trace=True)
    demand_right(plan, job, RUNNER.run(job, tmp_path / "work"))


def test_counts(tmp_path: Path) -> None:
    plan = deployment()
    job = job_for(plan)
    result = RUNNER.run(job, tmp_path / "work")
    assert result.kind == "measured"
    assert "GVSoC" in result.clock
    assert result.counts["cycles"] > 0
    assert 200 < result.counts["stack_bytes"] < 1280
    assert list(result.step_counts) == [step.name for step in plan.allocated.tiled.scheduled.steps]
    assert all(counts["cycles"] > 0 for counts in result.step_counts.values())
    values = run_reference(plan.graph, job.input_sets[0], plan.registry.operators)
    for name, got in result.outputs[0].items():
        np.testing.assert_array_equal(got, values[name])


def replaced(monkeypatch: pytest.MonkeyPatch, files: Mapping[str, bytes]) -> None:
    """Another runtime."""

    def those(machine: BareMachine) -> Mapping[str, bytes]:
        return files

    monkeypatch.setattr(programs, "runtime_files", those)


def broken(monkeypatch: pytest.MonkeyPatch, file: str, old: str, new: str) -> None:
    """The runtime with a mistake in it."""
    files = programs.runtime_files(MACHINE)
    assert old.encode() in files[file]
    files[file] = files[file].replace(old.encode(), new.encode())
    replaced(monkeypatch, files)


FAULTS: dict[str, tuple[str, str, str, str]] = {
    "no cache of instructions": ("boot.c", "    CLUSTER_CACHE = 0xFFFFFFFFu;\n", "", "cache is off"),
    "counters never freed": ("copy.c", "MCHAN_STATUS = counter;", "", "seventeenth copy"),
    "freed while busy": ("copy.c", "while (MCHAN_STATUS & counter) {\n        }", "", "freed while in use"),
    "timer never started": ("team.c", "        TIMER_START = 1u;\n", "", "timer does not run"),
    "event masked": ("team.c", "    EVENT_MASK_SET = BARRIER_EVENT;\n", "", "masked event"),
    "wrong barrier": ("team.c", "BARRIER_WOKEN = EVERY_CORE", "BARRIER_WOKEN = 1u", "not those who are woken"),
    "L1 beyond its end": (
        "copy.c",
        "(uint32_t)near;",
        "0x40000u + (uint32_t)near;",
        "is not in L1",
    ),
    "HyperBus without a clock": ("external.c", "UDMA_CLOCKS |= 1u << HYPER_NUMBER", "(void)0", "has no clock"),
    "odd bytes to the engine": ("external.c", "| bytes) % WORD) == 0u", "| bytes) % WORD) != 99u", "bytes from"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_of_the_runtime_are_caught(fault: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file, old, new, words = FAULTS[fault]
    broken(monkeypatch, file, old, new)
    plan = deployment(**CASES["cut twice"])
    with pytest.raises(TilewrightError) as caught:
        RUNNER.run(job_for(plan), tmp_path / "work")
    assert (caught.value.code, caught.value.exit_code) == ("TW7003", Exit.TOOLCHAIN)
    assert words in str(caught.value)


def test_a_copy_that_nobody_waits_for_gives_other_answers(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    broken(monkeypatch, "external.c", "while ((int32_t)(issued - waiting() - last) < 0) {", "while (0) {")
    broken_again = programs.runtime_files(MACHINE)
    broken_again["external.c"] = broken_again["external.c"].replace(
        b"while (last == issued", b"while (0 && last == issued"
    )
    replaced(monkeypatch, broken_again)
    plan = deployment(**CASES["cut twice"])
    job = job_for(plan, trace=True)
    try:
        result = RUNNER.run(job, tmp_path / "work")
    except TilewrightError as error:
        assert error.code == "TW7003"
        return
    assert not all(verdict.exact for verdict in judged(plan, job, result))


COPIES_WRONG = {
    "ends of rows": (
        "external.c",
        "const uint32_t before = (WORD - there % WORD) % WORD;",
        "const uint32_t before = 0u;",
    ),
    "gaps on the other side": ("external.c", "size, bytes, GAPS_IN_L2", "size, bytes, GAPS_ON_BUS"),
    "gaps that stay": ("external.c", "    TW_REGISTER(gaps) = 0u;\n", ""),
    "rows without their gaps": ("copy.c", "flags | STRIDED, size, near, far);", "flags | STRIDED, size, near, near);"),
    "words behind": ("memory.c", "had >> low | has << high", "had >> high | has << low"),
    "waiting for another": (
        "copy.c",
        "const uint32_t counter = 1u << (transfer - 1u);",
        "const uint32_t counter = 0u;",
    ),
}


def run_copies(folder: Path) -> str:
    """What copies.c says, without any network."""
    folder.mkdir()
    (folder / "gvsoc").mkdir()
    (folder / "tw_rt.h").write_text(emitted_text("tw_rt.h"), encoding="ascii")
    (folder / "copies.c").write_bytes(Path(__file__).with_name("copies.c").read_bytes())
    platform = replace(SIRACUSA, backing="l3")  # it copies to the external RAM, too
    elf = programs.build(MACHINE, toolchains.demand_toolchain(MACHINE), platform, folder, ["copies.c"])
    command = [simulator() or "", "--target=siracusa", f"--work-dir={folder / 'gvsoc'}", f"--binary={elf}", "run"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    return done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("compiler", ["gcc", "zig"])
def test_copies_of_every_form(compiler: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(toolchains.CHOICE, compiler)
    assert run_copies(tmp_path / "work") == "copies: right\n"


@pytest.mark.parametrize("mistake", COPIES_WRONG)
def test_copies_with_a_mistake_are_noticed(mistake: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken(monkeypatch, *COPIES_WRONG[mistake])
    assert run_copies(tmp_path / "work") != "copies: right\n"


def test_a_simulator_that_keeps_floats_in_the_registers_of_integers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared = "--shared-registers"
    program(tmp_path / "other" / "bin", f'exec "{sys.executable}" "{STAND_IN}" {shared} "$@"')
    monkeypatch.setenv("GVSOC_INSTALL_DIR", str(tmp_path / "other"))
    with pytest.raises(TilewrightError) as caught:
        RUNNER.run(job_for(deployment()), tmp_path / "work")
    said = " ".join(str(caught.value).split())
    assert caught.value.code == "TW7003"
    assert "keep floats in the registers of integers" in said
    assert "from May 2025 to June 2026" in said


@pytest.mark.slow
@pytest.mark.parametrize("trace", [False, True])
def test_a_stack_that_is_too_small_is_named(trace: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """At the end of the program, where no compiler has said so before."""
    monkeypatch.setattr(programs, "demand_stack", lambda *given: None)
    with pytest.raises(TilewrightError) as caught:
        RUNNER.run(job_for(deployment(stack="256"), trace=trace), tmp_path / "work")
    assert caught.value.code == "TW7003"
    assert "compile with a larger --set stack=BYTES" in " ".join(str(caught.value).split())


def test_where_it_is_not_installed_it_says_what_to_do(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("GVSOC_INSTALL_DIR")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert simulator() is None
    said = RUNNER.available() or ""
    assert "GVSOC_INSTALL_DIR" in said
    with pytest.raises(TilewrightError) as refused:
        RUNNER.run(job_for(deployment()), tmp_path / "work")
    assert refused.value.code == "TW7001"


def test_it_is_found_on_the_path_too(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("GVSOC_INSTALL_DIR")
    monkeypatch.setenv("PATH", f"{tmp_path}/install/bin", prepend=":")
    assert simulator() == str(tmp_path / "install" / "bin" / "gvsoc")


def deep_in(plan: Deployment, then: str) -> Artifact:
    """Core 1 needs more than its stack in the first step, and goes on in the second one as `then` says."""
    deep = (
        "static int tw_deep(int n)\n{\n    volatile char b[64];\n    b[0] = (char)n;\n"
        "    return n ? tw_deep(n - 1) + b[0] : 0;\n}\n"
    )
    name = f"{plan.prefix}.c"
    source = plan.artifact.files[name].decode("ascii")
    first, second = re.findall(r"^TW_STEP void \w+\([^)]*\)\n\{\n", source, re.MULTILINE)[:2]
    call = "    if (tw_rt_core() == 1u) {\n        (void)tw_deep(100);\n    }\n    tw_rt_barrier();\n"
    source = source.replace(first, f"{deep}{first}{call}", 1).replace(second, second + then, 1)
    return Artifact(files={**plan.artifact.files, name: source.encode("ascii")})


def test_a_stack_that_is_too_small_does_not_hang(tmp_path: Path) -> None:
    """What was overwritten might be what a loop ends by."""
    plan = deployment(stack="1024")
    job = job_for(plan, artifact=deep_in(plan, "    for (;;) {\n    }\n"))
    with pytest.raises(TilewrightError) as caught:
        GvsocRunner(run_seconds=60.0).run(job, tmp_path / "work")
    assert caught.value.code == "TW7003"
    assert "compile with a larger --set stack=BYTES" in " ".join(str(caught.value).split())


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (("echo TW cycles 5",), "before its last word"),
        (("echo no such target >&2", "exit 3"), "no such target"),
        (("echo", "echo TW output 00", "echo TW cycles 7", "echo TW stack 9"), "1 bytes where 40 were expected"),
    ],
    ids=["silent", "failing", "short"],
)
def test_a_simulator_that_says_something_else(
    lines: tuple[str, ...], words: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    program(tmp_path / "other" / "bin", *lines)
    monkeypatch.setenv("GVSOC_INSTALL_DIR", str(tmp_path / "other"))
    with pytest.raises(TilewrightError) as caught:
        RUNNER.run(job_for(deployment()), tmp_path / "work")
    assert caught.value.code == "TW7003"
    assert words in str(caught.value)


def test_what_it_is_started_with(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program(tmp_path / "other" / "bin", f'echo "$@" > "{tmp_path}/asked"', "exit 1")
    monkeypatch.setenv("GVSOC_INSTALL_DIR", str(tmp_path / "other"))
    with pytest.raises(TilewrightError):
        RUNNER.run(job_for(deployment()), tmp_path / "work")
    work = tmp_path / "work"
    asked = (tmp_path / "asked").read_text().split()
    assert asked == ["--target=siracusa", f"--work-dir={work}/gvsoc", f"--binary={work}/network.elf", "run"]


def called(*arguments: object) -> Mapping[str, Any]:
    words = [str(word) for word in (*arguments, "-t", "siracusa", "--set", "isa=portable", "--on", "gvsoc")]
    result = CliRunner().invoke(tilewright, [*words, "--json", "-"], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    said: Mapping[str, Any] = json.loads(result.stdout)
    return said


def test_on_the_command_line() -> None:
    assert called("validate", DIGITS / "digits_int8.onnx")["status"] == "pass"
    bench = called("bench", DIGITS / "digits_int8.onnx")
    assert (bench["kind"], bench["runner"]) == ("measured", "gvsoc")
