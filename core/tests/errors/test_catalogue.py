"""The long texts: complete for somebody who has installed a package and has no checkout."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import tilewright
from tilewright.errors.catalogue import catalogue

SOURCES = Path(tilewright.__file__).parent


def said(source: Path) -> list[str]:
    """The texts of a module that are no docstrings."""
    tree = ast.parse(source.read_text("utf-8"))
    documents = {
        node.body[0].value
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    texts = (node for node in ast.walk(tree) if isinstance(node, ast.Constant) and node not in documents)
    return [node.value for node in texts if isinstance(node.value, str)]


@pytest.mark.slow
def test_no_text_sends_a_user_to_a_file_of_the_repository() -> None:
    assert [code.code for code in catalogue().values() if "docs/" in code.text] == []
    found = {str(source.relative_to(SOURCES)) for source in SOURCES.rglob("*.py") if "docs/" in "".join(said(source))}
    assert found == set()


def test_codes_are_in_order_and_every_text_ends() -> None:
    assert list(catalogue()) == sorted(catalogue())
    ends = {code.code: code.text[-1] for code in catalogue().values() if not code.example}
    assert {code: end for code, end in ends.items() if end not in ".!)"} == {}


def test_an_example_is_as_it_is_written_in_a_file() -> None:
    found = catalogue()["TW1410"]
    assert found.text.endswith("these names.")
    assert found.example[0] == 'target = "cortex-m4"'
    assert found.example[2:4] == ("", "[models]")
