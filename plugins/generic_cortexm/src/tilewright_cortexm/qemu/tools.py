"""Knows which programs the runner needs, how they are found, and how the counting plugin is built once and kept.
Does not know what they are given.
"""

from __future__ import annotations

import hashlib
import os
import shlex
import shutil
import sys
import tempfile
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path

from tilewright.api import toolchain_error
from tilewright.api.runner import execute, find_compiler, missing_compiler

GCC = "arm-none-eabi-gcc"
QEMU = "qemu-system-arm"
OTHER_COMPILER = "TILEWRIGHT_ARM_CC"
PACKAGES = {GCC: "gcc-arm-none-eabi libnewlib-arm-none-eabi", QEMU: "qemu-system-arm"}
SECONDS = 120.0


def missing_tools() -> str | None:
    """None, or one line that says what is missing and how to get it."""
    lost = [name for name in (GCC, QEMU) if shutil.which(name) is None]
    if lost:
        packages = " ".join(PACKAGES[name] for name in lost)
        return f"{' and '.join(lost)} not on PATH: apt install {packages}     (or your system's packages of these)"
    host = missing_compiler()
    return f"{host}, needed once to build the instruction counter" if host else None


def demand_tools() -> None:
    """TilewrightError TW7001 (exit 7) when something is missing."""
    missing = missing_tools()
    if missing:
        raise toolchain_error("TW7001", "runner 'qemu-cortex-m' cannot run here", details=(missing,))


def arm_compiler(environment: Mapping[str, str]) -> tuple[str, ...]:
    """The command that compiles C for Arm: $TILEWRIGHT_ARM_CC, with what clang needs added, or Arm's gcc, which links.

    clang takes the headers of gcc's C library.
    """
    chosen = tuple(shlex.split(environment.get(OTHER_COMPILER, "")))
    if not chosen:
        return (GCC,)
    if "clang" not in Path(chosen[0]).name:
        return chosen
    library = execute([GCC, "-print-file-name=include"], Path(), code="TW7001", what=GCC, timeout_seconds=SECONDS)
    sysroot = execute([GCC, "-print-sysroot"], Path(), code="TW7001", what=GCC, timeout_seconds=SECONDS).strip()
    newlib = [Path(sysroot) / "include", Path(library.strip()).parents[3] / "arm-none-eabi" / "include"]
    headers = [f"-isystem{place}" for place in (*newlib, Path("/usr/lib/arm-none-eabi/include")) if place.is_dir()][:1]
    return (*chosen, "--target=arm-none-eabi", *headers)


def counter_plugin(folder: Path) -> Path:
    """The counting plugin as a shared library, built at first use and kept in the user's cache.

    The name holds a digest of the source and of the compiler, so that neither a new version nor a new compiler meets an
    old file. Without a cache that can be written it is built in `folder`.
    """
    texts = {name: _text(name) for name in ("counter.c", "qemu_plugin.h")}
    compiler = find_compiler()
    version = execute([*compiler.command, "--version"], folder, code="TW7001", what="asking", timeout_seconds=SECONDS)
    key = hashlib.sha256("\0".join((*texts.values(), *compiler.command, version)).encode()).hexdigest()[:24]
    kept = _cache_folder(folder) / f"qemu-counter-{key}.so"
    if kept.is_file():
        return kept
    with tempfile.TemporaryDirectory(dir=kept.parent) as scratch:
        for name, text in texts.items():
            (Path(scratch) / name).write_text(text, encoding="ascii")
        undefined = ("-undefined", "dynamic_lookup") if sys.platform == "darwin" else ()
        command = [*compiler.command, "-O2", "-shared", "-fPIC", *undefined, "-o", "counter.so", "counter.c"]
        execute(command, Path(scratch), code="TW7002", what="building the counting plugin", timeout_seconds=SECONDS)
        os.replace(Path(scratch) / "counter.so", kept)
    return kept


def _cache_folder(otherwise: Path) -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    folder = Path(base) / "tilewright"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder):
            return folder
    except OSError:
        return otherwise.resolve()


def _text(name: str) -> str:
    return (files("tilewright_cortexm.qemu") / name).read_text(encoding="ascii")
