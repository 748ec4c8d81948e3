"""The table of passes: every pass of the room, each once, and demands on their order that name passes of the room."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import tilewright.rewrite
from tilewright.ir.graphs.operator import GraphPass
from tilewright.rewrite.passes import PASSES


def test_every_pass_is_listed_once() -> None:
    """A module's only pass is PASS, and named like the module; several passes of a module have names of their own."""
    folder = Path(tilewright.rewrite.__file__).parent
    files = [path for path in sorted(folder.rglob("*.py")) if " = GraphPass(" in path.read_text(encoding="utf-8")]
    found: list[GraphPass] = []
    for path in files:
        module = import_module(".".join(("tilewright.rewrite", *path.relative_to(folder).with_suffix("").parts)))
        passes = {name: value for name, value in vars(module).items() if isinstance(value, GraphPass)}
        names = {each.name.replace("-", "_") for each in passes.values()}
        assert names == ({path.stem} if set(passes) == {"PASS"} else {name.lower() for name in passes})
        found.extend(passes.values())
    assert sorted(each.name for each in found) == sorted(each.name for each in PASSES)
    assert all(each.summary for each in PASSES)


def test_demands_name_passes_that_there_are() -> None:
    names = {each.name for each in PASSES}
    assert {name for each in PASSES for name in (*each.after, *each.before)} <= names
