"""Knows how to run a generated program on a twin of its machine: memories at the device's addresses between guard
pages, copies that arrive only when waited for, cores in every order, one virtual clock.
Does not know what the answers should be; it demands that all runs give the same.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from importlib.resources import files
from pathlib import Path
from typing import Any, NoReturn

from tilewright.emit.emit import text as emitted_text
from tilewright.errors import TilewrightError, toolchain_error
from tilewright.ir.machines.platform import Platform
from tilewright.ir.programs.runner import Job, Level, RunResult, Timeline, TimeSpan
from tilewright.runners.harness import Harness, decode_outputs, decode_trace, make_harness
from tilewright.runners.host import SANITIZER_OPTIONS, STRICT
from tilewright.runners.kernel_owners import packages_of
from tilewright.runners.toolchain import INSTALL_HINT, Compiler, execute, find_compiler, missing_compiler, object_files
from tilewright.runners.twin_machine import TEAM_HEADER, TwinMachine, machine_of
from tilewright.runners.write_guard import trespass

RUNTIME = ("twin.h", "clock.c", "commands.c", "copy.c", "engine.c", "memory.c", "team.c")
WATCHED = ('-DTW_LIFETIMES_HEADER="twin_lifetimes.h"', "-DTW_RT_ENGINES=1")
ADDRESS = ("-O1", "-g1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-fno-omit-frame-pointer")
THREAD = ("-O1", "-g1", "-fsanitize=thread", "-fno-omit-frame-pointer")
LIFETIMES_HEADER = """/* Buffers of whole steps. Every core says that they live; the DMA core, that they are dead. */
#include "twin.h"
#include "tw_rt.h"
#define TW_LIVE(pointer, bytes) twin_unhide((pointer), (bytes))
#define TW_DEAD(pointer, bytes) (tw_rt_is_dma_core() ? twin_hide((pointer), (bytes)) : (void)0)
"""
ENVIRONMENT = {**SANITIZER_OPTIONS, "TSAN_OPTIONS": "halt_on_error=1"}
CLOCK = "the twin's virtual clock: the platform's estimates for kernels and copies, and who waits for whom"
OF_JOBS = ("TW7040", "TW7041", "TW7042", "TW7043", "TW7044")  # faults of kernels that run beside the cores
STREAM_SETS = 100  # at the beginning of a long stream: in every order; the rest of it in one
OUTSIDE = "none"  # what runs before the first step, between two, or after the last


@dataclass(frozen=True, slots=True, kw_only=True)
class Execution:
    """One run of the built program: seeds 0 and 1 take cores in ascending and in descending order."""

    seed: int
    mode: str  # "lazy": bytes arrive at the wait; "eager": at the start; "free": lazy, all cores at once
    quiet: bool = False  # without hooks, and so without the barriers around them: nobody knows the step
    sets: int = 0  # so many at the beginning; 0: all

    def __str__(self) -> str:
        return f"seed {self.seed}, {self.mode}{', without hooks' if self.quiet else ''}"


@dataclass(frozen=True, slots=True, kw_only=True)
class TwinRunner:
    """Runs each program several times, and demands the same answer each time. Cycles come from the virtual clock."""

    name: str = "twin"
    summary: str = "a twin of the target on this machine: guarded memories, late copies, cores in every order, a clock"
    counts: tuple[str, ...] = ("cycles",)
    seeds: tuple[int, ...] = (0, 1, 2)
    modes: tuple[str, ...] = ("lazy", "eager")
    dma_core: bool = False  # data is moved by one more core, whatever the platform says
    race: bool = False  # cores run all at once under ThreadSanitizer
    compile_seconds: float = 600.0
    run_seconds: float = 600.0

    def available(self) -> str | None:
        """None, or what to install."""
        missing = missing_compiler()
        return f"{missing}: {INSTALL_HINT}" if missing else None

    def run(self, job: Job, folder: Path) -> RunResult:
        """Build in `folder`, execute in every order and delivery mode, return.

        TilewrightError (exit 7): TW7001 no compiler, TW7002 it refused the code, TW7003 the program failed, TW7004 it
        took too long, TW7005 no sanitizers, TW7007 a step wrote where it may not, TW7100 to TW7115 a fault that
        the twin or a sanitizer found.
        """
        compiler = find_compiler()
        if (job.sanitize or self.race) and not compiler.sanitizers:
            raise toolchain_error(
                "TW7005",
                f"compiler '{compiler.name}' comes without sanitizers",
                fix=("install gcc or clang", "run without --sanitize"),
            )
        machine = machine_of(job, dma_core=self.dma_core)
        harness = make_harness(job, _text("text/twin.mako"), machine=machine)
        self._write(job, harness, folder)
        self._build(compiler, job, folder)
        return self._run_all(job, harness, machine, folder)

    def _write(self, job: Job, harness: Harness, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in job.artifact.files.items():
            (folder / name).write_bytes(content)
        (folder / "twin_lifetimes.h").write_text(LIFETIMES_HEADER, encoding="ascii")
        (folder / "twin_main.c").write_text(harness.main, encoding="ascii")
        (folder / "inputs.bin").write_bytes(harness.inputs)

    def _build(self, compiler: Compiler, job: Job, folder: Path) -> None:
        left_out = (f"{job.prefix}_simple.c", f"{job.prefix}_selftest.c")
        sources = [name for name in job.artifact.files if name.endswith((".c", ".S")) and name not in left_out]
        bindings = job.plan.tiled.scheduled.bound.bindings.values()
        libraries = sorted({library for binding in bindings for library in binding.kernel.libraries})
        extra = THREAD if self.race else ADDRESS if job.sanitize else ()
        command = [*compiler.command, *STRICT, *WATCHED, *extra, "-pthread", "-I."]
        what = f"compiling the generated code with {compiler.name}"
        build = partial(execute, code="TW7002", what=what, timeout_seconds=self.compile_seconds)
        objects = object_files(command, _runtime(job), folder, build)
        build([*command, "-o", "twin_main", "twin_main.c", *sources, *objects, *libraries, "-lm"], folder)

    def _executions(self, job: Job) -> list[Execution]:
        """The first runs everything; of a long stream the others take the beginning."""
        modes, sets = ("free",) if self.race else self.modes, min(job.untraced, STREAM_SETS)
        heard = [Execution(seed=seed, mode=mode, sets=sets) for seed in self.seeds for mode in modes]
        quiet = (Execution(seed=seed, mode=modes[0], quiet=True, sets=sets) for seed in self.seeds[:2])
        return [*([replace(heard[0], sets=0)] if sets else []), *heard, *quiet]

    def _run_all(self, job: Job, harness: Harness, machine: TwinMachine, folder: Path) -> RunResult:
        """The first execution finds out which transfers there are; from the second on the clock knows their cost."""
        platform = job.plan.tiled.scheduled.bound.platform
        executions = self._executions(job)
        first: RunResult | None = None
        for execution in executions:
            self._execute(execution, job, harness, folder)
            now = _answers(harness, execution, folder)
            if first is None:
                first = now
                _write_costs(folder, platform)
            _demand_same(first, now, (executions[0], execution))
        if first is None:
            raise ValueError("a twin without seeds or modes runs nothing")
        again = replace(executions[0], sets=executions[-1].sets)
        self._execute(again, job, harness, folder, timeline=job.timeline)
        return _counted(first, job, machine, folder)

    def _execute(
        self, execution: Execution, job: Job, harness: Harness, folder: Path, *, timeline: bool = False
    ) -> None:
        for name in ("fault.txt", "events.txt"):
            (folder / name).unlink(missing_ok=True)
        command = [str((folder / "twin_main").resolve()), str(execution.seed), execution.mode]
        sets = execution.sets or harness.sets
        try:
            execute(
                [*command, "timeline" if timeline else "quiet" if execution.quiet else "heard", str(sets)],
                folder,
                code="TW7003",
                what="the generated program",
                timeout_seconds=self.run_seconds,
                environment=ENVIRONMENT,
                answers="outputs.bin",
            )
        except TilewrightError as error:
            if fault := trespass(job, harness.areas, folder):
                raise fault from error
            _raise_fault(error, folder, execution, job)


RACE = TwinRunner(
    name="twin-race", summary="the twin with all cores at once, under ThreadSanitizer", seeds=(0, 1), race=True
)


def _raise_fault(error: TilewrightError, folder: Path, execution: Execution, job: Job) -> NoReturn:
    """What the twin or a sanitizer says about it, or else the same error. fault.txt: code and text, and where."""
    file = folder / "fault.txt"
    said = file.read_text(encoding="utf-8", errors="replace").splitlines() if file.is_file() else []
    if len(said) > 1 and said[0].startswith("TW"):
        code, _, message = said[0].partition(" ")
        owners = packages_of(job, message) if code in OF_JOBS else ""
        raise toolchain_error(code, f"the twin found: {message}", where=f"{said[1]}{owners}") from error
    if any("Sanitizer" in line or "runtime error" in line for line in error.details):
        where = said[-1] if said else str(execution)
        raise toolchain_error(
            "TW7115", "a sanitizer stopped the generated program", where=where, details=error.details
        ) from error
    raise error


def _answers(whole: Harness, execution: Execution, folder: Path) -> RunResult:
    harness = replace(whole, records=()) if execution.quiet else whole
    if execution.sets:
        harness = replace(harness, sets=execution.sets, untraced=execution.sets)
    return RunResult(
        outputs=decode_outputs(harness, (folder / "outputs.bin").read_bytes()),
        values=decode_trace(harness, (folder / "trace.bin").read_bytes()) if harness.records else (),
    )


def _demand_same(first: RunResult, now: RunResult, runs: tuple[Execution, Execution]) -> None:
    import numpy as np

    for values_a, values_b in ((first.values, now.values), (first.outputs, now.outputs)):
        for left, right in zip(values_a, values_b, strict=False):  # a run without hooks has no values
            for name in left:
                if left[name].tobytes() != right[name].tobytes():
                    different = int(np.count_nonzero(left[name] != right[name]))
                    raise toolchain_error(
                        "TW7112",
                        f"the twin found: '{name}' depends on the order of cores or on when copies arrive",
                        where=f"value '{name}'",
                        details=(f"{different} elements differ between run ({runs[0]}) and run ({runs[1]})",),
                        fix=(
                            "--on twin-race     may name the line: no barrier, no wait, or bytes that nobody wrote",
                            "report it, with the model",
                        ),
                    )


def _write_costs(folder: Path, platform: Platform) -> None:
    """What every kind of transfer of the last run costs."""
    lines = []
    for path, size, rows in _report(folder)["shapes"]:
        cycles = math.ceil(platform.copies[path].cycles(size, rows))
        lines.append(f"{path} {size} {rows} {cycles}\n")
    (folder / "costs.txt").write_text("".join(sorted(lines)), encoding="ascii")


def _report(folder: Path) -> dict[str, Any]:
    report: dict[str, Any] = json.loads((folder / "report.json").read_text(encoding="ascii"))
    return report


def _counted(result: RunResult, job: Job, machine: TwinMachine, folder: Path) -> RunResult:
    report = _report(folder)
    names = [step.name for step in job.plan.tiled.scheduled.steps]
    steps = {name: _step_counts(item, machine) for name, item in zip(names, report["steps"], strict=False)}
    last = report["steps"][len(names)]
    everything = [_step_counts(item, machine) for item in report["steps"]]
    totals: dict[str, int] = {"cycles": report["cycles"], "barriers": report["barriers"]}
    for counts in everything:
        for name, count in counts.items():
            if name != "cycles":
                totals[name] = totals.get(name, 0) + count
    return replace(
        result,
        counts=totals,
        step_counts=steps | ({OUTSIDE: _step_counts(last, machine)} if any(path[0] for path in last["paths"]) else {}),
        kind="estimate",
        clock=CLOCK,
        timeline=_timeline(report, names, machine, folder) if job.timeline else None,
    )


def _step_counts(item: Mapping[str, Any], machine: TwinMachine) -> dict[str, int]:
    """`cycles` from the first core that began to the last that ended; `compute` of the busiest core; `stall` of the
    DMA core, waiting for transfers; `copy`: how long engines worked; and `bytes.SOURCE->TARGET`,
    `transfers.SOURCE->TARGET`.
    """
    counts = {
        "cycles": max(item["end"] - item["begin"], 0),
        "compute_cycles": item["compute"],
        "copy_cycles": sum(cycles for _, _, cycles in item["paths"]),
        "stall_cycles": item["stall"],
    }
    for path, (size, transfers, _) in zip(machine.paths, item["paths"], strict=True):
        if transfers:
            name = path.name.replace(" ", "")
            counts |= {f"bytes.{name}": size, f"transfers.{name}": transfers}
    return counts


def _timeline(report: Mapping[str, Any], names: Sequence[str], machine: TwinMachine, folder: Path) -> Timeline:
    lines = [line.split() for line in (folder / "events.txt").read_text(encoding="ascii").splitlines()]
    steps = [
        TimeSpan(track="steps", name=name, step=name, begin=item["begin"], end=item["end"])
        for name, item in zip(names, report["steps"], strict=False)
    ]
    return Timeline(
        spans=(*steps, *_spans(lines, [*names, OUTSIDE], machine)),
        levels=tuple(_levels(lines, machine)),
    )


def _spans(lines: Sequence[Sequence[str]], names: Sequence[str], machine: TwinMachine) -> Iterator[TimeSpan]:
    for kind, *fields in lines:
        numbers = [int(field) for field in fields]
        if kind == "C":
            path, begin, end, size, rows, step, queue = numbers
            engine = machine.engines[machine.paths[path].engine]
            yield TimeSpan(
                track=f"{engine}, queue {queue + 1}" if queue else engine,
                name=machine.paths[path].name,
                step=names[min(step, len(names) - 1)],
                begin=begin,
                end=end,
                details={"bytes": size, "rows": rows},
            )
        elif kind == "P":
            begin, end, step = numbers
            name = names[min(step, len(names) - 1)]
            yield TimeSpan(track="cores", name=name, step=name, begin=begin, end=end)


def _levels(lines: Sequence[Sequence[str]], machine: TwinMachine) -> Iterator[Level]:
    used = dict.fromkeys(machine.memories, 0)
    for kind, *fields in lines:
        if kind == "M":
            memory, cycle, change = machine.memories[int(fields[0])], int(fields[1]), int(fields[2])
            used[memory] += change
            yield Level(memory=memory, cycle=cycle, used_bytes=used[memory])


def _runtime(job: Job) -> dict[str, str]:
    """The twin's own files, by the names that they have beside the program's; `tw_rt.h` as the program has it."""
    team = job.artifact.files.get(TEAM_HEADER)
    own = {name if name == "twin.h" else f"twin_{name}": _text(f"twin_runtime/{name}") for name in RUNTIME}
    return {TEAM_HEADER: team.decode("ascii") if team else emitted_text(TEAM_HEADER), **own}


@cache
def _text(name: str) -> str:
    return files("tilewright.runners").joinpath(name).read_text(encoding="utf-8")
