"""Knows how a program for the bare machine is made: the runtime's files, the linker script, two compilers' commands.
Does not know what the program does, nor who runs it.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from string import Template

from tilewright.api import toolchain_error
from tilewright.api.platform import Platform
from tilewright.api.runner import execute
from tilewright_siracusa.machine import L1_BASE, L2_BASE, L2_BYTES, L3_BASE, L3_BYTES
from tilewright_siracusa.platform import stacks_bytes, stacks_memory

GCC = "riscv64-unknown-elf-gcc"
INSTALL = "apt install gcc-riscv64-unknown-elf     (or: pip install ziglang)"
CHOICE = "TILEWRIGHT_SIRACUSA_CC"  # gcc or zig; otherwise the first that is there
CONTROLLER_STACK_BYTES = 4096  # in L2, of the core outside the cluster
STRICT = ("-std=c11", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-pedantic", "-Werror")
COMMON = ("-O3", "-ffp-contract=off", "-ffreestanding", "-mabi=ilp32f", "-mno-relax")
RUNTIME_ONLY = ("-fno-builtin",)  # or memcpy would call itself
C_FILES = ("boot.c", "team.c", "copy.c", "external.c", "memory.c")
SOURCES = ("start.S", *C_FILES)
HEADERS = ("siracusa.h", "team.h", "external.h", "libc/string.h", "libc/math.h")
SCRIPT = "siracusa.ld"
ELF = "network.elf"
SECONDS = 600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Toolchain:
    """A C compiler for the cluster. The core outside the cluster has no FPU: the runtime is compiled without."""

    name: str
    command: tuple[str, ...]
    network: tuple[str, ...]  # what the cluster's cores can do, their own instructions excepted
    runtime: tuple[str, ...]
    link: tuple[str, ...]
    libraries: tuple[str, ...] = ()


def gcc() -> Toolchain:
    """GNU's compiler, as Debian has it: no C library is needed."""
    return Toolchain(
        name="gcc",
        command=(GCC,),
        network=("-march=rv32imfc",),
        runtime=("-march=rv32imfc",),
        link=("-nostdlib", "-Wl,--no-warn-rwx-segments", "-Wl,--gc-sections"),
        libraries=("-lgcc",),
    )


def zig() -> Toolchain:
    """clang and lld out of the `ziglang` wheel."""
    return Toolchain(
        name="zig",
        command=(sys.executable, "-m", "ziglang", "cc", "-target", "riscv32-freestanding-none", "-fno-sanitize=all"),
        network=("-mcpu=generic_rv32+m+f+c+zicsr",),
        runtime=("-mcpu=generic_rv32+m+f+c+zicsr",),
        link=("-nostartfiles", "-Wl,--gc-sections"),
    )


def toolchains() -> Iterator[Toolchain]:
    """Those that are installed, best first; only the chosen one where `TILEWRIGHT_SIRACUSA_CC` names one."""
    chosen = os.environ.get(CHOICE, "")
    if chosen in ("", "gcc") and shutil.which(GCC):
        yield gcc()
    if chosen in ("", "zig") and find_spec("ziglang"):
        yield zig()


def missing_toolchain() -> str | None:
    """None, or one line that says what to install."""
    if next(toolchains(), None):
        return None
    asked = os.environ.get(CHOICE, "")
    return f"no C compiler for the cluster{f' ({CHOICE} is {asked!r})' if asked else ''}: {INSTALL}"


def demand_toolchain() -> Toolchain:
    """The compiler to use. TilewrightError TW7001 (exit 7) when there is none."""
    found = next(toolchains(), None)
    if found is None:
        raise toolchain_error("TW7001", missing_toolchain() or "", fix=(INSTALL,))
    return found


def runtime_files() -> dict[str, bytes]:
    """The runtime's sources and headers by their path below its folder."""
    home = files("tilewright_siracusa") / "runtime" / "metal"
    return {name: (home / name).read_bytes() for name in (*SOURCES, *HEADERS)}


def linker_script(platform: Platform) -> str:
    """Memories as `platform` limits them: what exceeds one does not link."""
    l1_bytes, reserved = platform.memory("l1").size_bytes or 0, platform.runtime_bytes["l1"]
    numbers = {
        "l1_base": L1_BASE,
        "l1_bytes": l1_bytes,
        "l2_base": L2_BASE,
        "l2_bytes": L2_BYTES,
        "l3_base": L3_BASE,
        "l3_bytes": L3_BYTES,
        "pool_bytes": l1_bytes - reserved,
        "controller_bytes": CONTROLLER_STACK_BYTES,
    }
    texts = {name: f"{number:#x}" for name, number in numbers.items()}
    near = stacks_memory(platform) == "l1"
    place = f"{L1_BASE + l1_bytes - reserved:#x} (NOLOAD) :" if near else "(NOLOAD) : ALIGN(16)"
    contents = f"{{ tw_stacks = .; . += {stacks_bytes(platform):#x}; }}"
    stacks = f".stacks {place} {contents} > {'L1' if near else 'L2'} :NONE"
    return Template(text("siracusa.ld")).substitute(
        {**texts, "near_stacks": stacks if near else "", "far_stacks": "" if near else stacks}
    )


def team_macros(platform: Platform) -> tuple[str, ...]:
    """What the runtime's files are told: cores, and the stack of each."""
    cores = platform.engines[0].cores
    return (f"-DTW_CORES={cores}", f"-DTW_STACK_BYTES={stacks_bytes(platform) // cores}")


def build(
    toolchain: Toolchain, platform: Platform, folder: Path, sources: Sequence[str], libraries: Sequence[str] = ()
) -> Path:
    """Compile and link in `folder`, where `sources` are, the runtime below `runtime/`, and tw_rt.h.

    Returns the ELF. TilewrightError TW7002 (exit 7) with the compiler's or the linker's words.
    """
    for name, content in runtime_files().items():
        (folder / "runtime" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "runtime" / name).write_bytes(content)
    (folder / SCRIPT).write_text(linker_script(platform), encoding="ascii")
    flags = (*toolchain.command, *STRICT, *COMMON, *team_macros(platform), "-I.", "-Iruntime", "-Iruntime/libc")
    own = [f"runtime/{name}" for name in SOURCES]
    objects = [f"{source.replace('/', '_')}.o" for source in (*sources, *own)]
    for source, target in zip((*sources, *own), objects, strict=True):
        kind = (*toolchain.runtime, *RUNTIME_ONLY) if source in own else toolchain.network
        _tool([*flags, *kind, "-c", "-o", target, source], folder, toolchain)
    link = (*toolchain.command, *toolchain.network, "-mabi=ilp32f", "-mno-relax", *toolchain.link, "-T", SCRIPT)
    _tool([*link, "-o", ELF, *objects, *libraries, *toolchain.libraries], folder, toolchain)
    return folder / ELF


def _tool(command: list[str], folder: Path, toolchain: Toolchain) -> None:
    what = f"building the generated code with {toolchain.name}"
    execute(command, folder, code="TW7002", what=what, timeout_seconds=SECONDS)


@cache
def text(name: str) -> str:
    """A text beside this module, with places to be filled."""
    return (files("tilewright_siracusa") / "text" / name).read_text(encoding="utf-8")
