"""`tilewright new-target`: a folder named as the target, or another one; a bad name writes nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from tilewright.cli.commands.new_target_command import command
from tilewright.errors import TilewrightError


def test_a_package_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    said = CliRunner().invoke(command, ["acme-one", "--dma"], catch_exceptions=False).output
    assert (tmp_path / "acme-one" / "src" / "acme_one" / "machine.py").is_file()
    assert "  pytest --tilewright-target acme-one\n" in said
    CliRunner().invoke(command, ["acme-one", "-o", "elsewhere"], catch_exceptions=False)
    assert (tmp_path / "elsewhere" / "pyproject.toml").is_file()


def test_a_bad_name_writes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(TilewrightError) as caught:
        CliRunner().invoke(command, ["Acme One"], catch_exceptions=False)
    assert caught.value.code == "TW8014"
    assert list(tmp_path.iterdir()) == []
