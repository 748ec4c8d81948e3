"""Every name that a plugin may import has a docstring and an example, and the examples run."""

from __future__ import annotations

import inspect
import re
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from tilewright import api

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "docs" / "api"
LAYERS = ["root", *sorted(path.stem for path in Path(api.__file__).parent.glob("*.py") if path.stem != "__init__")]
CELL = re.compile(r"^# %% (.*)\n", re.MULTILINE)


def layer_of(name: str) -> Any:
    return api if name == "root" else import_module(f"tilewright.api.{name}")


def cells_of(layer: str) -> dict[str, str]:
    """The code that is about each name."""
    text = (EXAMPLES / f"{layer}_examples.py").read_text(encoding="utf-8")
    _, _, _, *pieces = CELL.split(text)  # nothing, and what all examples begin with
    titles, codes = pieces[::2], pieces[1::2]
    return {name: code for title, code in zip(titles, codes, strict=True) for name in title.split(", ")}


def test_every_layer_has_examples_and_nothing_else_has() -> None:
    assert {path.name for path in EXAMPLES.iterdir() if path.is_file()} == {f"{name}_examples.py" for name in LAYERS}


@pytest.mark.parametrize("layer", LAYERS)
def test_every_name_has_an_example_that_uses_it(layer: str) -> None:
    cells = cells_of(layer)
    assert sorted(cells) == sorted(layer_of(layer).__all__)
    assert [name for name, code in cells.items() if not re.search(rf"\b{name}\b", code)] == []


@pytest.mark.parametrize("layer", LAYERS)
def test_every_name_is_described(layer: str) -> None:
    found = {name: getattr(layer_of(layer), name) for name in layer_of(layer).__all__}
    bare = [name for name, value in found.items() if is_code(value) and not inspect.getdoc(value)]
    unexplained = [name for name, code in cells_of(layer).items() if not is_code(found[name]) and "# " not in code]
    assert bare == unexplained == []


def is_code(value: object) -> bool:
    """A class or a function; a type's name or a constant is described by its example."""
    return isinstance(value, type) or inspect.isfunction(inspect.unwrap(value) if callable(value) else value)


@pytest.mark.parametrize("layer", LAYERS)
def test_the_examples_run(layer: str, tmp_path: Path, tool: Any) -> None:
    if layer == "testing":
        tool("cc")
    for model in (ROOT / "examples" / "digits").glob("*.onnx"):
        shutil.copy(model, tmp_path)
    program = EXAMPLES / f"{layer}_examples.py"
    done = subprocess.run([sys.executable, program], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
