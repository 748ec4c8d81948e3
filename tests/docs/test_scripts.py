"""Scripts of `benchmarks/` and `tools/` say what they are for when they are asked, and do nothing then."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPTS = [
    script.relative_to(ROOT).as_posix()
    for folder in ("benchmarks", "tools")
    for script in sorted((ROOT / folder).glob("*.py"))
    if '__name__ == "__main__"' in script.read_text("utf-8")
]


def test_there_are_scripts() -> None:
    assert {"benchmarks/compile_time.py", "tools/install.py"} < set(SCRIPTS)


@pytest.mark.parametrize("script", SCRIPTS)
def test_help_shows_the_document(
    script: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.syspath_prepend(str((ROOT / script).parent))
    monkeypatch.setattr(sys, "argv", [script, "--help"])
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as left:
        runpy.run_path(str(ROOT / script), run_name="__main__")
    said = capsys.readouterr().out
    assert left.value.code == 0
    assert said.startswith("usage: ")
    document = (ROOT / script).read_text("utf-8").split('"""')[1]
    assert " ".join(document.split()) in " ".join(said.split())
    assert list(tmp_path.iterdir()) == []
