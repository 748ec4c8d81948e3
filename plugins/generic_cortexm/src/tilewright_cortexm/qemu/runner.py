"""Knows the runner `qemu-cortex-m`: build for the core, run on the board that has it, count, explain faults.
Does not know what the answers should be.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path

from tilewright.api import TilewrightError
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
from tilewright_cortexm.cores import Core, core_named
from tilewright_cortexm.cortex_m import DEFAULT_CORE
from tilewright_cortexm.latencies import LATENCIES, Latencies
from tilewright_cortexm.qemu.counting import EXTRAS, first_counted, region_lines, step_functions
from tilewright_cortexm.qemu.machines import MACHINES
from tilewright_cortexm.qemu.tools import GCC, QEMU, arm_compiler, counter_plugin, demand_tools, missing_tools

STRICT = ("-std=c11", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-pedantic", "-Werror", "-ffp-contract=off")
OWN = ("board.h", "silent.h", "startup.c", "copies.c", "sections.ld")
SILENT = '-DTW_PRINT_HEADER="silent.h"'  # there is no console
ELF = "network.elf"
FLASH_END = 0x20000000  # of all boards


@dataclass(frozen=True, slots=True, kw_only=True)
class QemuRunner:
    """Runs on an emulated Cortex-M board. Counts are exact instructions; cycles are modelled, of what was executed by
    documented latencies (`latencies`): QEMU models no pipeline.
    """

    name: str = "qemu-cortex-m"
    summary: str = "Cortex-M boards emulated by QEMU; counts executed instructions exactly, and models cycles"
    counts: tuple[str, ...] = ("instructions", "modelled_cycles")
    optimise: str = "-O2"
    stack_bytes: int = 16384
    flash_end: int = FLASH_END  # an address: lines of code that are read below it are counted, too; 0: none are
    compile_seconds: float = 600.0
    run_seconds: float = 900.0

    def available(self) -> str | None:
        """None, or what to install."""
        return missing_tools()

    def run(self, job: Job, folder: Path) -> RunResult:
        """Build in `folder`, execute, return. Without `trace`: instructions and stack of the first input set.

        TilewrightError (exit 7): TW7001 a tool is missing, TW7002 the compiler refused, TW7003 the program failed (a
        fault by name and place, or bytes written outside a pool), TW7004 too slow, TW7010 counts that do not add up.
        """
        demand_tools()
        harness = self._prepare(job, folder)
        self._build(job, folder, harness.flags)
        plugin = () if job.trace else self._plugin(job, folder)
        self._execute(job, folder, plugin)
        outputs = decode_outputs(harness, (folder / "outputs.bin").read_bytes())
        if job.trace:
            whole = (folder / "trace.bin").read_bytes() if harness.records else b""
            rows = (folder / "rows.bin").read_bytes() if harness.traced else b""
            return RunResult(outputs=outputs, values=decode_trace(harness, whole, rows))
        return replace(self._counted(job, folder), outputs=outputs)

    def _prepare(self, job: Job, folder: Path) -> Harness:
        home = files("tilewright_cortexm.qemu")
        steps = len(job.plan.tiled.scheduled.steps)
        harness = make_harness(job, (home / "main.mako").read_text(encoding="ascii"), steps=steps)
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in job.artifact.files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(content)
        for name in OWN:
            (folder / name).write_bytes((home / name).read_bytes())
        for name, text in (("harness_main.c", harness.main), *harness.headers.items()):
            (folder / name).write_text(text, encoding="ascii")
        (folder / "inputs.bin").write_bytes(harness.inputs)
        return harness

    def _build(self, job: Job, folder: Path, more: Sequence[str]) -> None:
        platform, core = platform_of(job), core_of(job)
        strict = not core.unaligned or platform.settings.get("unaligned") == "no"
        flags = [*(platform.compile_flags or core.flags), SILENT, *more, *(["-DTW_TRAP_UNALIGNED"] if strict else [])]
        left_out = (f"{job.prefix}_simple.c", f"{job.prefix}_selftest.c")
        sources = [name for name in job.artifact.files if name.endswith((".c", ".S")) and name not in left_out]
        sources += ["harness_main.c", "startup.c", *(["copies.c"] if strict and core.unaligned else [])]
        command = arm_compiler(os.environ)
        for source in sources:
            self._tool([*command, *STRICT, self.optimise, *flags, "-I.", "-c", "-o", _object(source), source], folder)
        bindings = job.plan.tiled.scheduled.bound.bindings.values()
        libraries = sorted({library for binding in bindings for library in binding.kernel.libraries})
        link = ["-nostartfiles", "-T", "sections.ld", "-Wl,--no-warn-rwx-segments", "-Wl,--gc-sections"]
        place = [*MACHINES[core.name].link_flags, f"-Wl,--defsym=STACK_SIZE={self.stack_bytes}"]
        self._tool([GCC, *core.flags, *link, *place, "-o", ELF, *map(_object, sources), *libraries, "-lm"], folder)

    def _tool(self, command: list[str], folder: Path) -> None:
        what = f"compiling the generated code with {command[0]}"
        execute(command, folder, code="TW7002", what=what, timeout_seconds=self.compile_seconds)

    def _plugin(self, job: Job, folder: Path) -> tuple[str, ...]:
        functions = step_functions(job.artifact.files[f"{job.prefix}.c"])
        lines = region_lines(elf_symbols((folder / ELF).read_bytes()), job.prefix, functions)
        (folder / "regions.txt").write_text(lines, encoding="ascii")
        flash = f",flash={self.flash_end:#x}" if self.flash_end else ""
        return ("-plugin", f"{counter_plugin(folder)},regions=regions.txt,out=counts.txt{flash}")

    def _execute(self, job: Job, folder: Path, plugin: tuple[str, ...]) -> None:
        board = MACHINES[core_of(job).name].board
        screen = ("-display", "none", "-monitor", "none", "-serial", "none")
        hosting = ("-semihosting-config", "enable=on,target=native")
        command = [QEMU, "-M", board, *screen, *hosting, *plugin, "-kernel", ELF]
        what = f"the generated program on {board}"
        try:
            execute(command, folder, code="TW7003", what=what, timeout_seconds=self.run_seconds, answers="outputs.bin")
        except TilewrightError as error:
            raise _located(error, (folder / ELF).read_bytes()) from None

    def _counted(self, job: Job, folder: Path) -> RunResult:
        steps = executed_steps(job)
        every = len(job.plan.tiled.scheduled.steps)
        result = first_counted((folder / "counts.txt").read_text(encoding="ascii"), every, len(steps))
        stack = memoryview((folder / "stack.bin").read_bytes()).cast("I")
        latencies = LATENCIES[core_of(job).name].with_flash(job.flash, job.clock_hz)
        whole = _flat(result.total, latencies) | {
            "stack_bytes": stack[0],
            "code_bytes": elf_code_bytes((folder / _object(f"{job.prefix}.c")).read_bytes()),
        }
        return RunResult(
            outputs=(),
            counts=whole,
            step_counts={
                name: _flat(counts, latencies) | {"stack_bytes": stack[1 + number]}
                for (number, name), counts in zip(steps.items(), result.steps, strict=True)
            },
            kind="measured",
            model=latencies.text,
        )


def executed_steps(job: Job) -> dict[int, str]:
    """By number the steps that have a function; those computed row by row with others are in the last one's."""
    executed = job.plan.tiled.executed
    names = enumerate(step.name for step in job.plan.tiled.scheduled.steps)
    return {number: name for number, name in names if executed[name] == number}


