"""Makes the simulator of tests/iss importable, and puts it in GVSoC's place."""

from __future__ import annotations

import stat
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ISS = Path(__file__).parent / "iss"
sys.path.insert(0, str(ISS))


@pytest.fixture(name="simulator")
def _simulator(tool: Callable[[str], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A `gvsoc` that is the simulated cluster; its path."""
    tool("riscv64-unknown-elf-gcc")
    file = tmp_path / "install" / "bin" / "gvsoc"
    file.parent.mkdir(parents=True)
    file.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{ISS / "cluster.py"}" "$@"\n', encoding="utf-8")
    file.chmod(file.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("GVSOC_INSTALL_DIR", str(tmp_path / "install"))
    return file
