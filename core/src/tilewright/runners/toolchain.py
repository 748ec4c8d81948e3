"""Knows which C compilers this machine has, how to start one, and how files that are the same for every program are
compiled once in a process. Does not know what is compiled.

Order: $CC, then cc, gcc, clang on PATH, then the `ziglang` wheel, so that pip alone is enough.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from tilewright.errors import toolchain_error, usage_error
from tilewright.ir.log_span import DEBUG, log_span

ON_PATH = ("cc", "gcc", "clang")
INSTALL_HINT = "pip install ziglang     (a C compiler as a wheel; or install gcc or clang)"
SHOWN_LINES = 30
_PIPE = subprocess.PIPE
_FULL = "No space left on device"
_ROOM = "make room there, or name another folder with the environment variable TMPDIR"


@dataclass(frozen=True, slots=True, kw_only=True)
class Compiler:
    """A command that takes the options of gcc and clang. `sanitizers`: it comes with ASan and UBSan."""

    name: str
    command: tuple[str, ...]
    sanitizers: bool = True


def compilers(environment: Mapping[str, str] | None = None) -> Iterator[Compiler]:
    """Every compiler found, best first. A `$CC` that cannot be found is left out."""
    environment = os.environ if environment is None else environment
    path = environment.get("PATH")
    chosen = tuple(shlex.split(environment.get("CC", "")))
    if chosen and shutil.which(chosen[0], path=path):
        yield Compiler(name="$CC", command=chosen, sanitizers="zig" not in chosen[0])
    for name in ON_PATH:
        if shutil.which(name, path=path):
            yield Compiler(name=name, command=(name,))
    if find_spec("ziglang"):
        yield Compiler(name="ziglang", command=(sys.executable, "-m", "ziglang", "cc"), sanitizers=False)


def find_compiler(environment: Mapping[str, str] | None = None) -> Compiler:
    """The compiler to use. TilewrightError TW7001 (exit 7) when there is none, or `$CC` names one that is not there."""
    missing = missing_compiler(environment)
    if missing:
        raise toolchain_error("TW7001", missing, fix=(INSTALL_HINT,))
    return next(compilers(environment))


def missing_compiler(environment: Mapping[str, str] | None = None) -> str | None:
    """None, or one line that says what is missing."""
    environment = os.environ if environment is None else environment
    chosen = shlex.split(environment.get("CC", ""))
    if chosen and not shutil.which(chosen[0], path=environment.get("PATH")):
        return f"the compiler that CC names, '{chosen[0]}', is not there"
    return None if any(compilers(environment)) else "no C compiler: neither cc, gcc or clang on PATH, nor ziglang"


def describe_compilers() -> tuple[str, ...]:
    """One line for each compiler found: its command and the first line of its `--version`."""
    lines = []
    for compiler in compilers():
        done = subprocess.run((*compiler.command, "--version"), capture_output=True, text=True, check=False, timeout=60)
        version = (done.stdout or done.stderr).strip().split("\n")[0]
        lines.append(f"{compiler.name}: {version}")
    return tuple(lines)


def execute(
    command: Sequence[str],
    folder: Path,
    *,
    code: str,
    what: str,
    timeout_seconds: float,
    environment: Mapping[str, str] | None = None,
    data: re.Pattern[str] | None = None,
    answers: str = "",
) -> str:
    """Run a command in `folder`, return its standard output.

    TilewrightError `code` (exit 7) saying `what` failed and what the command wrote, without what matches `data`; TW7004
    when it takes too long. `answers` is a file in `folder` that it writes part by part: then each part has the time.
    """
    merged = {**os.environ, **(environment or {})}
    try:
        with (
            log_span(DEBUG, "%s: %s", what, shlex.join(command)),
            subprocess.Popen(
                command, cwd=folder, env=merged, stdout=_PIPE, stderr=_PIPE, text=True, errors="replace"
            ) as process,
        ):
            output, errors = _ended(process, timeout_seconds, folder / answers if answers else None)
    except FileNotFoundError as error:
        raise toolchain_error("TW7001", f"'{command[0]}' is not there", fix=(INSTALL_HINT,)) from error
    except subprocess.TimeoutExpired as error:
        part = " for a part of its answers" if answers else ""
        raise toolchain_error(
            "TW7004", f"{what} took longer than {timeout_seconds:g} s{part} and was stopped"
        ) from error
    if process.returncode:
        said = errors + output
        words = data.sub("", said) if data else said
        if _FULL in said:
            raise usage_error("TW1107", f"{what} found a full disk", where=str(folder), details=(_FULL,), fix=(_ROOM,))
        shown = tuple(words.strip().split("\n")[:SHOWN_LINES])
        raise toolchain_error(code, f"{what} failed with exit status {process.returncode}", details=shown)
    return output


def _ended(process: subprocess.Popen[str], timeout_seconds: float, answers: Path | None) -> tuple[str, str]:
    """What the process has written to both streams when it ends. It is killed where it does not, nor writes `answers`,
    for so long: subprocess.TimeoutExpired.
    """
    written = 0
    try:
        while True:
            try:
                return process.communicate(timeout=timeout_seconds)
            except subprocess.TimeoutExpired:
                before, written = written, answers.stat().st_size if answers and answers.exists() else 0
                if written == before:
                    raise
    except BaseException:
        process.kill()
        raise


_Key = tuple[str | None, tuple[str, ...], tuple[tuple[str, str], ...]]
_COMPILED: dict[_Key, dict[str, bytes]] = {}  # few: a compiler and its options, and what the files say


def object_files(
    command: Sequence[str], texts: Mapping[str, str], folder: Path, run: Callable[[Sequence[str], Path], object]
) -> list[str]:
    """The names of the object files of those `texts` whose name ends with `.c`, in `folder`; both stand there then.

    `texts`: by name, with the headers that they include; what others they include is the system's. `command`: the
    compiler and its options. `run(command, folder)` raises what it raises where the command fails.
    """
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="ascii")
    sources = [name for name in texts if name.endswith(".c")]
    objects = [f"{name.removesuffix('.c')}.o" for name in sources]
    key = (shutil.which(command[0]), tuple(command), tuple(texts.items()))
    if key not in _COMPILED:
        here = f"-fdebug-prefix-map={folder.resolve()}=."  # the next folder is another one
        for source in sources:  # one at a time: zig writes one object file for several
            run([*command, here, "-c", source], folder)
        _COMPILED[key] = {name: (folder / name).read_bytes() for name in objects}
    for name, content in _COMPILED[key].items():
        (folder / name).write_bytes(content)
    return objects
