"""C in tests is compiled by what the product itself would find: where a machine has no compiler, the wheel `ziglang`.

What else a test needs of a machine it asks for by name, with the fixture `tool`.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import NoReturn

import pytest

from tilewright.runners.toolchain import Compiler, compilers, find_compiler

ZIG = (sys.executable, "-m", "ziglang")
LESS = {"-fsanitize=address,undefined": "-fsanitize=undefined", "-fsanitize=thread": "-g"}


def each_compiler() -> list[Compiler]:
    """gcc and clang where they are, for tests of what each of them says; otherwise the one that the product finds."""
    return [one for one in compilers() if one.name in ("gcc", "clang")] or [*compilers()][:1]


def command_of(compiler: Compiler, flags: Sequence[object]) -> tuple[str, ...]:
    """Its command with these flags, but for sanitizers of memory and threads where it has none, as zig has not."""
    words = tuple(map(str, flags))
    return (*compiler.command, *(words if compiler.sanitizers else (LESS.get(word, word) for word in words)))


def missing(reason: str) -> NoReturn:
    """The test is skipped for this reason, or fails when CI is set."""
    if os.environ.get("CI"):
        pytest.fail(f"{reason}, and CI is set")
    pytest.skip(reason)


@pytest.fixture(scope="session", name="sanitizers")
def _sanitizers() -> None:
    """A compiler whose programs say which undefined behaviour they met: zig's end without a word."""
    if not find_compiler().sanitizers:
        missing(f"compiler '{find_compiler().name}' comes without sanitizers that say what they found")


@pytest.fixture(scope="session", name="tool")
def _tool() -> Callable[[str], str]:
    """`tool("clang")` is its path. Where it is missing the test is skipped, or fails when CI is set."""

    def find(name: str) -> str:
        path = shutil.which(name)
        if path is None:
            missing(f"{name} is not on PATH")
        return str(path)

    return find


@pytest.fixture(scope="session", name="cc")
def _cc() -> Callable[..., tuple[str, ...]]:
    """`cc(*flags)` is a command of the C compiler that the product finds. See `command_of`."""
    return lambda *flags: command_of(find_compiler(), flags)


@pytest.fixture(scope="session", name="cxx")
def _cxx(tool: Callable[[str], str]) -> Callable[..., tuple[str, ...]]:
    """`cxx(*flags)` is a command for files whose names say that they are C++, and that need none of its library."""
    zig = not shutil.which("c++") and find_spec("ziglang")  # with `zig c++` it would build that library, for minutes
    return lambda *flags: (*((*ZIG, "cc") if zig else (tool("c++"),)), *flags)


@pytest.fixture(scope="session", name="cmake")
def _cmake(tool: Callable[[str], str], tmp_path_factory: pytest.TempPathFactory) -> Callable[..., None]:
    """`cmake(source, build, *options)` configures and builds with the C compiler that the product finds."""

    folder = tmp_path_factory.mktemp("compiler")
    archivers = {name: (*ZIG, name) for name in ("ar", "ranlib")}  # at the end of PATH: binutils come first
    for name, command in {"compiler": find_compiler().command, **archivers}.items():
        (folder / name).write_text(f'#!/bin/sh\nexec {shlex.join(command)} "$@"\n')
        (folder / name).chmod(0o755)  # CMake drops words after the first one where it assembles
    environment = {"CC": str(folder / "compiler"), "PATH": f"{os.environ['PATH']}{os.pathsep}{folder}"}
    if not shutil.which("make"):
        environment["CMAKE_GENERATOR"] = "Ninja"

    def run(source: Path, build: Path, *options: str) -> None:
        for words in (("-S", str(source), "-B", str(build), *options), ("--build", str(build))):
            command = [tool("cmake"), *words]
            done = subprocess.run(
                command, env={**os.environ, **environment}, capture_output=True, text=True, check=False
            )
            assert done.returncode == 0, done.stdout + done.stderr

    return run
