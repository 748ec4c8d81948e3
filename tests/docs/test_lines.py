"""Lines that pages only show: the command line takes each of them, no flag is missing or made up, no block of Python
imports what is no interface, or imports anything twice, and every error code that is named can be explained."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from tilewright.cli.main import LazyGroup, tilewright
from tilewright.errors.catalogue import catalogue

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
FENCE = re.compile(r"^```(\w+)(?: ([^\n]*))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^(?:  COMMAND )?(tilewright [^|>\n]*)", re.MULTILINE)
IMPORT = re.compile(r"^(?:>>> )?((?:from|import) \S.*)$", re.MULTILINE)
PUBLIC = re.compile(r"(from|import) (?!tilewright\b)|import tilewright\b|from tilewright( |\.api\b|\.testing\b)")


def blocks(page: Path) -> Iterator[tuple[str, str, str]]:
    """Language, what else the first line says, and text."""
    yield from FENCE.findall(page.read_text(encoding="utf-8"))


SHOWN = [
    (page.relative_to(ROOT).as_posix(), line.strip())
    for page in PAGES
    for language, order, text in blocks(page)
    if language in ("sh", "cmake") and not order
    for line in COMMAND.findall(text)
]
PYTHON = [
    (page.relative_to(ROOT).as_posix(), text)
    for page in PAGES
    for language, _, text in blocks(page)
    if language in ("python", "pycon")
]


@pytest.mark.parametrize(("page", "line"), SHOWN, ids=str)
def test_the_command_line_takes_it(page: str, line: str) -> None:
    """Files need not be there: only what is typed is looked at."""
    name, *words = shlex.split(line, comments=True)[1:]
    assert isinstance(tilewright, LazyGroup)
    with click.Context(tilewright) as context:
        command = tilewright.get_command(context, name)
        assert command is not None, f"{page}: there is no command {name}"
        command.make_context(name, words, parent=context)


def test_blocks_import_the_interface_and_each_thing_once() -> None:
    assert len(PYTHON) > 30
    for page, text in PYTHON:
        lines = IMPORT.findall(text)
        assert [line for line in lines if not PUBLIC.match(line)] == [], page
        assert sorted(lines) == sorted(set(lines)), page


def test_every_code_that_is_named_can_be_explained() -> None:
    for page in PAGES:
        if not page.name.startswith("api."):  # plugins have codes of their own
            named = set(re.findall(r"\bTW\d{4}\b", page.read_text(encoding="utf-8")))
            assert sorted(named - set(catalogue())) == [], page
