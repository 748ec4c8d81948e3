"""Knows which programs the runner on QEMU needs, how they are found, and with which options they build for RISC-V.
Does not know what they build.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import dataclass
from importlib.util import find_spec

from tilewright.api import toolchain_error

QEMU = "qemu-system-riscv32"
GCC = "riscv64-unknown-elf-gcc"
LIBRARY = "picolibc.specs"
QEMU_PACKAGE = "qemu-system-misc"
GCC_PACKAGES = "gcc-riscv64-unknown-elf picolibc-riscv64-unknown-elf"


@dataclass(frozen=True, slots=True, kw_only=True)
class Builder:
    """A C compiler for harts with multiplication, atomics, floats and compressed instructions.

    `freestanding`: it comes without a C library, and takes the headers that the runtime has.
    """

    name: str
    command: tuple[str, ...]
    freestanding: bool
    libraries: tuple[str, ...] = ()


def gcc(*, double: bool = False) -> Builder:
    """GNU's compiler with picolibc."""
    machine = ("-march=rv32imafdc", "-mabi=ilp32d") if double else ("-march=rv32imafc", "-mabi=ilp32f")
    return Builder(
        name=GCC,
        command=(GCC, f"--specs={LIBRARY}", *machine, "-mno-relax"),
        freestanding=False,
        libraries=("-lm",),
    )


def zig(*, double: bool = False) -> Builder:
    """clang out of the `ziglang` wheel."""
    machine = ("+f+d+c+zicsr", "-mabi=ilp32d") if double else ("+f+c+zicsr", "-mabi=ilp32f")
    return Builder(
        name="ziglang",
        command=(
            *(sys.executable, "-m", "ziglang", "cc", "-target", "riscv32-freestanding-none"),
            *(f"-mcpu=generic_rv32+m+a{machine[0]}", machine[1], "-mno-relax"),
            *("-ffreestanding", "-fno-sanitize=all"),
        ),
        freestanding=True,
    )


def find_builder(*, double: bool = False) -> Builder | None:
    """GNU's compiler where it has its library, otherwise `ziglang`; None where neither is installed."""
    if shutil.which(GCC) and _has_library():
        return gcc(double=double)
    return zig(double=double) if find_spec("ziglang") else None


def missing_tools() -> str | None:
    """None, or one line that says what is missing and how to get it."""
    if shutil.which(QEMU) is None:
        return f"{QEMU} not on PATH: apt install {QEMU_PACKAGE}     (or your system's package of it)"
    if find_builder() is None:
        return f"no C compiler for RISC-V: pip install ziglang     (or apt install {GCC_PACKAGES})"
    return None


def demand_builder(runner: str, *, double: bool) -> Builder:
    """The compiler to use; `double`: harts keep float64 in registers.

    TilewrightError TW7001 (exit 7) when something is missing.
    """
    missing, builder = missing_tools(), find_builder(double=double)
    if missing or builder is None:
        raise toolchain_error("TW7001", f"runner '{runner}' cannot run here", details=(missing or "",))
    return builder


def _has_library() -> bool:
    command = (GCC, f"-print-file-name={LIBRARY}")
    result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    return "/" in result.stdout
