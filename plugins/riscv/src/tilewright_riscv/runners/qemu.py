"""Knows the runner `qemu-riscv32`: a whole team's program as harts of QEMU's board `virt`, counted, faults by name.
Does not know what the answers should be; it demands that harts in turn and harts all at once give the same.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import NoReturn

from tilewright.api import TilewrightError, ceil_div, toolchain_error
from tilewright.api.platform import Platform
from tilewright.api.runner import (
    Harness,
    Job,
    RunResult,
    decode_outputs,
    decode_trace,
    elf_code_bytes,
    elf_function_at,
    elf_symbols,
    execute,
    make_harness,
)
from tilewright_riscv.machine import machine_of
from tilewright_riscv.programs import SILENT, runtime_file
from tilewright_riscv.runners.qemu_tools import QEMU, Builder, demand_builder, missing_tools

STRICT = ("-std=c11", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-pedantic", "-Werror", "-ffp-contract=off")
OWN = ("board.c", "board.h", "crt.S", "csr.h", "team.c")
LIBC = ("math.h", "string.h")
ELF = "network.elf"
TEAM_HEADER = "tw_rt.h"
GUARDED = 3  # memories: harts have 16 entries to protect ranges of addresses with
PAGE = 4096
STACK_BYTES = 16384  # of each hart, with a guard of one page: board.h
MIB = 1 << 20
ASCENDING, DESCENDING, AT_ONCE = 0, 1, 2  # board.h
SCREEN = ("-bios", "none", "-display", "none", "-serial", "none", "-monitor", "none")
HOSTING = ("-semihosting-config", "enable=on,target=native")
COUNTING = ("-icount", "shift=0,sleep=off,align=off")
PARALLEL = ("-accel", "tcg,thread=multi")


@dataclass(frozen=True, slots=True, kw_only=True)
class Team:
    """The harts of one program: those that compute, and perhaps one more that moves data."""

    cores: int
    dma_core: bool
    channels: int  # of the copy engine

    @property
    def names(self) -> tuple[str, ...]:
        """Of the harts, in their order."""
        return (*(f"core{number}" for number in range(self.cores)), *(["dma_core"] if self.dma_core else []))


@dataclass(frozen=True, slots=True, kw_only=True)
class QemuRiscvRunner:
    """Runs any program for a team of cores, and those for one core, on as many RISC-V harts.

    Each program runs three times: one hart after the other from barrier to barrier, so that instructions can be
    counted, copies arriving when they are waited for; then without hooks, harts in the opposite order, copies arriving
    when they are started; then all harts at once.
    """

    name: str = "qemu-riscv32"
    summary: str = "RISC-V harts emulated by QEMU, one for each core and one to move data; counts instructions exactly"
    counts: tuple[str, ...] = ("instructions",)
    dma_core: bool = True  # otherwise core 0 moves data
    builder: Builder | None = None  # None: the first that is found
    optimise: str = "-O2"
    compile_seconds: float = 600.0
    run_seconds: float = 300.0

    def available(self) -> str | None:
        """None, or what to install."""
        return missing_tools()

    def run(self, job: Job, folder: Path) -> RunResult:
        """Build in `folder`, execute, return. Counts are those of the first input set.

        TilewrightError (exit 7): TW7001 a tool is missing, TW7002 the compiler refused, TW7003 the program failed,
        TW7004 it does not end, TW7103 to TW7113 what it does that the machine cannot or that the twin names so too,
        TW7120 a fault of a hart, TW7121 a stack that is too small.
        """
        builder = self.builder or demand_builder(self.name, double=_uses_doubles(_platform(job)))
        team = _team(job, extra_dma_core=self.dma_core)
        harness = _prepare(job, team, folder)
        self._build(builder, job, team, folder)
        self._execute(job, folder, team, ASCENDING)
        outputs = decode_outputs(harness, (folder / "outputs.bin").read_bytes())
        values = decode_trace(harness, (folder / "trace.bin").read_bytes()) if harness.records else ()
        spent = _read_counts(folder, team, job)
        for order in (DESCENDING, AT_ONCE):
            self._execute(job, folder, team, order)
            _demand_same(outputs, decode_outputs(harness, (folder / "outputs.bin").read_bytes()), order)
        stacks = [hart[0] for hart in _read_counts(folder, team, job)]
        counted = _counted(job, team, spent, stacks, elf_code_bytes((folder / f"{job.prefix}.o").read_bytes()))
        return replace(counted, outputs=outputs, values=values)

    def _build(self, builder: Builder, job: Job, team: Team, folder: Path) -> None:
        left_out = (f"{job.prefix}_simple.c", f"{job.prefix}_selftest.c")
        generated = [name for name in job.artifact.files if name.endswith((".c", ".S")) and name not in left_out]
        numbers = {
            "CORES": team.cores,
            "EXTRA_DMA_CORE": int(team.dma_core),
            "CHANNELS": team.channels,
            "STEPS": len(job.plan.tiled.scheduled.steps),
        }
        own = [f"-D{name}={number}" for name, number in numbers.items()]
        headers = ["-isystem", "libc"] if builder.freestanding else []
        portable = _portable(_platform(job))
        objects = []
        for source in (*generated, "harness_main.c", "board.c", "team.c", "crt.S"):
            named = own if source not in generated else [SILENT]
            flags = [*STRICT, self.optimise, *portable, *headers, "-I.", *named]
            objects.append(_object(source))
            self._tool(builder, [*flags, "-c", "-o", objects[-1], source], folder)
        bindings = job.plan.tiled.scheduled.bound.bindings.values()
        libraries = sorted({library for binding in bindings for library in binding.kernel.libraries})
        link = ["-nostartfiles", "-static", "-T", "sections.ld"]
        self._tool(builder, [*link, "-o", ELF, *objects, *libraries, *builder.libraries], folder)

    def _tool(self, builder: Builder, arguments: Sequence[str], folder: Path) -> None:
        execute(
            [*builder.command, *arguments],
            folder,
            code="TW7002",
            what=f"compiling the generated code with {builder.name}",
            timeout_seconds=self.compile_seconds,
        )

    def _execute(self, job: Job, folder: Path, team: Team, order: int) -> None:
        (folder / "order.bin").write_bytes(order.to_bytes(4, "little"))
        content = (folder / ELF).read_bytes()
        size = {symbol.name: symbol.address for symbol in elf_symbols(content)}["board_end"] - 0x8000_0000
        machine = ("-M", "virt", "-smp", str(len(team.names)), "-m", f"{ceil_div(size, MIB) + 2}M")
        how = PARALLEL if order == AT_ONCE else COUNTING
        command = [QEMU, *machine, *SCREEN, *HOSTING, *how, "-kernel", ELF]
        what = f"the generated program on {len(team.names)} emulated harts"
        try:
            execute(command, folder, code="TW7003", what=what, timeout_seconds=self.run_seconds, answers="outputs.bin")
        except TilewrightError as error:
            _raise_fault(error, job, team, content)


def _team(job: Job, *, extra_dma_core: bool) -> Team:
    platform = _platform(job)
    if TEAM_HEADER not in job.artifact.files:
        return Team(cores=1, dma_core=False, channels=1)
    channels = max((path.channels for path in platform.copies), default=1)
    return Team(cores=platform.engines[0].cores, dma_core=extra_dma_core, channels=max(channels, 1))


def _portable(platform: Platform) -> list[str]:
    """Kernels leave out their machine's own instructions, which QEMU does not know."""
    machine = machine_of(platform)
    return [f"-D{machine.instructions}=0"] if machine else []