def platform_of(job: Job) -> Platform:
    """The target that the job was compiled for."""
    return job.plan.tiled.scheduled.bound.platform


def core_of(job: Job) -> Core:
    """The core that the job was compiled for; for another target than Cortex-M, the default one."""
    return core_named(platform_of(job).settings.get("core", DEFAULT_CORE))


def _object(source: str) -> str:
    return f"{Path(source).name.rpartition('.')[0]}{'_S' if source.endswith('.S') else ''}.o"


def _flat(classes: Mapping[str, int], latencies: Latencies) -> dict[str, int]:
    counted = {f"instructions.{name}": count for name, count in classes.items() if count and name not in EXTRAS}
    more = {name: count for name, count in classes.items() if count and name in EXTRAS}
    cycles = round(latencies.cycles(counted | more))
    return {"instructions": sum(counted.values()), "modelled_cycles": cycles} | counted | more


def _located(error: TilewrightError, elf: bytes) -> TilewrightError:
    """The same error, with the function that a fault's program counter is in."""
    match = re.search(r"; pc 0x([0-9a-f]+)", "\n".join(error.details))
    function = elf_function_at(elf_symbols(elf), int(match[1], 16)) if match else ""
    if function:
        return replace(error, details=(*error.details, f"in function {function}"))
    return error
