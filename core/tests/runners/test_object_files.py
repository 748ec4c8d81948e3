"""Files that are the same for every program are compiled once, and anew where anything about them is another."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from tilewright.errors import TilewrightError
from tilewright.runners import object_files as module
from tilewright.runners.object_files import object_files
from tilewright.runners.toolchain import execute

TEXTS = {"number.h": "int number(void);\n", "number.c": '#include "number.h"\nint number(void) { return NUMBER; }\n'}
MAIN = '#include "number.h"\nint main(void) { return number(); }\n'


class Machine:
    """Runs commands, and counts them. Nothing is known of what was compiled before."""

    def __init__(self) -> None:
        self.runs = 0

    def __call__(self, command: Sequence[str], folder: Path) -> None:
        self.runs += 1
        execute(command, folder, code="TW7002", what="the test", timeout_seconds=60)

    def built(self, folder: Path, number: int, texts: dict[str, str] = TEXTS) -> list[str]:
        folder.mkdir(exist_ok=True)
        return object_files(["cc", f"-DNUMBER={number}"], texts, folder, self)


def answer(folder: Path, objects: list[str]) -> int:
    (folder / "main.c").write_text(MAIN)
    subprocess.run(["cc", "-o", "program", "main.c", *objects], cwd=folder, check=True)
    return subprocess.run([str(folder / "program")], check=False).returncode


@pytest.fixture(name="machine")
def _machine(monkeypatch: pytest.MonkeyPatch) -> Machine:
    monkeypatch.setattr(module, "_COMPILED", {})
    return Machine()


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
    machine.built(tmp_path / "work", 3)
    (tmp_path / "cc").write_text("#!/bin/sh\necho 'not this time' >&2\nexit 1\n")
    (tmp_path / "cc").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    with pytest.raises(TilewrightError, match="the test failed with exit status 1"):
        machine.built(tmp_path / "work", 3)
    assert machine.runs == 2


def test_what_does_not_compile_is_said_each_time(tmp_path: Path, machine: Machine) -> None:
    for _ in range(2):
        with pytest.raises(TilewrightError) as failed:
            machine.built(tmp_path, 3, {"number.c": "int number(void) { return nothing; }\n"})
        assert failed.value.code == "TW7002" and "nothing" in "\n".join(failed.value.details)
    assert machine.runs == 2