def _uses_doubles(platform: Platform) -> bool:
    return "-mabi=ilp32d" in platform.compile_flags


def _platform(job: Job) -> Platform:
    return job.plan.tiled.scheduled.bound.platform


def _prepare(job: Job, team: Team, folder: Path) -> Harness:
    home = files("tilewright_riscv").joinpath("runtime", "qemu")
    harness = make_harness(job, home.joinpath("main.mako").read_text(encoding="ascii"), most_guarded=GUARDED)
    (folder / "libc").mkdir(parents=True, exist_ok=True)
    for name, content in job.artifact.files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    for name in OWN:
        (folder / name).write_bytes(home.joinpath(name).read_bytes())
    (folder / "silent.h").write_bytes(runtime_file("silent.h"))
    for name in LIBC:
        (folder / "libc" / name).write_bytes(home.joinpath("libc", name).read_bytes())
    stacks = str(len(team.names) * (STACK_BYTES + PAGE))
    sections = home.joinpath("sections.ld").read_text(encoding="ascii").replace("TEAM_STACKS", stacks)
    (folder / "sections.ld").write_text(sections, encoding="ascii")
    (folder / "harness_main.c").write_text(harness.main, encoding="ascii")
    (folder / "inputs.bin").write_bytes(harness.inputs)
    return harness


