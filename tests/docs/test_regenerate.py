"""`tools/regenerate.py` knows every script that writes what a test compares, and every test with golden files."""

from __future__ import annotations

import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
TOOL = ROOT / "tools" / "regenerate.py"


@pytest.fixture(name="tool")
def _tool() -> dict[str, Any]:
    return runpy.run_path(str(TOOL))


def test_every_golden_file_has_a_test_that_writes_it(tool: dict[str, Any]) -> None:
    tests = [ROOT / name for name in tool["golden_tests"]()]
    folders = {path for top in tool["TESTS"] for path in (ROOT / top).rglob("golden") if path.is_dir()}
    assert len(folders) > 3
    assert [str(folder) for folder in folders if not any(folder.parent in test.parents for test in tests)] == []


def test_no_test_has_golden_files_that_the_tool_does_not_know(tool: dict[str, Any]) -> None:
    writing = {
        file.relative_to(ROOT).as_posix()
        for top in tool["TESTS"]
        for file in (ROOT / top).rglob("test_*.py")
        if "_GOLDEN" in file.read_text("utf-8") and file != Path(__file__)
    }
    assert writing == set(tool["golden_tests"]())


def test_every_script_is_there(tool: dict[str, Any]) -> None:
    assert [words[0] for words in tool["SCRIPTS"].values() if not (ROOT / words[0]).is_file()] == []


def test_what_a_test_says_to_run_is_a_part(tool: dict[str, Any]) -> None:
    said = {
        line.split("run: python ")[1].split()[0].strip('"')
        for file in (ROOT / "tests" / "docs").glob("test_*.py")
        for line in file.read_text("utf-8").splitlines()
        if "run: python tools/" in line and file != Path(__file__)
    }
    assert said >= {"tools/build_reference.py", "tools/draw_figures.py", "tools/trace_compile.py"}
    assert said <= {words[0] for words in tool["SCRIPTS"].values()}


def test_a_part_that_is_not_there_is_refused() -> None:
    done = subprocess.run([sys.executable, TOOL, "goldens"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "there is no part 'goldens'; there are api, " in done.stderr
