"""Pictures of pages: each is there, small, as large as its name says, and shown with words for who cannot see it."""

from __future__ import annotations

import re
import struct
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PICTURES = sorted((ROOT / "docs" / "images").glob("*.png"))
PAGES = (ROOT / "README.md", ROOT / "docs" / "howto" / "read-the-report.md")
SHOWN = re.compile(r'!\[([^\]]+)\]\((\S+\.png)\)|<img alt="([^"]+)" src="(\S+\.png)"')


def test_the_report_and_the_site_are_shown_at_three_widths_and_in_two_themes() -> None:
    taken = {tuple(picture.stem.split("-")) for picture in PICTURES}
    for page in ("report", "site"):
        assert {width for one, width, _ in taken if one == page} == {"360", "768", "1280"}
        assert {theme for one, _, theme in taken if one == page} == {"light", "dark"}


@pytest.mark.parametrize("picture", PICTURES, ids=lambda path: path.stem)
def test_a_picture_is_a_small_png_of_its_width(picture: Path) -> None:
    data = picture.read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    assert struct.unpack(">I", data[16:20]) == (int(picture.stem.split("-")[1]),)
    assert len(data) < 80_000


def test_each_is_shown_once_with_words() -> None:
    shown = [found.groups() for page in PAGES for found in SHOWN.finditer(page.read_text("utf-8"))]
    names = [Path(plain or tag).name for _, plain, _, tag in shown]
    assert sorted(names) == [picture.name for picture in PICTURES]
    assert all(len(words or other) > 10 for words, _, other, _ in shown)
