"""Every error code is raised somewhere, explained, and said to be what it is."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import pytest

import tilewright
from tilewright.errors.catalogue import catalogue

SOURCES = Path(tilewright.__file__).parent
PLUGINS = Path(__file__).parents[3] / "plugins"  # those of this repository raise the core's codes
CODE = re.compile(r"TW\d{4}")


def raised() -> set[str]:
    """Every string in the sources that is an error code or begins as the text of one, and every code in C."""
    found: set[str] = set()
    for kind in ("c", "h", "mako"):
        for path in sorted([*SOURCES.rglob(f"*.{kind}"), *PLUGINS.glob(f"*/src/**/*.{kind}")]):
            found |= set(CODE.findall(path.read_text(encoding="utf-8")))
    for path in sorted([*SOURCES.rglob("*.py"), *PLUGINS.glob("*/src/**/*.py")]):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                if CODE.fullmatch(node.value):
                    found.add(node.value)
                found |= set(re.findall(r"error\[(TW\d{4})\]", node.value))
    return found


@pytest.mark.slow
def test_every_code_that_is_raised_is_explained_and_the_other_way_round() -> None:
    assert raised() == set(catalogue())


def test_no_code_is_explained_twice() -> None:
    lines = (files("tilewright.errors") / "codes.txt").read_text(encoding="utf-8").splitlines()
    codes = [line.split(" ")[0] for line in lines if line and not line.startswith(" ")]
    assert len(codes) == len(set(codes))


def test_every_text_says_what_to_do() -> None:
    for item in catalogue().values():
        assert CODE.fullmatch(item.code)
        assert 3 <= len(item.title) <= 60, item
        assert len(item.text) >= 60, item
        assert item.text.endswith((".", ")", *([":"] if item.example else []))), item


def test_other_codes_that_a_text_mentions_exist() -> None:
    for item in catalogue().values():
        assert set(CODE.findall(item.text)) <= set(catalogue()), item


def explain(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from tilewright.cli import main; main()", "explain", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_explain_lists_all_and_explains_one() -> None:
    everything = explain().stdout.splitlines()
    assert [line.split("  ")[0] for line in everything] == sorted(catalogue())
    one = explain("tw5001")
    assert one.returncode == 0
    assert one.stdout.startswith("TW5001: does not fit\n\n")
    assert max(map(len, one.stdout.splitlines())) <= 100


def test_explain_suggests_a_code() -> None:
    finished = explain("TX5001")
    assert (finished.returncode, finished.stdout) == (2, "")
    assert "error[TW1110]" in finished.stderr
    assert "did you mean TW5001?" in finished.stderr
