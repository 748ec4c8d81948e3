"""Knows the compilers for clusters: GNU's, clang out of the `ziglang` wheel, a vendor's clang; how they are chosen.
Does not know what they build.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec

from tilewright.api import toolchain_error
from tilewright_riscv.machine import BareMachine

GCC = "riscv64-unknown-elf-gcc"
INSTALL = "apt install gcc-riscv64-unknown-elf     (or: pip install ziglang)"
CHOICE = "TILEWRIGHT_RISCV_CC"  # gcc, zig, or the path of a clang; otherwise the first of gcc and zig that is there


@dataclass(frozen=True, slots=True, kw_only=True)
class Toolchain:
    """A C compiler for a machine, whose own instructions it need not know."""

    name: str
    command: tuple[str, ...]
    machine: tuple[str, ...]  # flags
    link: tuple[str, ...]
    libraries: tuple[str, ...] = ()


def gcc(machine: BareMachine) -> Toolchain:
    """GNU's compiler, as Debian has it: no C library is needed."""
    return Toolchain(
        name="gcc",
        command=(GCC,),
        machine=(machine.gcc_isa, *machine.gcc_flags, f"-mabi={machine.abi}", "-mno-relax"),
        link=("-nostdlib", "-Wl,--no-warn-rwx-segments", "-Wl,--gc-sections"),
        libraries=("-lgcc",),
    )


def zig(machine: BareMachine) -> Toolchain:
    """clang and lld out of the `ziglang` wheel."""
    return Toolchain(
        name="zig",
        command=(sys.executable, "-m", "ziglang", "cc", "-target", "riscv32-freestanding-none", "-fno-sanitize=all"),
        machine=(machine.zig_isa, f"-mabi={machine.abi}", "-mno-relax"),
        link=("-nostartfiles", "-Wl,--gc-sections"),
    )


def clang(path: str, machine: BareMachine) -> Toolchain:
    """A clang with lld beside it, such as a vendor's."""
    return Toolchain(
        name="clang",
        command=(path, "--target=riscv32-unknown-elf"),
        machine=(machine.gcc_isa, f"-mabi={machine.abi}", "-mno-relax"),
        link=("-nostdlib", "-fuse-ld=lld", "-Wl,--gc-sections"),
    )


def toolchains(machine: BareMachine) -> Iterator[Toolchain]:
    """Those that are installed, best first; only the chosen one where `TILEWRIGHT_RISCV_CC` names one."""
    chosen = os.environ.get(CHOICE, "")
    if chosen in ("", "gcc") and shutil.which(GCC):
        yield gcc(machine)
    if chosen in ("", "zig") and find_spec("ziglang"):
        yield zig(machine)
    if chosen not in ("", "gcc", "zig") and shutil.which(chosen):
        yield clang(chosen, machine)


def missing_toolchain() -> str | None:
    """None, or one line that says what to install."""
    choice = os.environ.get(CHOICE, "")
    result = {
        "": shutil.which(GCC) or find_spec("ziglang"),
        "gcc": shutil.which(GCC),
        "zig": find_spec("ziglang"),
    }
    if result.get(choice, shutil.which(choice)):
        return None
    return f"no C compiler for the cluster{f' ({CHOICE} is {choice!r})' if choice else ''}: {INSTALL}"


def demand_toolchain(machine: BareMachine) -> Toolchain:
    """The compiler to use. TilewrightError TW7001 (exit 7) when there is none."""
    result = next(toolchains(machine), None)
    if result is None:
        raise toolchain_error("TW7001", missing_toolchain() or "", fix=(INSTALL,))
    return result
