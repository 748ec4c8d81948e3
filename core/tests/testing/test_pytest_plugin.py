"""`pytest --tilewright-target NAME` adds the tests of a target; without the flag nothing changes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest


def collected(folder: Path, *flags: str) -> subprocess.CompletedProcess[str]:
    (folder / "test_own.py").write_text("def test_own():\n    pass\n", encoding="ascii")
    command = [sys.executable, "-m", "pytest", "-q", "--collect-only", "-p", "no:cacheprovider", *flags]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_without_the_flag_there_are_only_the_package_s_own_tests(tmp_path: Path) -> None:
    lines = collected(tmp_path).stdout.splitlines()
    assert [line for line in lines if "::" in line] == ["test_own.py::test_own"]


def test_a_target_that_is_not_installed_is_an_error_with_its_code(tmp_path: Path) -> None:
    finished = collected(tmp_path, "--tilewright-target", "acme-nowhere")
    assert finished.returncode != 0
    assert "TW8001" in finished.stdout


@pytest.mark.parametrize("flag", ["--tilewright-target", "--tilewright-runner", "--tilewright-seed"])
def test_every_flag_is_in_the_help(tmp_path: Path, flag: str) -> None:
    command = [sys.executable, "-m", "pytest", "--help"]
    assert flag in subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
