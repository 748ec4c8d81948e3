"""Knows how text stands in SVG, how much of a buffer's name fits into its box, and which way it is written there.
Does not know boxes, colours or scales.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

CHARACTER = 6.5  # width of one, in pixels
LINE = 13  # height of one
_LEAST = 3  # characters that still tell something


def label(name: str, size_bytes: int, place: tuple[float, float, float, float]) -> Iterator[str]:
    """Name and size as SVG text, centred in the box `place` (x, y, width, height); upright in narrow boxes.

    A line that does not fit is left out.
    """
    x, y, width, height = place
    middle_x, middle_y = x + width / 2, y + height / 2
    upright = width < height and width < 9 * CHARACTER
    length, breadth = (height, width) if upright else (width, height)
    most = int((length - 6) / CHARACTER)
    size = f"{size_bytes:,} B"
    lines = [line for line in (shortened(name, most), size) if _LEAST <= len(line) <= most][: int((breadth - 1) / LINE)]
    turn = f' transform="rotate(-90 {middle_x:.1f} {middle_y:.1f})"' if upright else ""
    for index, line in enumerate(lines):
        down = middle_y + 4 + (index - (len(lines) - 1) / 2) * LINE
        kind = "name quiet" if line == size else "name"
        yield f'<text class="{kind}" x="{middle_x:.1f}" y="{down:.1f}" text-anchor="middle"{turn}>{plain(line)}</text>'


def plain(text: str) -> str:
    """`text` between tags."""
    return escape(text, quote=False)  # of xml.sax, which can do the same, comes a whole client for the web


def quoted(text: str) -> str:
    """`text` as an attribute's value, with its quotes."""
    return '"{}"'.format(plain(text).replace('"', "&quot;"))


def shortened(name: str, most: int) -> str:
    """As much of a path's end as fits; of names that a converter joined with `;` the first is taken."""
    parts = name.split(";", maxsplit=1)[0].strip("/").split("/")
    for start in range(len(parts)):
        ending = "/".join(parts[start:])
        if len(ending) <= most:
            return ending
    return f"{parts[-1][: most - 1]}…" if most > _LEAST + 1 else ""
