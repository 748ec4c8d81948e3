"""Knows how to build a generated network with this machine's C compiler and run it here.
Does not know what the answers should be.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tilewright.errors import TilewrightError, toolchain_error, typed
from tilewright.ir.programs.runner import Job, RunResult
from tilewright.runners.harness import Harness, decode_outputs, decode_trace, make_harness
from tilewright.runners.toolchain import INSTALL_HINT, Compiler, execute, find_compiler, missing_compiler
from tilewright.runners.write_guard import trespass

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]

TEAM_HEADER = "tw_rt.h"  # is among the files of a program for a team
STRICT = (
    "-std=c11",
    "-O2",
    "-Wall",
    "-Wextra",
    "-Wconversion",
    "-Wshadow",
    "-pedantic",
    "-Werror",
    "-ffp-contract=off",
)
SANITIZE = (  # half of the time that -O2 -g takes to compile
    "-O1",
    "-g1",
    "-fsanitize=address,undefined",
    "-fno-sanitize-recover=all",
    "-fno-omit-frame-pointer",
    '-DTW_LIFETIMES_HEADER="host_lifetimes.h"',
)
LIFETIMES_HEADER = """#include <sanitizer/asan_interface.h>
#define TW_LIVE(pointer, bytes) __asan_unpoison_memory_region((pointer), (bytes))
#define TW_DEAD(pointer, bytes) __asan_poison_memory_region((pointer), (bytes))
"""
SANITIZER_OPTIONS = {"ASAN_OPTIONS": "detect_leaks=0", "UBSAN_OPTIONS": "print_stacktrace=1"}


@dataclass(frozen=True, slots=True, kw_only=True)
class HostRunner:
    """Runs on this machine. `sanitize` adds ASan and UBSan, and poisons dead buffers where the program marks them."""

    name: str = "host"
    summary: str = "this machine, with the C compiler found (CC, cc, gcc, clang, or the ziglang wheel)"
    counts: tuple[str, ...] = ()  # a time of this machine says nothing about another
    compile_seconds: float = 600.0
    run_seconds: float = 600.0

    def available(self) -> str | None:
        """None, or what to install."""
        missing = missing_compiler()
        return f"{missing}: {INSTALL_HINT}" if missing else None

    def run(self, job: Job, folder: Path) -> RunResult:
        """Build in `folder`, execute, return.

        TilewrightError (exit 7): TW7001 no compiler, TW7002 it refused the code, TW7003 the program failed (its status,
        a sanitizer's report, or bytes written outside a pool), TW7004 it took too long, TW7005 no sanitizers, TW7006 it
        is for a team of cores, TW7007 (with `Job.trace`) a step wrote outside its outputs and its scratch.
        """
        if TEAM_HEADER in job.artifact.files:
            raise toolchain_error(
                "TW7006",
                f"runner '{self.name}' runs programs for one core, and this one is for a team of cores",
                fix=(typed("--on", "twin", gives="runs it on a model of its machine, here"),),
            )
        compiler = find_compiler()
        if job.sanitize and not compiler.sanitizers:
            raise toolchain_error(
                "TW7005",
                f"compiler '{compiler.name}' comes without AddressSanitizer",
                fix=("install gcc or clang", "run without --sanitize"),
            )
        harness = make_harness(job)
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in job.artifact.files.items():
            (folder / name).write_bytes(content)
        (folder / "host_main.c").write_text(harness.main, encoding="ascii")
        (folder / "host_lifetimes.h").write_text(LIFETIMES_HEADER, encoding="ascii")
        for name, text in harness.headers.items():
            (folder / name).write_text(text, encoding="ascii")
        (folder / "inputs.bin").write_bytes(harness.inputs)
        self._build(compiler, job, folder, harness.flags)
        self._execute(job, harness, folder)
        return RunResult(
            outputs=decode_outputs(harness, (folder / "outputs.bin").read_bytes()),
            values=_traced(harness, folder) if job.trace else (),
        )

    def _execute(self, job: Job, harness: Harness, folder: Path) -> None:
        try:
            execute(
                [str((folder / "host_main").resolve())],
                folder,
                code="TW7003",
                what="the generated program",
                timeout_seconds=self.run_seconds,
                environment=SANITIZER_OPTIONS,
                answers="outputs.bin",
            )
        except TilewrightError as error:
            raise trespass(job, harness.areas, folder) or error from error

    def _build(self, compiler: Compiler, job: Job, folder: Path, flags: Sequence[str]) -> None:
        left_out = (f"{job.prefix}_simple.c", f"{job.prefix}_selftest.c")
        sources = [name for name in job.artifact.files if name.endswith((".c", ".S")) and name not in left_out]
        bindings = job.plan.tiled.scheduled.bound.bindings.values()
        libraries = sorted({library for binding in bindings for library in binding.kernel.libraries})
        execute(
            [
                *compiler.command,
                *STRICT,
                *(SANITIZE if job.sanitize else ()),
                *flags,
                "-I.",
                "-o",
                "host_main",
                "host_main.c",
                *sources,
                *libraries,
                "-lm",
            ],
            folder,
            code="TW7002",
            what=f"compiling the generated code with {compiler.name}",
            timeout_seconds=self.compile_seconds,
        )


def _traced(harness: Harness, folder: Path) -> tuple[Mapping[str, Array], ...]:
    whole = (folder / "trace.bin").read_bytes() if harness.records else b""
    rows = (folder / "rows.bin").read_bytes() if harness.traced else b""
    return decode_trace(harness, whole, rows)
