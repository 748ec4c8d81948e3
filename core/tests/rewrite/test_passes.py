"""The table of passes: every pass of the room, each once, and demands on their order that name passes of the room."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import tilewright.rewrite
from tilewright.ir.graphs.graph_pass import GraphPass
from tilewright.rewrite.passes import PASSES


def test_every_pass_is_listed_once() -> None:
    folder = Path(tilewright.rewrite.__file__).parent
    files = [path for path in sorted(folder.rglob("*.py")) if "\nPASS = " in path.read_text(encoding="utf-8")]
    modules = [".".join(path.relative_to(folder).with_suffix("").parts) for path in files]
    found = [import_module(f"tilewright.rewrite.{module}").PASS for module in modules]
    assert sorted(each.name for each in found) == sorted(each.name for each in PASSES)
    assert all(isinstance(each, GraphPass) and each.summary for each in PASSES)
    assert [each.name.replace("-", "_") for each in found] == [path.stem for path in files]


def test_demands_name_passes_that_there_are() -> None:
    names = {each.name for each in PASSES}
    assert {name for each in PASSES for name in (*each.after, *each.before)} <= names
