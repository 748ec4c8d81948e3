"""The notebooks run from top to bottom, and what they show has something to see. No Jupyter is needed for it."""

from __future__ import annotations

import ast
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
NOTEBOOKS = sorted(EXAMPLES.glob("*/*.ipynb"))


def cells(notebook: Path) -> Iterator[dict[str, Any]]:
    """The cells with code, in order."""
    book = json.loads(notebook.read_text(encoding="utf-8"))
    assert (book["nbformat"], book["nbformat_minor"]) == (4, 5)
    yield from (cell for cell in book["cells"] if cell["cell_type"] == "code")


def shown(code: str, names: dict[str, Any]) -> object:
    """What a notebook would show below a cell: the value of an expression at its end."""
    parsed = ast.parse(code)
    last = ast.Expression(parsed.body.pop().value) if isinstance(parsed.body[-1], ast.Expr) else None
    exec(compile(parsed, "cell", "exec"), names)
    return None if last is None else eval(compile(last, "cell", "eval"), names)


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(notebook: Path, tool: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tool("cc")
    for folder in (notebook.parent, EXAMPLES / "digits"):
        shutil.copytree(folder, tmp_path / folder.name)
    monkeypatch.chdir(tmp_path / notebook.parent.name)
    names: dict[str, Any] = {}
    values = [shown("".join(cell["source"]), names) for cell in cells(notebook)]
    pages = [draw(value) for value in values if (draw := getattr(type(value), "_repr_html_", None))]
    assert pages, "nothing is drawn"
    assert all("<img" in page for page in pages)


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_committed_without_what_it_showed(notebook: Path) -> None:
    assert [cell["id"] for cell in cells(notebook) if cell["outputs"] or cell["execution_count"]] == []
