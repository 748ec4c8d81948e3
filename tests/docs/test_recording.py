"""The README's recording of `check` is what the command prints, in an order and at times that a reader can follow."""

from __future__ import annotations

import runpy
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "tools" / "draw_check.py"
KEPT = ROOT / "docs" / "images" / "check.svg"


@pytest.fixture(name="tool_of")
def _tool_of(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    monkeypatch.syspath_prepend(str(SCRIPT.parent))
    return runpy.run_path(str(SCRIPT))


def test_it_is_what_is_printed(tmp_path: Path) -> None:
    drawn = tmp_path / "check.svg"
    subprocess.run([sys.executable, SCRIPT, drawn], check=True)
    assert KEPT.read_text("utf-8") == drawn.read_text("utf-8"), "python tools/draw_check.py"
    assert "](docs/images/check.svg)" in (ROOT / "README.md").read_text("utf-8")


def test_an_answer_begins_when_its_command_is_typed(tool_of: dict[str, Any]) -> None:
    lines = tool_of["recorded"]([("one", ["a", "b"]), ("two", [])])
    assert [line.text for line in lines] == ["$ one", "a", "b", "", "$ two", ""]
    assert all(one.begin + one.seconds < other.begin for one, other in pairwise(lines))
    assert [bool(line.seconds) for line in lines] == [True, False, False, False, True, False]


def test_text_keeps_its_letters_and_spaces(tool_of: dict[str, Any]) -> None:
    lines = tool_of["recorded"]([("a <b> & c", ["  x   y"])])
    root = ElementTree.fromstring(tool_of["drawn"](lines))
    shown = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert shown == ["$ a <b> & c", "  x   y"]
    assert root.get("{http://www.w3.org/XML/1998/namespace}space") == "preserve"
