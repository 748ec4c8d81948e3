"""Knows what C compilers have made in tests, of which files and with which words, and gives it again without them.
Does not know what the files do. Names of folders in a program (in `__FILE__`, say) are those of the run that built it.

`install` puts commands named as the compilers before them on PATH; each is this file. What they hand out stands in a
folder that all processes share, in `$XDG_CACHE_HOME/tilewright-tests`: by the digest of the compiler, its words, and of
every file that it can read: those that are named, and those beside them or in a folder of headers whose name occurs in
one that is read. What is warned of or refused, and words that are not known to be harmless, go to the compiler.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterator, Sequence

COMPILERS = ("cc", "gcc", "clang")
OUTSIDE = ("/usr/", "/opt/", "/lib/")  # folders that belong to the compiler
FOLDERS = ("-I", "-isystem", "-iquote")
HARMLESS = ("-D", "-O", "-W", "-f", "-g", "-l", "-m", "-p", "-std=", "-c", "-shared", "-static", "-U", "-nost")
NOT_HARMLESS = ("-Wl,", "-Wa,", "-Wp,", "-fplugin", "-fprofile", "-fdump", "-ftest", "-print", "-gsplit", "-mllvm")
VARIABLES = ("CPATH", "C_INCLUDE_PATH", "LIBRARY_PATH", "COMPILER_PATH", "GCC_EXEC_PREFIX", "SOURCE_DATE_EPOCH")
MOST_FILES, KEPT_SECONDS = 2000, 7 * 24 * 3600


class Unknown(Exception):
    """The compiler must be asked."""


class Request:
    """What a command asks a compiler for. Raises Unknown where not every word is understood."""

    def __init__(self, words: Sequence[str]) -> None:
        self.files: list[str] = []
        self.folders: list[str] = []
        self.words: list[str] = []
        output, rest = "", iter(words)
        for word in rest:
            if word == "-o":
                output = next(rest, "")
            elif folder := next((flag for flag in FOLDERS if word.startswith(flag)), ""):
                self.folders.append(word.removeprefix(folder) or next(rest, ""))
                self.words.append(folder)
            elif not word.startswith("-"):
                self.files.append(word)
                self.words.append(os.path.basename(word))
            elif word.startswith(HARMLESS) and not word.startswith(NOT_HARMLESS):
                self.words.append(word.replace(os.getcwd(), "."))
            else:
                raise Unknown(word)
        self.outputs = [output] if output else self._objects()

    def _objects(self) -> list[str]:
        """What `-c` writes when it is told no name."""
        if "-c" not in self.words or not self.files:
            raise Unknown("-o")
        return [os.path.splitext(os.path.basename(file))[0] + ".o" for file in self.files]

    def digest(self, compiler: str) -> str:
        """Of all that decides what is made."""
        about = os.stat(compiler)
        known = (compiler, about.st_size, about.st_mtime_ns, [os.environ.get(name) for name in VARIABLES], self.words)
        found = hashlib.sha256(repr((known, len(self.outputs))).encode())
        for name, content in self._read():
            found.update(f"{name} {len(content)}\n".encode())
            found.update(content)
        return found.hexdigest()

    def _read(self) -> Iterator[tuple[str, bytes]]:
        """Every file that may be read, by its name without a folder, or below a folder of headers."""
        texts = [_content(file) for file in self.files]
        yield from zip(map(os.path.basename, self.files), texts, strict=True)
        beside = dict.fromkeys([*self.folders, *(os.path.dirname(file) or "." for file in self.files)])
        made = {os.path.abspath(output) for output in self.outputs}  # by a run before
        found = {path: os.path.relpath(path, folder) for folder in beside for path in _inside(folder)}
        others = {path: name for path, name in found.items() if os.path.abspath(path) not in made}
        while reached := [path for path in others if any(os.path.basename(path).encode() in text for text in texts)]:
            texts = [_content(path) for path in reached]
            yield from ((others.pop(path), text) for path, text in zip(reached, texts, strict=True))


def _content(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise Unknown(path) from error


def _inside(folder: str) -> list[str]:
    """Every file in a folder and below it; none where it is the system's."""
    if folder.startswith(OUTSIDE):
        return []
    found = [os.path.join(top, name) for top, _, names in os.walk(folder) for name in sorted(names)]
    if len(found) > MOST_FILES:
        raise Unknown(folder)
    return found


