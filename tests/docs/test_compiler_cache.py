"""What `tests/kit/compiler_cache.py` hands out is what the compiler would make: it is asked again when anything that it
reads has changed. The compiler here is a script that joins its files and notes each call.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from kit import compiler_cache

SCRIPT = """#!/bin/sh
echo called >>"{log}"
output=
previous=
files=
for word; do
    case "$previous $word" in
        "-o "*) output=$word ;;
        *" -Wsay") echo "a warning" >&2 ;;
        *" -Wfail") exit 1 ;;
        *.c) files="$files $word" ;;
    esac
    previous=$word
done
for file in $files; do cat "$file" ./*.h >"${{output:-$(basename "$file" .c).o}}"; done
"""


class Desk:
    """A compiler, a store, and folders to compile in."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.store, self.log = folder, folder / "store", folder / "log"
        self.store.mkdir()
        self.compiler = folder / "fake"
        self.compiler.write_text(SCRIPT.format(log=self.log))
        self.compiler.chmod(0o755)

    def sources(self, name: str) -> Path:
        """A folder with a program of two files, a header, and a header that nobody names."""
        made = self.folder / name
        made.mkdir()
        (made / "main.c").write_text('#include "one.h"\nint main(void) { return ONE; }\n')
        (made / "one.h").write_text('#define ONE TWO\n#include "two.h"\n')
        (made / "two.h").write_text("#define TWO 2\n")
        (made / "other.h").write_text("")
        return made

    def calls(self, folder: Path, words: Sequence[str] = ("-O2", "main.c", "-o", "main"), status: int = 0) -> int:
        """How often the compiler was called for a command."""
        before = self.log.read_text() if self.log.exists() else ""
        command = [sys.executable, compiler_cache.__file__, self.compiler, self.store, *words]
        assert subprocess.run(command, cwd=folder, check=False).returncode == status
        return (self.log.read_text() if self.log.exists() else "").count("called") - before.count("called")


@pytest.fixture(name="desk")
def _desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def test_the_same_files_are_compiled_once_wherever_they_are(desk: Desk) -> None:
    first, second = desk.sources("first"), desk.sources("second")
    assert desk.calls(first) == 1
    made = (first / "main").read_bytes()
    (first / "main").unlink()
    assert desk.calls(first) == 0
    old = os.open(first / "main", os.O_RDONLY)
    assert desk.calls(first) == 0
    assert os.fstat(old).st_nlink == 0  # a new file, as compilers write: who runs the old one is not disturbed
    os.close(old)
    assert desk.calls(second) == 0
    assert (first / "main").read_bytes() == (second / "main").read_bytes() == made
    (second / "main").unlink()
    assert desk.calls(first, ("-O2", str(second / "main.c"), "-o", str(second / "other_name"))) == 0


@pytest.mark.parametrize(
    ("file", "text", "calls"),
    [
        ("main.c", "int main(void) { return 3; }\n", 1),
        ("one.h", "#define ONE 1\n", 1),
        ("two.h", "#define TWO 3\n", 1),
        ("other.h", "#define OTHER 1\n", 0),
    ],
)
def test_what_is_read_decides(desk: Desk, file: str, text: str, calls: int) -> None:
    folder = desk.sources("first")
    desk.calls(folder)
    (folder / file).write_text(text)
    assert desk.calls(folder) == calls


def test_files_that_a_text_names_without_including_them_decide_too(desk: Desk) -> None:
    folder = desk.sources("first")
    (folder / "main.c").write_text('__asm__(".incbin \\"weights.bin\\"");\n')
    (folder / "weights.bin").write_bytes(b"\x00\x01")
    assert [desk.calls(folder), desk.calls(folder)] == [1, 0]
    (folder / "weights.bin").write_bytes(b"\x00\x02")
    assert desk.calls(folder) == 1


def test_headers_of_another_folder_decide(desk: Desk) -> None:
    folder, headers = desk.sources("first"), desk.folder / "headers"
    (headers / "inner").mkdir(parents=True)
    (headers / "inner" / "deep.h").write_text("1")
    (folder / "main.c").write_text('#include "inner/deep.h"\n')
    words = ("-I", str(headers), "main.c", "-o", "main")
    assert [desk.calls(folder, words), desk.calls(folder, words)] == [1, 0]
    (headers / "inner" / "deep.h").write_text("2")
    assert desk.calls(folder, words) == 1


def test_words_and_the_compiler_decide(desk: Desk) -> None:
    folder = desk.sources("first")
    assert [desk.calls(folder), desk.calls(folder, ("-O1", "main.c", "-o", "main"))] == [1, 1]
    desk.compiler.write_text(desk.compiler.read_text() + "# another version\n")
    assert desk.calls(folder) == 1


def test_objects_have_the_names_of_their_sources(desk: Desk) -> None:
    folder = desk.sources("first")
    (folder / "more.c").write_text("int more;\n")
    words = ("-c", "main.c", "more.c")
    assert desk.calls(folder, words) == 1
    made = [(folder / name).read_bytes() for name in ("main.o", "more.o")]
    (folder / "main.o").unlink()
    assert desk.calls(folder, words) == 0
    assert [(folder / name).read_bytes() for name in ("main.o", "more.o")] == made


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (("-Wsay", "main.c", "-o", "main"), 0),
        (("-Wfail", "main.c", "-o", "main"), 1),
        (("-MD", "main.c", "-o", "main"), 0),
        (("-fplugin=x.so", "main.c", "-o", "main"), 0),
        (("-L.", "main.c", "-lone", "-o", "main"), 0),
        (("-fsyntax-only", "main.c"), 0),
        (("--version",), 0),
    ],
)
def test_the_compiler_is_asked_each_time(desk: Desk, words: Sequence[str], status: int) -> None:
    folder = desk.sources("first")
    assert [desk.calls(folder, words, status) for _ in range(2)] == [1, 1]


def test_commands_stand_before_the_compilers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = tmp_path / "real"
    real.mkdir()
    shutil.copy(shutil.which("true") or "", real / "gcc")
    monkeypatch.setenv("PATH", str(real))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.delenv("TILEWRIGHT_COMPILED", raising=False)
    old, new = tmp_path / "tilewright-tests" / "old", tmp_path / "tilewright-tests" / "new"
    old.mkdir(parents=True)
    new.mkdir()
    os.utime(old, (0, time.time() - 8 * 24 * 3600))
    for _ in range(2):
        compiler_cache.install()
    first, second = os.environ["PATH"].split(os.pathsep)
    assert second == str(real)
    assert shutil.which("gcc") == os.path.join(first, "gcc")
    assert str(real / "gcc") in Path(first, "gcc").read_text()
    assert shutil.which("clang") is None
    assert [old.exists(), new.exists()] == [False, True]


def test_nothing_is_kept_where_everything_is_compiled_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")
    monkeypatch.delenv("TILEWRIGHT_COMPILED", raising=False)
    before = os.environ["PATH"]
    compiler_cache.install()
    assert os.environ["PATH"] == before


def test_a_run_of_ci_keeps_what_it_has_compiled_in_a_folder_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CI", "true")
    monkeypatch.setenv("TILEWRIGHT_COMPILED", str(tmp_path / "compiled"))
    monkeypatch.setenv("PATH", os.environ["PATH"])
    compiler_cache.install()
    assert os.environ["PATH"].split(os.pathsep)[0].startswith(str(tmp_path / "compiled"))


def test_a_program_that_was_kept_runs(tmp_path: Path, tool: Callable[[str], str]) -> None:
    compiler = tool("cc")
    (tmp_path / "store").mkdir()
    (tmp_path / "main.c").write_text("int main(void) { return 7; }\n")
    for _ in range(2):
        command = [sys.executable, compiler_cache.__file__, compiler, "store", "-O1", "main.c", "-o", "main"]
        subprocess.run(command, cwd=tmp_path, check=True)
        assert subprocess.run([tmp_path / "main"], check=False).returncode == 7
        (tmp_path / "main").unlink()
    assert len(list((tmp_path / "store").iterdir())) == 1
