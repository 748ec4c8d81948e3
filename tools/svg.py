"""Knows how a small figure is written as SVG that reads well on light and on dark pages.
Does not know what is drawn.

Boxes keep their light colours and their dark text on both; the page, its text and its lines change. All coordinates are
pixels.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from xml.sax.saxutils import escape

PAGES: Mapping[str, Mapping[str, str]] = {  # what changes with the reader's colour scheme
    "light": {"page": "#ffffff", "text": "#1d2330", "line": "#59616f"},
    "dark": {"page": "#0d1117", "text": "#e6edf3", "line": "#9aa4b2"},
}
INK = "#10151f"  # text in boxes
FILLS: Mapping[str, str] = {
    "in": "#9cc9f5",
    "cores": "#f4cf73",
    "out": "#8fd6b0",
    "kept": "#cbb7ec",
    "none": "#d7dce4",
}
SIZE = 12  # of text
GLYPH = 0.6 * SIZE  # the width of a character


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """A figure being drawn: its size, what it shows in a sentence, and its elements so far."""

    width: int
    height: int
    title: str
    elements: list[str] = field(default_factory=list)

    def box(self, x: float, y: float, width: float, height: float, fill: str, label: str = "") -> None:
        """A filled box; its label in the middle, where there is room for it."""
        place = f'x="{_n(x)}" y="{_n(y)}" width="{_n(width)}" height="{_n(height)}"'
        self.elements.append(f'<rect {place} rx="2" class="{fill}"/>')
        if label and fits(label, width, height):
            self._put(x + width / 2, y + height / 2 + SIZE / 3, label, "ink", "middle")

    def frame(self, x: float, y: float, width: float, height: float) -> None:
        """The border of a place that holds boxes."""
        place = f'x="{_n(x)}" y="{_n(y)}" width="{_n(width)}" height="{_n(height)}"'
        self.elements.append(f'<rect {place} class="frame"/>')

    def text(self, x: float, y: float, text: str, anchor: str = "start") -> None:
        """A line of text on the page; `y` is its base line, `anchor` "start", "middle" or "end"."""
        self._put(x, y, text, "text", anchor)

    def line(self, x1: float, y1: float, x2: float, y2: float, kind: str = "line") -> None:
        """A straight line; `kind` "line" or "dashed"."""
        ends = f'x1="{_n(x1)}" y1="{_n(y1)}" x2="{_n(x2)}" y2="{_n(y2)}"'
        self.elements.append(f'<line {ends} class="{kind}"/>')

    def legend(self, x: float, y: float, entries: Sequence[tuple[str, str]]) -> None:
        """Fills and what they stand for, side by side."""
        for fill, meaning in entries:
            self.box(x, y - 10, 12, 12, fill)
            self.text(x + 18, y, meaning)
            x += 42 + GLYPH * len(meaning)

    def svg(self) -> str:
        """The whole file."""
        head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{self.width}" height="{self.height}"'
        view = f'viewBox="0 0 {self.width} {self.height}" role="img"'
        lines = (
            f"{head} {view}>",
            f"<title>{escape(self.title)}</title>",
            f"<style>{_style()}</style>",
            f'<rect width="{self.width}" height="{self.height}" class="page"/>',
            *self.elements,
            "</svg>",
        )
        return "\n".join(lines) + "\n"

    def _put(self, x: float, y: float, text: str, kind: str, anchor: str) -> None:
        place = f'x="{_n(x)}" y="{_n(y)}" class="{kind}" text-anchor="{anchor}"'
        self.elements.append(f"<text {place}>{escape(text)}</text>")


def fits(label: str, width: float, height: float) -> bool:
    """Whether a box of that size has room for a label."""
    return GLYPH * len(label) + 2 <= width and height >= SIZE + 1


def _style() -> str:
    font = f"text{{font:{SIZE}px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace}}"
    fills = "".join(f".{name}{{fill:{colour}}}" for name, colour in FILLS.items())
    strokes = ".frame{fill:none}.dashed{stroke-dasharray:4 3}"
    dark = f"@media(prefers-color-scheme:dark){{{_page(PAGES['dark'])}}}"
    return f"{font}{fills}.ink{{fill:{INK}}}{strokes}{_page(PAGES['light'])}{dark}"


def _page(colours: Mapping[str, str]) -> str:
    lines = f".frame,.line,.dashed{{stroke:{colours['line']}}}"
    return f".page{{fill:{colours['page']}}}.text{{fill:{colours['text']}}}{lines}"


def _n(number: float) -> str:
    """A coordinate with at most one decimal."""
    return f"{number:.1f}".removesuffix(".0")
