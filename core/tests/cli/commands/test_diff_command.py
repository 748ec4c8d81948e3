"""`tilewright diff`: what it says of two reports, and when its gate fails."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tilewright.cli.main import _run

Ran = Callable[..., tuple[int, str, str]]


@pytest.fixture(name="run")
def _runner(capsys: pytest.CaptureFixture[str]) -> Ran:
    def run(*words: Any) -> tuple[int, str, str]:
        code = _run([str(word) for word in words])
        said = capsys.readouterr()
        return code, said.out, said.err

    return run


def _report(file: Path, used: int, cycles: int, kernel: str = "portable.conv") -> Path:
    report = {
        "schema": "https://tilewright.dev/schema/report-2.json",
        "pools": [
            {"name": "sram", "kind": "ram", "used_bytes": used},
            {"name": "flash", "kind": "const", "used_bytes": 9},
        ],
        "cycles": {"total": cycles}, "macs": 5, "steps": [{"name": "/conv", "kernel": kernel}],
    }  # fmt: skip
    file.write_text(json.dumps(report))
    return file


@pytest.mark.parametrize(
    ("gate", "code"),
    [
        ("", 2),
        ("ram+2%", 0),
        ("ram+1%", 9),
        ("ram+19", 9),
        ("ram+20", 0),
        ("pool.sram+1.9%", 9),
        ("cycles+0", 0),
        ("ram", 2),
        ("moon+2%", 2),
        ("flash+0,ram+0", 9),
    ],
)
def test_the_gate(run: Ran, tmp_path: Path, gate: str, code: int) -> None:
    old, new = _report(tmp_path / "old", 1000, 50), _report(tmp_path / "new", 1020, 40, "acme.conv")
    ended, out, err = run("diff", old, new, "--fail-on", gate)
    assert ended == code
    if code != 2:
        assert "1,000  1,020" in " ".join(out.split("\n")[1].split()).replace(" 1,020", "  1,020")
        assert "+2.00 %" in out and "-20.00 %" in out
        assert "~ step /conv: portable.conv -> acme.conv" in out
    if code == 9:
        assert "error[TW5024]" in err and "grew by 20" in err


def test_growth_from_nothing_breaks_every_relative_gate(run: Ran, tmp_path: Path) -> None:
    old, new = _report(tmp_path / "old", 0, 50), _report(tmp_path / "new", 1, 50)
    assert run("diff", old, new, "--fail-on", "ram+500%")[0] == 9
