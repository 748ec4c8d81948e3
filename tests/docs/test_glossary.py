"""Names in the glossary exist in the sources, words that it rules out are in no name, and people find the page."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
GLOSSARY = ROOT / "docs" / "glossary.md"
SOURCES = (ROOT / "core" / "src", *sorted((ROOT / "plugins").glob("*/src")))
WORD = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])")


def in_code() -> list[str]:
    """Every identifier of the third column."""
    text = GLOSSARY.read_text(encoding="utf-8").split("\n## Not used")[0]
    rows = [line.split("|") for line in text.splitlines() if line.count("|") == 5 and "in the code" not in line]
    return [name for row in rows for name in re.findall(r"`(\w+)`", row[3])]


def not_used() -> list[str]:
    """Every word of the first column of the last table."""
    text = GLOSSARY.read_text(encoding="utf-8").split("\n## Not used")[1]
    rows = [line.split("|") for line in text.splitlines() if line.count("|") == 3]
    return [word for row in rows for word in re.findall(r"`(\w+)`", row[1])]


def identifiers(sources: Sequence[Path]) -> Iterator[str]:
    """What the sources define: classes, functions, parameters, attributes and variables."""
    for file in (path for folder in sources for path in folder.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef | ast.FunctionDef):
                yield node.name
            elif isinstance(node, ast.arg):
                yield node.arg
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                yield node.id
            elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                yield node.attr


@pytest.fixture(scope="module")
def defined() -> set[str]:
    return set(identifiers(SOURCES))


def test_every_name_exists(defined: set[str]) -> None:
    assert len(in_code()) > 50
    assert [name for name in in_code() if name not in defined] == []


def test_words_that_are_not_used_are_in_no_name() -> None:
    ruled_out = {form for word in not_used() for form in (word, f"{word}s")}
    assert len(ruled_out) > 5
    words = {name: {word.lower() for word in WORD.findall(name)} for name in identifiers(SOURCES)}
    assert [name for name in words if ruled_out.intersection(words[name])] == []


def test_a_term_stands_once() -> None:
    text = GLOSSARY.read_text(encoding="utf-8").split("\n## Not used")[0]
    rows = [line.split("|")[1] for line in text.splitlines() if line.count("|") == 5]
    terms = [term.strip() for row in rows for term in row.split(",") if term.strip() not in ("term", "---")]
    assert len(terms) == len(set(terms)) > 40


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", "docs/howto/README.md", "docs/architecture.md"])
def test_the_glossary_is_linked(page: str) -> None:
    target = GLOSSARY.relative_to(ROOT).as_posix()
    names = {target, f"../{GLOSSARY.name}", GLOSSARY.name}
    links = re.findall(r"\]\(([^)#]+)", (ROOT / page).read_text(encoding="utf-8"))
    assert names.intersection(links)
