"""What plugins may import: its layers, their names and signatures, what each costs."""

from __future__ import annotations

import inspect
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from tilewright import api

GOLDEN = Path(__file__).parent / "golden" / "api"
WRITER = Path(__file__).parents[2] / "tools" / "build_api.py"
FOLDER = Path(api.__file__).parent
LAYERS = sorted(path.stem for path in FOLDER.glob("*.py") if path.stem != "__init__")
MODULES = ["tilewright.api", *(f"tilewright.api.{layer}" for layer in LAYERS)]
IN_ARRAYS = {"tilewright.api.tiler", "tilewright.api.deployment", "tilewright.api.testing"}  # they search, or run
WHERE = re.compile(r"\btilewright\.[a-z_.]+\.(?=[A-Z])")  # which module of the core a class is from: nobody's business
STAGES = {f"tilewright.{stage}" for stage in ("bind", "schedule", "tile", "allocate", "lower", "transform", "emit")}
MINE = {  # the stages whose packages a layer needs
    "tilewright.api.allocator": {"tilewright.allocate"},
}


def names_of(module: str) -> tuple[str, ...]:
    """What a layer offers."""
    return tuple(import_module(module).__all__)


def _described(name: str, value: Any) -> Iterator[str]:
    """The lines that a change of the contract would change."""
    if not isinstance(value, type):
        function = inspect.unwrap(value) if callable(value) else value  # a cache around it is not part of the contract
        yield f"{name}{inspect.signature(function)}" if inspect.isfunction(function) else f"{name} = {_printed(value)}"
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


def _printed(value: object) -> str:
    """A type or a plain constant as it is; of any other constant only its type."""
    plain = isinstance(value, (int, str, tuple)) or type(value).__module__ in ("types", "typing", "_collections_abc")
    return WHERE.sub("", str(value)) if plain else f"{type(value).__name__}(...)"


@pytest.mark.parametrize("module", MODULES)
def test_the_surface_is_the_golden_one(module: str) -> None:
    golden = GOLDEN / f"{module.removeprefix('tilewright.')}.txt"
    layer = import_module(module)
    surface = "\n".join(line for name in names_of(module) for line in _described(name, getattr(layer, name))) + "\n"
    if os.environ.get("UPDATE_GOLDEN"):
        golden.write_text(surface, encoding="utf-8")
    message = f"{module} has changed; python tools/regenerate.py golden writes it anew, the commit says why"
    assert surface == golden.read_text(encoding="utf-8"), message


def test_no_golden_file_is_left_over() -> None:
    assert {path.stem for path in GOLDEN.iterdir()} == {module.removeprefix("tilewright.") for module in MODULES}


def test_the_modules_are_what_the_table_says(tmp_path: Path) -> None:
    subprocess.run([sys.executable, WRITER, tmp_path], check=True)
    made = {path.name: path.read_text(encoding="utf-8") for path in tmp_path.glob("*.py")}
    committed = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.py")}
    assert made == committed, "run: python tools/build_api.py"


def test_a_name_is_in_one_layer() -> None:
    homes: dict[str, list[str]] = {}
    for module in MODULES:
        for name in names_of(module):
            homes.setdefault(name, []).append(module)
    assert {name: modules for name, modules in homes.items() if len(modules) > 1} == {}


def _imported_by(statement: str) -> set[str]:
    """The modules that a new process has after `statement`."""
    command = [sys.executable, "-c", f"{statement}\nimport sys; print(*sys.modules)"]
    return set(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split())


@pytest.mark.slow
@pytest.mark.parametrize("module", MODULES)
def test_a_layer_brings_only_what_its_authors_need(module: str) -> None:
    imported = _imported_by(f"import {module}")
    assert {name for name in imported if name.startswith("tilewright.api")} == {"tilewright.api", module}
    assert not {"onnx", "onnxruntime", "hypothesis"} & imported
    if module not in IN_ARRAYS:
        assert not {"numpy", "mako"} & imported
        assert imported & STAGES == MINE.get(module, set())


def test_what_every_plugin_imports_does_not_bring_the_host() -> None:
    assert not {"tilewright.plugins", "packaging", "importlib_metadata"} & _imported_by("import tilewright.api")
