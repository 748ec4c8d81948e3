"""The files of a new package: what is asked for is there, lines are short, texts are Python and TOML."""

from __future__ import annotations

import ast
import tomllib
from itertools import product

import pytest

from tilewright.scaffold.names import LONGEST, package_name
from tilewright.scaffold.package_files import PLUGIN_KINDS, plugin_files, target_files

SHORT, LONG = "zig", "a-name-of-24-characters-"[: LONGEST - 1] + "x"
FLAGS = [dict(zip(("dma", "engine", "simulator"), choice, strict=True)) for choice in product((False, True), repeat=3)]
TARGETS = [target_files(package_name(name, "platform"), **flags) for name in (SHORT, LONG) for flags in FLAGS]
PLUGINS = [
    plugin_files(package_name(name, offered), kind) for name in (SHORT, LONG) for kind, offered in PLUGIN_KINDS.items()
]


@pytest.mark.parametrize("files", [*TARGETS, *PLUGINS], ids=lambda files: f"{len(files)}")
def test_texts_are_what_they_should_be(files: dict[str, bytes]) -> None:
    assert {"pyproject.toml", "tox.ini", "README.md", ".gitignore", ".github/workflows/test.yml"} < files.keys()
    project = tomllib.loads(files["pyproject.toml"].decode())
    for path, content in files.items():
        text = content.decode("ascii")
        assert text.endswith("\n") and not text.endswith("\n\n"), path
        if path.endswith(".py"):
            ast.parse(text)
            assert max(map(len, text.splitlines())) <= 120, path
    (module,) = set(project["project"]["entry-points"]["tilewright.v1"].values())
    assert f"src/{module}/__init__.py" in files


@pytest.mark.parametrize("flags", FLAGS, ids=str)
def test_what_is_not_asked_for_is_not_there(flags: dict[str, bool]) -> None:
    files = target_files(package_name(SHORT, "platform"), **flags)
    text = b"".join(files.values()).decode()
    assert ("src/zig/engine.py" in files, "FULLY_CONNECTED" in text) == (flags["engine"],) * 2
    assert ("src/zig/simulator.py" in files, "zig-sim" in text) == (flags["simulator"],) * 2
    assert ("CopyPath" in text) == flags["dma"]
    assert ("src/zig/runtime.c" in files) == (flags["dma"] and flags["simulator"])


def test_the_same_files_each_time() -> None:
    name = package_name(SHORT, "platform")
    assert target_files(name, dma=True) == target_files(name, dma=True)
