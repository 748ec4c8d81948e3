"""The design pages can be read: lines of a sane length, links that lead to a heading, blocks that run, figures that are
what tilewright does."""

from __future__ import annotations

import re
import runpy
import shutil
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted([*DOCS.rglob("*.md"), *ROOT.glob("*.md"), *ROOT.glob("examples/*/*.md"), *ROOT.glob("plugins/*/*.md")])
DESIGN = [DOCS / "architecture.md", *sorted((DOCS / "design").glob("*.md"))]
FIGURES = ("memory-over-time", "rolling-window", "tiled-loop")
FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)#]*)#([^)]+)\)")
LONGEST = 160
WIDEST = 800  # pixels of a figure
LEAST_CONTRAST = 4.5  # of text, as WCAG demands


def prose(page: Path) -> str:
    """A page without its blocks of code."""
    return FENCE.sub("", page.read_text(encoding="utf-8"))


def anchors(page: Path) -> set[str]:
    """What links may name, as GitHub makes it from headings."""
    headings = re.findall(r"^#+ (.*)$", prose(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", DESIGN, ids=lambda page: page.stem)
def test_lines_can_be_read(page: Path) -> None:
    lines = [line for line in prose(page).splitlines() if not line.startswith("|")]
    assert [line for line in lines if len(line) > LONGEST] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_to_a_heading(page: Path) -> None:
    found = [link for link in LINK.findall(prose(page)) if "://" not in link[0]]
    dead = [link for link in found if link[1] not in anchors((page.parent / link[0]) if link[0] else page)]
    assert dead == []


def test_the_design_page_leads_to_every_other() -> None:
    text = DESIGN[0].read_text(encoding="utf-8")
    assert [page.name for page in DESIGN[1:] if f"(design/{page.name})" not in text] == []


@pytest.mark.slow
@pytest.mark.parametrize("page", DESIGN[1:], ids=lambda page: page.stem)
def test_what_a_page_shows_happens(page: Path, reader: Any) -> None:
    reader.do(page)


def test_figures_are_what_tilewright_does(tmp_path: Path, tool: Any) -> None:
    tool("cc")
    for folder in ("design", "images"):
        shutil.copytree(DOCS / folder, tmp_path / folder)
    for name in FIGURES:
        (tmp_path / "images" / f"{name}.svg").unlink()
    subprocess.run([sys.executable, ROOT / "tools" / "draw_figures.py", tmp_path], check=True)
    for folder in ("design", "images"):
        made = {path.name: path.read_bytes() for path in (tmp_path / folder).iterdir()}
        kept = {path.name: path.read_bytes() for path in (DOCS / folder).iterdir()}
        assert made == kept, "run: python tools/draw_figures.py"


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_has_a_width_and_a_title(name: str) -> None:
    figure = ElementTree.parse(DOCS / "images" / f"{name}.svg").getroot()
    assert int(figure.attrib["width"]) <= WIDEST
    assert (figure.findtext("{http://www.w3.org/2000/svg}title") or "").strip()


def luminance(colour: str) -> float:
    """Relative, of `#rrggbb`, as WCAG 2 defines it."""
    parts = (int(colour[at:end], 16) / 255 for at, end in pairwise((1, 3, 5, 7)))
    red, green, blue = (part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """From 1 to 21."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_text_stands_out_on_light_and_on_dark_pages() -> None:
    drawing = runpy.run_path(str(ROOT / "tools" / "svg.py"))
    pages = {name: contrast(colours["text"], colours["page"]) for name, colours in drawing["PAGES"].items()}
    boxes = {name: contrast(drawing["INK"], colour) for name, colour in drawing["FILLS"].items()}
    assert {name: ratio for name, ratio in {**pages, **boxes}.items() if ratio < LEAST_CONTRAST} == {}
