"""A new package is written whole into a folder that is empty, and never over what is there."""

from __future__ import annotations

from pathlib import Path

import pytest

from tilewright.cli.new_package import write_package
from tilewright.errors import TilewrightError

FILES = {"pyproject.toml": b"[project]\n", "src/acme/__init__.py": b"one\ntwo\n"}


def test_files_are_written_and_what_to_type_next_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_package(tmp_path / "acme", FILES, tests="pytest", then="tilewright plugins doctor")
    assert {path: (tmp_path / "acme" / path).read_bytes() for path in FILES} == FILES
    said = capsys.readouterr().out
    assert "  src/acme/__init__.py     2 lines\n" in said
    assert said.endswith("  pytest\n  ruff check && ruff format --check\n  tilewright plugins doctor\n")


def test_an_empty_folder_is_taken_and_a_full_one_is_not(tmp_path: Path) -> None:
    (tmp_path / "acme").mkdir()
    write_package(tmp_path / "acme", FILES, tests="", then="")
    with pytest.raises(TilewrightError) as caught:
        write_package(tmp_path / "acme", {"other": b""}, tests="", then="")
    assert caught.value.code == "TW8016"
    assert not (tmp_path / "acme" / "other").exists()
