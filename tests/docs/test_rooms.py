"""The table of rooms in docs/architecture.md is what the sources are, and every file that documents name is there."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CORE = ROOT / "core" / "src" / "tilewright"
DESIGN = ROOT / "docs" / "architecture.md"
EVERYBODYS = {"errors", "ir"}
ROW = re.compile(r"^\| `(\w+)(?:/|\.py)` \|.*\| ?([^|]*) \|$")
FILE = re.compile(r"^((?:[\w.-]+/)*[\w-]+\.py|(?:[\w.-]+/)+(?:[\w-]+\.\w+)?)(?::.*)?$")
BUILT = {"site/"}  # by a tool, and not in a fresh checkout
MADE_UP = {"core/src/tilewright/a/b.py", "core/tests/a/test_b.py"}


def section(title: str) -> str:
    """The text below a heading of the design page, up to the next heading."""
    return DESIGN.read_text(encoding="utf-8").split(f"### {title}\n")[1].split("\n### ")[0]


def table() -> dict[str, set[str]]:
    """Room -> rooms that it may import beside everybody's, in the order of the table."""
    rows = [row for line in section("Rooms").splitlines() if (row := ROW.match(line))]
    return {row[1]: set(re.findall(r"`(\w+)`", row[2])) for row in rows}


def imported(file: Path) -> Iterator[str]:
    """The rooms that a module imports from, for types as well."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module == "tilewright":
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            package, _, inner = node.module.partition(".")
            yield from [inner.split(".")[0]] if package == "tilewright" else []
        elif isinstance(node, ast.Import):
            yield from (alias.name.split(".")[1] for alias in node.names if alias.name.startswith("tilewright."))


def rooms() -> dict[str, list[Path]]:
    """Every folder of the core and every module outside of folders, with its modules."""
    folders = {path.parent.name: sorted(path.parent.rglob("*.py")) for path in CORE.glob("*/__init__.py")}
    return folders | {path.stem: [path] for path in CORE.glob("*.py") if path.stem != "__init__"}


def test_the_table_has_every_room_from_the_top_to_the_ground() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (layers,) = (one["layers"] for one in project["tool"]["importlinter"]["contracts"] if one["type"] == "layers")
    floors = [layer.split(" | ") for layer in layers]
    listed = list(table())
    assert [sorted(listed.pop(0) for _ in floor) for floor in floors] == [sorted(floor) for floor in floors]
    assert listed == []
    assert set(table()) == set(rooms())


def test_every_room_has_one_line() -> None:
    listed = [row[1] for line in section("Rooms").splitlines() if (row := ROW.match(line))]
    assert [name for name in listed if listed.count(name) > 1] == []


@pytest.mark.parametrize("room", rooms())
def test_a_room_imports_what_its_line_names(room: str) -> None:
    found = {name for file in rooms()[room] for name in imported(file)}
    assert (found & set(rooms())) - {room} - EVERYBODYS == table()[room]


def test_everything_that_all_speak_of_is_named() -> None:
    text = section("Rooms")
    assert [file.stem for file in rooms()["ir"] if f"`{file.stem}`" not in text and file.stem != "__init__"] == []


@pytest.mark.parametrize(
    "page",
    [DESIGN, *sorted(DESIGN.parent.glob("design/*.md")), ROOT / "CONTRIBUTING.md", DESIGN.parent / "allocation.md"],
    ids=lambda p: p.stem,
)
def test_every_file_that_a_page_names_is_there(page: Path) -> None:
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    named = {found[1] for word in re.findall(r"`([^`\n]+)`", text) if (found := FILE.match(word))}
    missing = [name for name in named if not any((base / name).exists() for base in (ROOT, CORE, ROOT / "core/tests"))]
    assert set(missing) - BUILT - MADE_UP == set()
