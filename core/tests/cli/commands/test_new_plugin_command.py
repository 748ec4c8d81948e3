"""`tilewright new-plugin`: a package of the kind that is asked for."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from tilewright.cli.commands.new_plugin_command import KINDS, command
from tilewright.scaffold.package_files import PLUGIN_KINDS


@pytest.mark.parametrize("kind", KINDS)
def test_a_package_is_written(tmp_path: Path, kind: str) -> None:
    folder = tmp_path / "made"
    said = CliRunner().invoke(command, ["acme-new", "--kind", kind, "-o", str(folder)], catch_exceptions=False).output
    assert f'"{PLUGIN_KINDS[kind]}.acme-new" = "acme_new"' in (folder / "pyproject.toml").read_text(encoding="utf-8")
    assert "tilewright plugins doctor" in said


def test_the_kinds_are_those_that_can_be_written() -> None:
    assert tuple(PLUGIN_KINDS) == KINDS
