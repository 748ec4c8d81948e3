"""A module has one idea, and a function is read at a glance: no module over 400 lines, no function over 40."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDERS = ("core", "plugins", "tests", "benchmarks", "tools", "examples")
MODULE_LINES, FUNCTION_LINES = 400, 40


@cache
def functions(file: Path) -> Mapping[str, int]:
    """Every function and method of a file, and its lines from `def` to the end, docstring included."""
    return {
        f"{file.relative_to(ROOT)}:{node.lineno} {node.name}": (node.end_lineno or 0) - node.lineno + 1
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    }


def sources(folder: str) -> Iterator[Path]:
    """What ships."""
    yield from sorted((ROOT / folder).glob("src/**/*.py"))
    yield from sorted((ROOT / folder).glob("*/src/**/*.py"))


def test_no_module_that_ships_is_over_the_limit() -> None:
    lengths = {
        str(file.relative_to(ROOT)): len(file.read_text(encoding="utf-8").splitlines())
        for folder in ("core", "plugins")
        for file in sources(folder)
    }
    assert len(lengths) > 300
    assert {name: lines for name, lines in lengths.items() if lines > MODULE_LINES} == {}


def test_no_function_is_over_the_limit() -> None:
    found = {
        name: lines
        for folder in FOLDERS
        for file in sorted((ROOT / folder).rglob("*.py"))
        for name, lines in functions(file).items()
    }
    assert len(found) > 5000
    assert {name: lines for name, lines in found.items() if lines > FUNCTION_LINES} == {}
