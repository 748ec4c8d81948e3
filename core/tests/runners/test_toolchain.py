"""Which compiler is used, and what is said when there is none."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from tilewright.errors import TilewrightError
from tilewright.runners import toolchain
from tilewright.runners import toolchain as module
from tilewright.runners.toolchain import (
    compilers,
    describe_compilers,
    execute,
    find_compiler,
    missing_compiler,
    object_files,
)


def tool(folder: Path, name: str) -> None:
    (folder / name).write_text("#!/bin/sh\nexit 0\n")
    (folder / name).chmod(0o755)


def test_order(tmp_path: Path) -> None:
    for name in ("gcc", "clang", "mine"):
        tool(tmp_path, name)
    names = [one.name for one in compilers({"PATH": str(tmp_path), "CC": "mine -O0"})]
    assert names[:3] == ["$CC", "gcc", "clang"]
    assert find_compiler({"PATH": str(tmp_path), "CC": "mine -O0"}).command == ("mine", "-O0")
    assert find_compiler({"PATH": str(tmp_path)}).name == "gcc"


def test_the_wheel_is_enough(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toolchain, "find_spec", lambda name: object())
    found = find_compiler({"PATH": str(tmp_path)})
    assert found.command == (sys.executable, "-m", "ziglang", "cc")
    assert not found.sanitizers


def test_nothing_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toolchain, "find_spec", lambda name: None)
    assert missing_compiler({"PATH": str(tmp_path)})
    with pytest.raises(TilewrightError) as refused:
        find_compiler({"PATH": str(tmp_path)})
    assert refused.value.code == "TW7001"
    assert "pip install ziglang" in refused.value.fix[0]


def test_a_wrong_cc_is_no_reason_to_take_another(tmp_path: Path) -> None:
    tool(tmp_path, "gcc")
    assert "wrong" in str(missing_compiler({"PATH": str(tmp_path), "CC": "wrong"}))


@pytest.mark.slow
def test_doctor_lines() -> None:
    assert all(": " in line for line in describe_compilers())


def test_the_words_of_a_tool_are_kept_but_not_all_of_them(tmp_path: Path) -> None:
    script = "import sys\nfor n in range(500): print('line', n, file=sys.stderr)\nsys.exit(4)"
    with pytest.raises(TilewrightError) as failed:
        execute([sys.executable, "-c", script], tmp_path, code="TW7002", what="the test", timeout_seconds=30)
    assert failed.value.message == "the test failed with exit status 4"
    assert failed.value.details[0] == "line 0"
    assert len(failed.value.details) == toolchain.SHOWN_LINES


def test_data_among_the_words_of_what_failed_are_left_out(tmp_path: Path) -> None:
    script = "print('DATA 00ff'); print('DATA 00too small'); raise SystemExit(3)"
    with pytest.raises(TilewrightError) as caught:
        execute(
            [sys.executable, "-c", script],
            tmp_path,
            code="TW7003",
            what="the test",
            timeout_seconds=30,
            data=re.compile("DATA [0-9a-f]*\n*"),
        )
    assert caught.value.details == ("too small",)


@dataclass
class SlowProcess:
    """Writes a part of its answers each time it is waited for, so many; then it ends, or never does."""

    answers: Path
    parts: int
    ends: bool
    killed: bool = False

    def communicate(self, timeout: float) -> tuple[str, str]:
        if self.parts:
            self.parts -= 1
            with self.answers.open("ab") as file:
                file.write(b"part")
        elif self.ends:
            return "out", "err"
        raise subprocess.TimeoutExpired("slow", timeout)

    def kill(self) -> None:
        self.killed = True


@pytest.mark.parametrize(("ends", "watched"), [(True, True), (False, True), (True, False)])
def test_each_part_of_the_answers_has_the_time(tmp_path: Path, ends: bool, watched: bool) -> None:
    process = SlowProcess(tmp_path / "answers", parts=3, ends=ends)
    answers = process.answers if watched else None
    if ends and watched:
        assert toolchain._ended(process, 1.0, answers) == ("out", "err")
    else:
        with pytest.raises(subprocess.TimeoutExpired):
            toolchain._ended(process, 1.0, answers)
    assert process.killed is not (ends and watched)
    assert process.parts == (0 if watched else 2)


def test_what_takes_too_long_is_stopped(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "import time; time.sleep(600)"]
    with pytest.raises(TilewrightError) as caught:
        execute(command, tmp_path, code="TW7003", what="the test", timeout_seconds=0.05, answers="none")
    assert caught.value.code == "TW7004"
    assert caught.value.message == "the test took longer than 0.05 s for a part of its answers and was stopped"


TEXTS = {"number.h": "int number(void);\n", "number.c": '#include "number.h"\nint number(void) { return NUMBER; }\n'}
MAIN = '#include "number.h"\nint main(void) { return number(); }\n'


class Machine:
    """Runs commands, and counts them. Nothing is known of what was compiled before."""

    def __init__(self, compiler: Sequence[str]) -> None:
        self.runs = 0
        self.compiler = compiler

    def __call__(self, command: Sequence[str], folder: Path) -> None:
        self.runs += 1
        execute(command, folder, code="TW7002", what="the test", timeout_seconds=60)

    def built(self, folder: Path, number: int, texts: dict[str, str] = TEXTS) -> list[str]:
        folder.mkdir(exist_ok=True)
        return object_files([*self.compiler, f"-DNUMBER={number}"], texts, folder, self)


def answer(folder: Path, objects: list[str]) -> int:
    (folder / "main.c").write_text(MAIN)
    subprocess.run([*find_compiler().command, "-o", "program", "main.c", *objects], cwd=folder, check=True)
    return subprocess.run([str(folder / "program")], check=False).returncode


@pytest.fixture(name="machine")
def _machine(monkeypatch: pytest.MonkeyPatch) -> Machine:
    monkeypatch.setattr(module, "_COMPILED", {})
    return Machine(find_compiler().command)


def test_another_folder_has_them_without_a_compiler(tmp_path: Path, machine: Machine) -> None:
    for name in ("first", "second", "first"):
        objects = machine.built(tmp_path / name, 3)
        assert objects == ["number.o"]
        assert answer(tmp_path / name, objects) == 3
    assert machine.runs == 1


@pytest.mark.slow
def test_other_options_and_other_texts_are_compiled(tmp_path: Path, machine: Machine) -> None:
    more = {**TEXTS, "number.h": "#undef NUMBER\n#define NUMBER 5\nint number(void);\n"}
    assert [answer(tmp_path, machine.built(tmp_path, *asked)) for asked in ((3,), (4,), (4, more), (3,))] == [
        3,
        4,
        5,
        3,
    ]
    assert machine.runs == 3


def test_another_compiler_of_the_same_name_is_another(
    tmp_path: Path, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = {"works": f'exec {shlex.join(machine.compiler)} "$@"', "fails": "echo 'not this time' >&2\nexit 1"}
    for name, text in texts.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "my-cc").write_text(f"#!/bin/sh\n{text}\n")
        (tmp_path / name / "my-cc").chmod(0o755)
    machine.compiler = ["my-cc"]
    monkeypatch.setenv("PATH", str(tmp_path / "works"), prepend=":")
    machine.built(tmp_path / "work", 3)
    monkeypatch.setenv("PATH", str(tmp_path / "fails"), prepend=":")
    with pytest.raises(TilewrightError, match="the test failed with exit status 1"):
        machine.built(tmp_path / "work", 3)
    assert machine.runs == 2


def test_what_does_not_compile_is_said_each_time(tmp_path: Path, machine: Machine) -> None:
    for _ in range(2):
        with pytest.raises(TilewrightError) as failed:
            machine.built(tmp_path, 3, {"number.c": "int number(void) { return nothing; }\n"})
        assert failed.value.code == "TW7002" and "nothing" in "\n".join(failed.value.details)
    assert machine.runs == 2
