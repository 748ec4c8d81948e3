"""`tools/trace_compile.py` finds what a compilation executes, and the design page has its output for one Conv."""

from __future__ import annotations

import runpy
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

TOOL = Path(__file__).parents[2] / "tools" / "trace_compile.py"
MADE_UP = """
def counted(function):
    return function

class Table:
    sizes = [len(name) for name in ("a", "b")]

@counted
def work():
    from tilewright_inner import helper
    return [helper(number) for number in range(2)]

EAGER = [counted(work)]
"""
INNER = "def helper(number):\n    return sorted([number], key=lambda one: -one)\n\nhelper(3)\n"


@pytest.fixture(name="tool")
def _tool() -> dict[str, Any]:
    return runpy.run_path(str(TOOL))


def test_what_runs_while_modules_are_imported_is_not_counted(
    tool: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tilewright_made_up.py").write_text(MADE_UP)
    (tmp_path / "tilewright_inner.py").write_text(INNER)
    monkeypatch.syspath_prepend(str(tmp_path))
    functions = tool["traced"](lambda: import_module("tilewright_made_up").work())
    assert [(function.module, function.name, function.line) for function in functions] == [
        ("tilewright_made_up", "work", 8),
        ("tilewright_inner", "helper", 1),
        ("tilewright_inner", "helper.<locals>.<lambda>", 2),
    ]
    assert tool["totals"](functions) == "2 modules of 2 rooms, 3 functions, 1 changes of room"
    assert list(tool["listing"](functions))[:2] == ["tilewright_made_up", "       8 work"]


def test_the_hook_is_gone_after_an_error(tool: dict[str, Any]) -> None:
    with pytest.raises(ZeroDivisionError):
        tool["traced"](lambda: 1 // 0)
    assert sys.getprofile() is None


def test_the_design_page_has_the_path_of_one_convolution(tool: dict[str, Any]) -> None:
    pytest.importorskip("tilewright_minimalloc._native", reason="another allocator executes other modules")
    page = tool["PAGE"].read_text("utf-8")
    assert page == tool["with_trace"](page, tool["convolution_lines"]()), "run: python tools/trace_compile.py --page"