def _object(source: str) -> str:
    return f"{Path(source).name.rpartition('.')[0]}{'_S' if source.endswith('.S') else ''}.o"


def _read_counts(folder: Path, team: Team, job: Job) -> list[list[int]]:
    """For each hart the bytes of stack, then instructions in each step, then those outside all steps."""
    words = memoryview((folder / "counts.bin").read_bytes()).cast("Q").tolist()
    width = len(job.plan.tiled.scheduled.steps) + 2
    if len(words) != width * len(team.names):
        raise toolchain_error("TW7010", f"the program counted {len(words)} numbers, not {width} for each hart")
    return [words[start : start + width] for start in range(0, len(words), width)]


def _counted(
    job: Job, team: Team, spent: Sequence[Sequence[int]], stacks: Sequence[int], code_size_bytes: int
) -> RunResult:
    """`instructions` of all harts together, and of each one, as classes; without those of the runtime and of copies."""
    steps = job.plan.tiled.scheduled.steps
    per_step = {
        step.name: _summed(team, [hart[1 + index] for hart in spent], "instructions")
        for index, step in enumerate(steps)
    }
    stack = {f"stack_bytes.{name}": size for name, size in zip(team.names, stacks, strict=True)}
    return RunResult(
        outputs=(),
        counts=_summed(team, [sum(hart[1:]) for hart in spent], "instructions")
        | {"stack_bytes": max(stacks), "code_bytes": code_size_bytes}
        | stack,
        step_counts=per_step,
        kind="measured",
    )


def _summed(team: Team, each: Sequence[int], unit: str) -> dict[str, int]:
    return {unit: sum(each)} | {f"{unit}.{name}": count for name, count in zip(team.names, each, strict=True)}


def _demand_same(first: Sequence[Mapping[str, object]], second: Sequence[Mapping[str, object]], order: int) -> None:
    import numpy as np

    how = "at once" if order == AT_ONCE else "in the opposite order"
    for a, b in zip(first, second, strict=True):
        for name in a:
            left, right = np.asarray(a[name]), np.asarray(b[name])
            if left.tobytes() != right.tobytes():
                raise toolchain_error(
                    "TW7112",
                    f"'{name}' is another when harts run {how} than when they run one after the other",
                    where=f"output '{name}'",
                    details=(f"{int(np.count_nonzero(left != right))} elements differ",),
                    fix=("run it on the twin, which names the missing barrier or wait",),
                )


def _raise_fault(error: TilewrightError, job: Job, team: Team, elf: bytes) -> NoReturn:
    """What the program said before it ended itself: a code and a text, then which hart in which step."""
    said = "\n".join(error.details)
    match = re.search(r"^(TW\d{4}) (.*)\nhart (\d+) step (\d+)$", said, re.MULTILINE)
    if match is None:
        raise error
    code, text, hart, step = match[1], match[2], int(match[3]), int(match[4])
    counter = re.search(r"; pc 0x([0-9a-f]+)", text)
    function = elf_function_at(elf_symbols(elf), int(counter[1], 16)) if counter else ""
    steps = job.plan.tiled.scheduled.steps
    place = [f"step '{steps[step].name}'"] if step < len(steps) else []
    raise toolchain_error(
        code,
        f"on QEMU: {text}",
        where=", ".join([*place, f"hart {hart} ({team.names[hart]})"]),
        details=(f"in function {function}",) if function else (),
    ) from error
