"""Knows the runner `gvsoc`: build for the bare machine, run on the simulator of the PULP platform, read what it said.
Does not know what the answers should be, nor any machine.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tilewright.api import toolchain_error
from tilewright.api.platform import Platform
from tilewright.api.runner import Harness, Job, RunResult, decode_outputs, decode_trace, execute, make_harness
from tilewright_riscv.machine import BareMachine, machine_of
from tilewright_riscv.programs import build, network_sources, outer_memories, text
from tilewright_riscv.toolchains import demand_toolchain, missing_toolchain

NAME = "gvsoc"
HOME = "GVSOC_INSTALL_DIR"
INSTALL = f"build GVSoC from github.com/gvsoc/gvsoc for the target, and set {HOME} to its install folder"
SAID = re.compile(r"^TW (\w+) ?([0-9a-f]*)$", re.MULTILINE)
DATA = re.compile(r"TW \w+ ?[0-9a-f]*\n*")  # for this module, not for people
LEAST_SECONDS = 120.0  # of a run: the simulator starts in some seconds
CYCLES_PER_SECOND = 20_000.0  # of a cluster: slower than it was ever seen
LONGER = 4.0  # times the estimate: a network may take, and then hangs


@dataclass(frozen=True, slots=True, kw_only=True)
class GvsocRunner:
    """Runs on GVSoC's target of the same name. `cycles` are those of the cluster's clock, which runs while cores sleep
    in barriers: of the last set of inputs, without hooks.

    Inputs and outputs that have a place in the plan's memories are in place, unless values are traced.
    """

    name: str = "gvsoc"
    summary: str = "a cluster simulated by GVSoC, where it is installed: cycles by the machine's own clock"
    counts: tuple[str, ...] = ("cycles",)
    run_seconds: float | None = None  # None: what the estimate lets expect, and more

    def available(self) -> str | None:
        """None, or what to install."""
        if simulator() is None:
            return f"{NAME} is neither on PATH nor in {HOME}/bin: {INSTALL}"
        return missing_toolchain()

    def run(self, job: Job, folder: Path) -> RunResult:
        """Build in `folder`, execute, return.

        TilewrightError (exit 7): TW7001 a tool or the target's machine is missing, TW7002 the compiler refused or a
        memory is too small, TW7003 the program failed or said something else than it should, TW7004 too slow.
        """
        program = simulator()
        if program is None:
            raise toolchain_error("TW7001", f"runner '{self.name}' cannot run here", details=(self.available() or "",))
        machine = _demand_machine(_platform(job), self.name)
        toolchain = demand_toolchain(machine)
        harness = write_program(job, folder)
        bindings = job.plan.tiled.scheduled.bound.bindings.values()
        libraries = {library for binding in bindings for library in binding.kernel.libraries}
        elf = build(machine, toolchain, _platform(job), folder, program_sources(job), sorted(libraries))
        said = execute(
            command(program, machine, elf, folder),
            folder,
            code="TW7003",
            what="the program on GVSoC",
            timeout_seconds=self.run_seconds or seconds_for(job),
            data=DATA,
        )
        return _result(job, harness, said, machine.clock)


def seconds_for(job: Job) -> float:
    """How long a run may take: every set of inputs, and one more with hooks, at many times the estimate."""
    cycles = sum(group.cycles for group in job.plan.tiled.groups)
    return LEAST_SECONDS + LONGER * cycles * (1 + len(job.input_sets)) / CYCLES_PER_SECOND


def command(program: str, machine: BareMachine, elf: Path, folder: Path) -> list[str]:
    """What is executed; the simulator's files are below `folder`."""
    work = folder / "gvsoc"
    work.mkdir(exist_ok=True)
    return [program, f"--target={machine.target}", f"--work-dir={work.resolve()}", f"--binary={elf.resolve()}", "run"]


def _demand_machine(platform: Platform, runner: str) -> BareMachine:
    machine = machine_of(platform)
    if machine is None:
        raise toolchain_error(
            "TW7001",
            f"runner '{runner}' knows no machine for target '{platform.name}'",
            details=("no installed package brings one",),
        )
    return machine


def simulator() -> str | None:
    """The path of `gvsoc`: below GVSOC_INSTALL_DIR, or on PATH."""
    home = os.environ.get(HOME, "")
    return (shutil.which(NAME, path=os.path.join(home, "bin")) if home else None) or shutil.which(NAME)


def write_program(job: Job, folder: Path) -> Harness:
    """The network, a `main` around it, and the inputs, in `folder`."""
    far = outer_memories(_platform(job))
    steps = len(job.plan.tiled.scheduled.steps)
    mapped = f"{job.prefix}_map_inputs(".encode() in job.artifact.files[f"{job.prefix}.h"]
    harness = make_harness(job, text("main.mako"), steps=steps, far=far, mapped=mapped)
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in job.artifact.files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    (folder / "main.c").write_text(harness.main, encoding="ascii")
    (folder / "inputs.bin").write_bytes(harness.inputs)
    blobs = [] if _linked(job) else sorted(name for name in job.artifact.files if name.endswith(".bin"))
    linked = {"inputs": "inputs.bin"} | {name[len(job.prefix) + 1 : -4]: name for name in blobs}
    (folder / "linked.S").write_text("".join(_included(*item) for item in linked.items()), encoding="ascii")
    return harness


def _linked(job: Job) -> bool:
    """Whether constants are part of the program rather than files beside it."""
    return any(f"{job.prefix}_weights{end}" in job.artifact.files for end in (".c", ".S"))


def _included(symbol: str, file: str) -> str:
    return (
        f'    .section .rodata.{symbol}, "a"\n    .balign 64\n    .globl tw_linked_{symbol}\n'
        f'tw_linked_{symbol}:\n    .incbin "{file}"\n'
    )


def program_sources(job: Job) -> list[str]:
    """What of `folder` is compiled."""
    return [*network_sources(job.artifact, job.prefix), "main.c", "linked.S"]


def _result(job: Job, harness: Harness, said: str, clock: str) -> RunResult:
    """TilewrightError TW7003 where the program stopped before it had said everything."""
    lines = [(result[1], result[2]) for result in SAID.finditer(said.replace("\r", ""))]
    if not lines or lines[-1][0] != "stack":
        raise toolchain_error(
            "TW7003", "the program on GVSoC ended before its last word", details=tuple(said.strip().splitlines()[-10:])
        )
    outputs = decode_outputs(harness, _bytes(lines, "output"))
    counts = {"cycles": _numbers(lines, "cycles")[-1], "stack_bytes": _numbers(lines, "stack")[-1]}
    if job.trace:
        return RunResult(outputs=outputs, values=decode_trace(harness, _bytes(lines, "trace")))
    steps = job.plan.tiled.scheduled.steps
    cycles = _numbers(lines, "step")
    if len(cycles) != len(steps):
        raise toolchain_error("TW7010", f"{len(cycles)} of {len(steps)} steps said how long they took")
    return RunResult(
        outputs=outputs,
        counts=counts,
        step_counts={step.name: {"cycles": count} for step, count in zip(steps, cycles, strict=True)},
        kind="measured",
        clock=clock,
    )


def _bytes(lines: Sequence[tuple[str, str]], word: str) -> bytes:
    return b"".join(bytes.fromhex(value) for name, value in lines if name == word)


def _numbers(lines: Sequence[tuple[str, str]], word: str) -> list[int]:
    return [int(value) for name, value in lines if name == word]


def _platform(job: Job) -> Platform:
    return job.plan.tiled.scheduled.bound.platform
