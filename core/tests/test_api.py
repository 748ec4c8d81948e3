"""What plugins may import: its names, their signatures, what it costs."""

from __future__ import annotations

import ast
import inspect
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from pathlib import Path
from typing import Any

import pytest

from tilewright import api

GOLDEN = Path(__file__).parent / "golden" / "api.txt"
CHOOSING = {"Needs", "TileChoices", "Tiling"}  # the search for tiles comes with them, which is done in arrays


def _described(name: str, value: Any) -> Iterator[str]:
    """The lines that a change of the contract would change."""
    if not isinstance(value, type):
        function = inspect.unwrap(value)  # a cache around it is not part of the contract
        yield f"{name}{inspect.signature(function)}" if inspect.isfunction(function) else f"{name} = {value}"
        return
    yield f"class {name}"
    if issubclass(value, Enum):
        yield from (f"    {member.name} = {member.value!r}" for member in value)
    elif is_dataclass(value):
        for item in fields(value):
            required = item.default is MISSING and item.default_factory is MISSING
            plain = isinstance(item.default, (str, int, float, tuple, type(None)))
            default = "" if required else f" = {item.default!r}" if plain else " = ..."
            yield f"    {item.name}: {item.type}{default}"
    for member, function in sorted(vars(value).items()):
        if member.startswith("_") or (not isinstance(function, (property, classmethod)) and not callable(function)):
            continue
        if isinstance(function, property):
            yield f"    {member}: property"
        elif inspect.isfunction(function) or isinstance(function, classmethod):
            yield f"    {member}{inspect.signature(getattr(value, member))}"


def _surface() -> str:
    names = [name for name in dir(api) if name != "hookimpl"]
    return "\n".join(line for name in names for line in _described(name, getattr(api, name))) + "\n"


def test_the_surface_is_the_golden_one() -> None:
    if os.environ.get("TILEWRIGHT_UPDATE_GOLDEN"):
        GOLDEN.write_text(_surface(), encoding="utf-8")
    message = "tilewright.api has changed; TILEWRIGHT_UPDATE_GOLDEN=1 rewrites the golden file, the commit says why"
    assert _surface() == GOLDEN.read_text(encoding="utf-8"), message


def test_type_checkers_and_python_see_the_same_names() -> None:
    tree = ast.parse(Path(api.__file__).read_text(encoding="utf-8"))
    (checked,) = (node for node in tree.body if isinstance(node, ast.If))
    seen = {
        alias.asname: node.module for node in checked.body if isinstance(node, ast.ImportFrom) for alias in node.names
    }
    assert dict(api._HOME_OF) == seen


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Platfrom'"):
        getattr(api, "Platfrom")  # noqa: B009  # a type checker would refuse the plain form


def _imported_by(statement: str) -> set[str]:
    """The modules that a new process has after `statement`."""
    command = [sys.executable, "-c", f"{statement}\nimport sys; print(*sys.modules)"]
    return set(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split())


@pytest.mark.parametrize(
    "statement",
    [
        "import tilewright.api",
        "from tilewright.api import Memory, Platform, hookimpl",
        f"import tilewright.api\nfor name in set(dir(tilewright.api)) - {CHOOSING}: getattr(tilewright.api, name)",
    ],
)
def test_importing_it_does_not_import_numpy_or_onnx(statement: str) -> None:
    assert not {"numpy", "onnx", "mako"} & _imported_by(statement)
