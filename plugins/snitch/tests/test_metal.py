"""Programs for the bare machine on the simulated cluster: every step right, faults of the runtime caught."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tilewright.api.runner import elf_symbols
from tilewright.comparison.vectors import random_vectors
from tilewright.comparison.verdicts import StepVerdict, judge_steps
from tilewright.config.options import Options
from tilewright.deployment import Deployment
from tilewright.errors import TilewrightError
from tilewright.ir.plans.stages import Artifact
from tilewright.ir.programs.runner import Job, RunResult
from tilewright_riscv import programs
from tilewright_riscv.machine import BareMachine
from tilewright_riscv.runners.gvsoc import GvsocRunner, command, write_program
from tilewright_riscv.toolchains import CHOICE, demand_toolchain
from tilewright_snitch.metal import MACHINE
from tilewright_snitch.platform import SNITCH

DIGITS = Path(__file__).resolve().parents[3] / "examples" / "digits"
RUNNER = GvsocRunner(run_seconds=240.0)


@pytest.fixture(autouse=True)
def _simulated(simulator: Path) -> None:
    assert simulator.exists()


@cache
def deployment(model: str = "digits_int8", tcdm: int = 32 << 10, **settings: str) -> Deployment:
    return Deployment(DIGITS / f"{model}.onnx", "snitch", Options(settings=settings, memory={"tcdm": tcdm}, groups=1))


def job_for(plan: Deployment, artifact: Artifact | None = None, *, trace: bool = True) -> Job:
    inputs = tuple(one.inputs for one in random_vectors(plan.inputs, 1, seed=5))
    return Job(
        artifact=artifact or plan.artifact, plan=plan.allocated, prefix=plan.prefix, input_sets=inputs, trace=trace
    )


def judged(plan: Deployment, job: Job, result: RunResult) -> tuple[StepVerdict, ...]:
    executed = [step.name for step in plan.scheduled.steps]
    return judge_steps(plan.scheduled.bound.graph, executed, plan.registry.operators, job.input_sets, result.values)


CASES: dict[str, dict[str, Any]] = {
    "integers": {},
    "floats": {"model": "digits_f32"},
    "small": {"tcdm": 9 * 1280 + 1536, "stacks": "tcdm"},
    "stacks far": {"model": "digits_f32", "tcdm": 6 << 10},
    "four cores": {"model": "digits_f32", "cores": "4"},
    "alone": {"cores": "1"},
    "portable": {"model": "digits_f32", "isa": "portable"},
}
OFTEN = {"integers", "floats", "small", "stacks far", "four cores", "portable"}
BUILDS = (
    *((case, "gcc") if case in OFTEN else pytest.param(case, "gcc", marks=pytest.mark.long) for case in CASES),
    ("floats", "zig"),
    pytest.param("integers", "zig", marks=pytest.mark.long),
)


@pytest.mark.slow
@pytest.mark.parametrize(("case", "compiler"), BUILDS)
def test_every_step_is_right(case: str, compiler: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(CHOICE, compiler)
    plan = deployment(**CASES[case])
    job = job_for(plan)
    verdicts = judged(plan, job, RUNNER.run(job, tmp_path / "work"))
    assert len(verdicts) == len(plan.scheduled.steps)
    assert [verdict for verdict in verdicts if not verdict.exact] == []


def test_a_network_that_prints_runs_where_there_is_no_console(tmp_path: Path) -> None:
    options = Options(memory={"tcdm": 32 << 10}, groups=1, code_passes={"print-tensors": {}})
    plan = Deployment(DIGITS / "digits_f32.onnx", "snitch", options)
    job = job_for(plan)
    verdicts = judged(plan, job, RUNNER.run(job, tmp_path / "work"))
    assert [verdict for verdict in verdicts if not verdict.exact] == []


def test_counts_and_places(tmp_path: Path) -> None:
    plan = deployment("digits_f32")
    result = RUNNER.run(job_for(plan, trace=False), tmp_path / "work")
    assert result.kind == "measured"
    assert all(counts["cycles"] > 0 for counts in result.step_counts.values())
    assert 200 < result.counts["stack_bytes"] < 1280
    names = {symbol.name: symbol.address for symbol in elf_symbols((tmp_path / "work" / programs.ELF).read_bytes())}
    assert names["_start"] == 0x8000_0000
    assert names["tw_stacks"] == 0x1000_0000 + (32 << 10) - 9 * 1280
    kernels = [name for name in names if name.startswith("tw_sn_")]
    assert len(kernels) > 2
    assert kernels == sorted(kernels)  # the linker script has those of one kernel beside each other


def replaced(monkeypatch: pytest.MonkeyPatch, file: str, old: str, new: str) -> None:
    """The runtime with a mistake in it."""
    files = programs.runtime_files(MACHINE)
    assert old.encode() in files[file]
    files[file] = files[file].replace(old.encode(), new.encode())

    def those(machine: BareMachine) -> Mapping[str, bytes]:
        return files

    monkeypatch.setattr(programs, "runtime_files", those)


FAULTS: dict[str, tuple[str, str, str, str]] = {
    "a stack nowhere": ("start.S", "    la sp, tw_stacks\n", "    li sp, 0\n", "nothing is at 0x0"),
    "an instruction nobody has": ("start.S", "    csrr x0, 0x7C2\n", "    csrr x0, 0x7C3\n", "no control register"),
    "a copy of nothing": ("copy.c", "start_row(bytes * rows);", "start_row(0u);", "of nothing"),
    "copies without a wait": ("copy.c", "while (transfer && ", "while (0 && transfer && ", "never waited for"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_of_the_runtime_are_caught(fault: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    replaced(monkeypatch, *FAULTS[fault][:3])
    plan = deployment("digits_f32", cores="4")
    with pytest.raises(TilewrightError) as caught:
        RUNNER.run(job_for(plan), tmp_path / "work")
    assert caught.value.code == "TW7003"
    assert re.search(FAULTS[fault][3], str(caught.value))


OVERTAKEN = """
#include "metal.h"
#include "tw_rt.h"
#include "tw_runtime.h"
enum { WORDS = 4096 };
static TW_SECTION(".bss.tw.tcdm") TW_ALIGNED(8) uint32_t near[WORDS], other[2];
static uint32_t far[WORDS], back[2];
int main(void)
{
    int status = 0;
    for (uint32_t i = 0; i < WORDS; ++i) {
        far[i] = i + 1u;
    }
    for (uint32_t turn = 0; turn < 3u; ++turn) {
        near[WORDS - 1] = 0u;
        other[0] = turn + 1u;
        const uint32_t in = tw_rt_copy(near, far, sizeof near, 1u, sizeof near, sizeof near);
        const uint32_t out = tw_rt_copy(back, other, sizeof other, 1u, sizeof other, sizeof other);
        tw_rt_wait(in);
        status |= near[WORDS - 1] != WORDS;
        tw_rt_wait(out);
        status |= back[0] != turn + 1u;
        status |= tw_rt_copy(back, other, 0u, 1u, 0u, 0u) != 0u;
    }
    return status;
}
"""


def test_a_copy_that_is_overtaken_is_waited_for(simulator: Path, tmp_path: Path) -> None:
    plan = deployment()
    write_program(job_for(plan), tmp_path)
    (tmp_path / "main.c").write_text(OVERTAKEN, encoding="ascii")
    elf = programs.build(MACHINE, demand_toolchain(MACHINE), SNITCH, tmp_path, ["main.c"], [])
    subprocess.run(command(str(simulator), MACHINE, elf, tmp_path), check=True)


def test_a_stack_that_is_too_small_is_refused_by_what_gcc_says(tmp_path: Path) -> None:
    plan = deployment(stack="256")
    with pytest.raises(TilewrightError) as refused:
        RUNNER.run(job_for(plan), tmp_path / "work")
    assert refused.value.code == "TW5063"


def test_a_stack_that_is_too_small_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """At the end of the program, where no compiler has said so before."""
    monkeypatch.setattr(programs, "demand_stack", lambda *given: None)
    plan = deployment(stack="256")
    with pytest.raises(TilewrightError) as caught:
        RUNNER.run(job_for(plan), tmp_path / "work")
    assert caught.value.code == "TW7003"
    assert "--set stack=BYTES" in " ".join(str(caught.value).split())


def test_what_the_tools_are_told() -> None:
    assert "LENGTH = 0x20000\n" in MACHINE.linker_script(SNITCH)
    assert ".stacks (NOLOAD)" in MACHINE.linker_script(SNITCH.configure({"stacks": "l3"}))
    assert MACHINE.stacks.macros(SNITCH) == ("-DTW_CORES=8", "-DTW_TEAM=9", "-DTW_STACK_BYTES=1280")