def compiled(compiler: str, store: str, words: Sequence[str]) -> int:
    """Do what the compiler would do; its exit status."""
    try:
        request = Request(words)
        kept = os.path.join(store, request.digest(compiler))
    except Unknown:
        os.execv(compiler, [compiler, *words])
    if os.path.isdir(kept):
        for number, output in enumerate(request.outputs):
            _copy(os.path.join(kept, str(number)), output)
        os.utime(kept)
        return 0
    import subprocess

    done = subprocess.run([compiler, *words], capture_output=True, check=False)
    sys.stdout.buffer.write(done.stdout)
    sys.stderr.buffer.write(done.stderr)
    if not (done.returncode or done.stdout or done.stderr):
        _keep(kept, request.outputs)
    return done.returncode


def _keep(kept: str, outputs: Sequence[str]) -> None:
    """Whole or not at all; nothing where the folder cannot be written, or another process was faster."""
    scratch = f"{kept}.{os.getpid()}"
    try:
        os.mkdir(scratch)
        for number, output in enumerate(outputs):
            _copy(output, os.path.join(scratch, str(number)))
        os.rename(scratch, kept)
    except OSError:
        import shutil

        shutil.rmtree(scratch, ignore_errors=True)


def _copy(path: str, other: str) -> None:
    """As compilers do, as a new file: the old one may be running, or be part of a process that loaded it."""
    if os.path.lexists(other):
        os.unlink(other)
    with open(path, "rb") as source, open(other, "wb") as target:
        target.write(source.read())
    os.chmod(other, os.stat(path).st_mode)


def install() -> None:
    """Put the commands before the compilers on PATH. With CI set nothing is kept but what this run has compiled itself,
    in the folder TILEWRIGHT_COMPILED if it is named. Nothing happens where the folder cannot be written. What nobody
    has asked for in a week is removed."""
    import shutil

    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    store = os.environ.get("TILEWRIGHT_COMPILED") or os.path.join(home, "tilewright-tests")
    commands = os.path.join(store, "bin-" + hashlib.sha256(f"{sys.executable} {__file__}".encode()).hexdigest()[:16])
    path = [folder for folder in os.environ.get("PATH", "").split(os.pathsep) if folder != commands]
    if os.name != "posix" or (os.environ.get("CI") and "TILEWRIGHT_COMPILED" not in os.environ):
        return
    try:
        os.makedirs(commands, exist_ok=True)
        _forget(store)
        for name in COMPILERS:
            if real := shutil.which(name, path=os.pathsep.join(path)):
                _write_command(os.path.join(commands, name), real, store)
    except OSError:
        return
    os.environ["PATH"] = os.pathsep.join([commands, *path])


def pytest_configure() -> None:
    """What was compiled before is not compiled again, by whatever test of whatever process."""
    install()


def _write_command(command: str, compiler: str, store: str) -> None:
    """Another process may be starting it."""
    beside = f"{command}.{os.getpid()}"
    with open(beside, "w", encoding="utf-8") as file:
        file.write(f'#!/bin/sh\nexec "{sys.executable}" -I -S "{__file__}" "{compiler}" "{store}" "$@"\n')
    os.chmod(beside, 0o755)
    os.replace(beside, command)


def _forget(store: str) -> None:
    import shutil
    import time

    oldest = time.time() - KEPT_SECONDS
    for entry in os.scandir(store):
        if not entry.name.startswith("bin-") and entry.stat().st_mtime < oldest:
            shutil.rmtree(entry.path, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(compiled(sys.argv[1], sys.argv[2], sys.argv[3:]))
