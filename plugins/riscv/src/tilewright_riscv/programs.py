"""Knows how a program for a bare machine is made: the runtime's files, the compiler's commands, a folder for others.
Does not know what the program does, nor who runs it, nor any machine.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING

from tilewright.api import usage_error
from tilewright.api.platform import Platform
from tilewright.api.runner import Job, execute, make_harness
from tilewright_riscv.machine import BareMachine
from tilewright_riscv.stack_need import WRITTEN, demand_stack
from tilewright_riscv.toolchains import Toolchain

if TYPE_CHECKING:
    from tilewright.api.stages import Allocated, Artifact

STRICT = ("-std=c11", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-pedantic", "-Werror")
COMMON = ("-O3", "-ffp-contract=off", "-ffreestanding")
RUNTIME_ONLY = ("-fno-builtin",)  # or memcpy would call itself
SHARED_SOURCES = ("host.c", "memory.c", "stacks.c")
SHARED_HEADERS = ("metal.h", "team.h", "silent.h", "libc/string.h", "libc/math.h")
SILENT = '-DTW_PRINT_HEADER="silent.h"'  # there is no console
ELF = "network.elf"
SECONDS = 600.0
NOT_LINKED = ("_simple.c", "_selftest.c")


def runtime_files(machine: BareMachine) -> dict[str, bytes]:
    """The runtime's sources and headers by their path below its folder."""
    return {name: runtime_file(name) for name in (*SHARED_SOURCES, *SHARED_HEADERS)} | machine.runtime()


def runtime_file(name: str) -> bytes:
    """One of the files that all machines share."""
    return (files("tilewright_riscv") / "runtime" / "metal" / name).read_bytes()


def runtime_sources(machine: BareMachine) -> tuple[str, ...]:
    """What of them is compiled, the start first."""
    return (*machine.sources, *SHARED_SOURCES)


def network_sources(artifact: Artifact, prefix: str) -> list[str]:
    """What of the generated files is compiled."""
    left_out = {f"{prefix}{end}" for end in NOT_LINKED}
    return sorted(name for name in artifact.files if name.endswith((".c", ".S")) and name not in left_out)


def build(
    machine: BareMachine,
    toolchain: Toolchain,
    platform: Platform,
    folder: Path,
    sources: Sequence[str],
    libraries: Sequence[str] = (),
) -> Path:
    """Compile and link in `folder`, where `sources` are, the runtime below `runtime/`, and tw_rt.h.

    Returns the ELF. TilewrightError TW7002 (exit 7) with the compiler's or the linker's words, TW5063 (exit 2) where
    stacks are too small, as gcc says.
    """
    for name, content in runtime_files(machine).items():
        (folder / "runtime" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "runtime" / name).write_bytes(content)
    (folder / machine.script).write_text(machine.linker_script(platform), encoding="ascii")
    own = [f"runtime/{name}" for name in runtime_sources(machine)]
    objects = [f"{source.replace('/', '_')}.o" for source in (*sources, *own)]
    base = (*toolchain.command, *toolchain.machine)
    flags = (*base, *STRICT, *COMMON, *machine.stacks.macros(platform), SILENT, "-I.", "-Iruntime", "-Iruntime/libc")
    written = (WRITTEN,) if toolchain.name == "gcc" else ()
    for source, target in zip((*sources, *own), objects, strict=True):
        kind = RUNTIME_ONLY if source in own else written
        _tool([*flags, *kind, "-c", "-o", target, source], folder, toolchain)
    if written:
        demand_stack(machine.stacks, platform, folder, objects[: len(sources)])
    link = (*base, *toolchain.link, "-T", machine.script)
    _tool([*link, "-o", ELF, *objects, *libraries, *toolchain.libraries], folder, toolchain)
    return folder / ELF


def _tool(command: list[str], folder: Path, toolchain: Toolchain) -> None:
    what = f"building the generated code with {toolchain.name}"
    execute(command, folder, code="TW7002", what=what, timeout_seconds=SECONDS)


def bare_folder(machine: BareMachine, plan: Allocated, artifact: Artifact) -> Mapping[str, bytes]:
    """What an exporter writes below the target's name: runtime, linker script, a first program, and a Makefile for gcc
    and for zig.

    TilewrightError TW8041 (exit 2) where the plan is for another target.
    """
    platform = demand_target(plan, machine.target, machine.target)
    prefix, home = artifact.prefix, machine.target
    main = _selftest(prefix) if artifact.selftest else _first_program(plan, artifact, prefix)
    names = {
        "prefix": prefix,
        "target": machine.target,
        "gcc_isa": " ".join((machine.gcc_isa, *machine.gcc_flags)),
        "zig_isa": machine.zig_isa,
        "abi": machine.abi,
        "network": " ".join(network_sources(artifact, prefix)),
        "runtime": " ".join(runtime_sources(machine)),
        "macros": " ".join(machine.stacks.macros(platform)),
        "script": machine.script,
    }
    return {
        f"{home}/Makefile": Template(text("metal.mk")).substitute(names).encode("ascii"),
        f"{home}/{machine.script}": machine.linker_script(platform).encode("ascii"),
        f"{home}/main.c": main.encode("ascii"),
        **{f"{home}/runtime/{name}": content for name, content in runtime_files(machine).items()},
    }


def demand_target(plan: Allocated, target: str, exporter: str) -> Platform:
    """The plan's platform. TilewrightError TW8041 (exit 2) where it is for another target than the exporter."""
    platform = plan.tiled.scheduled.bound.platform
    if not platform.runs(target):
        raise usage_error(
            "TW8041",
            f"exporter '{exporter}' is for target '{target}', not '{platform.name}'",
            fix=(f"--target {target}", f"leave {exporter} out of --emit"),
        )
    return platform


def outer_memories(platform: Platform) -> list[str]:
    """The memories that no core can read."""
    return [memory.name for memory in platform.memories if "none" in memory.access.values()]


def _selftest(prefix: str) -> str:
    return Template(text("selftest.c")).substitute(prefix=prefix)


def _first_program(plan: Allocated, artifact: Artifact, prefix: str) -> str:
    job = Job(artifact=artifact, plan=plan, prefix=prefix, input_sets=())
    return make_harness(job, text("first.mako"), far=outer_memories(plan.tiled.scheduled.bound.platform)).main


@cache
def text(name: str) -> str:
    """A text of this package, with places to be filled."""
    return (files("tilewright_riscv") / "text" / name).read_text(encoding="utf-8")
