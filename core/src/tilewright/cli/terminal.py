"""Knows how lines and tables look on a terminal: rich's tables, and colours for the words that matter.
Does not know who speaks. Imported only when something is drawn: rich takes half as long to import as a command to run.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from itertools import repeat
from typing import ClassVar

from rich import box
from rich.console import Console, RenderableType
from rich.highlighter import RegexHighlighter
from rich.padding import Padding
from rich.table import Table as Drawing
from rich.text import Text
from rich.theme import Theme

from tilewright.report.plain_text import Part, Table

LOOSE, TIGHT = (2, 10), (1, 7)  # characters between columns, and those that a column of words keeps at least
COLOURS = Theme(
    {
        "tw.bad": "bold red",
        "tw.warn": "bold yellow",
        "tw.note": "bold blue",
        "tw.good": "bold green",
        "tw.next": "green",
        "tw.typed": "cyan",
        "tw.name": "bold",
        "tw.quiet": "dim",
    }
)


class Sentences(RegexHighlighter):
    """What stands out in a line."""

    base_style = "tw."
    highlights: ClassVar[Sequence[str]] = [
        r"(?m)^(?P<bad>error\[TW\d+\]):",
        r"(?m)^(?P<warn>warning\[TW\d+\]):",
        r"(?m)^(?P<note>note\[TW\d+\]):",
        r"(?m)^  (?P<quiet>at) {4}",
        r"(?m)^  (?P<next>try:)  (?P<typed>(?:tilewright |--|pip ).*?)(?=     |$)",
        r"(?m)^  (?P<next>try:)",
        r"(?m)(?P<good>^PASS$|^FITS\.)",
        r"(?m)(?P<bad>^FAIL$)",
        r"Next: (?P<typed>tilewright .*)$",
        r"(?P<quiet>\((?:estimate|exact|measured)\))",
        r"(?m)^(?P<quiet> *\d+\.\d\d s)  ",
        r"^(?P<name>\w+)(?=: \d+ (?:steps|blocks))",
    ]


class Cells(RegexHighlighter):
    """What stands out in a table."""

    base_style = "tw."
    highlights: ClassVar[Sequence[str]] = [
        r"^(?P<good>ok|same|optimal|exact)$",
        r"^(?P<bad>differs|infeasible|broken|incompatible)$",
        r"(?P<bad>^-\d[\d,]* B$)",
        r"(?P<quiet>^-$|^no limit$)",
    ]


def drawn(parts: Sequence[Part], columns: int) -> str:
    """The text with its colours, for a terminal of so many columns. Lines are left for the terminal to break: they are
    there to be copied.
    """
    canvas = io.StringIO()
    console = Console(file=canvas, force_terminal=True, width=columns, theme=COLOURS, highlight=False)
    for part in parts:
        widths = _column_widths(part, columns) if isinstance(part, Table) else None
        if isinstance(part, Table) and widths:
            console.print(_drawing(part, *widths))
        else:
            console.print(Sentences()(Text(str(part))), soft_wrap=True)
    return canvas.getvalue().removesuffix("\n")


def _column_widths(table: Table, columns: int) -> tuple[int, list[int]] | None:
    """Characters between columns and of each, with which numbers and the head stay whole and words readable. None where
    there is no room for that.
    """
    heads = map(len, table.rows[0]) if table.headed else repeat(0)
    wanted = list(zip(table.widths, heads, strict=False))
    for gap, narrow in (LOOSE, TIGHT):
        least = [
            width if number in table.right else max(min(width, narrow), head)
            for number, (width, head) in enumerate(wanted)
        ]
        available = columns - table.indent - gap * (len(least) - 1)
        if sum(least) <= available:
            return gap, _shrunk(table.widths, least, available)
    return None


def _shrunk(widths: list[int], least: list[int], available: int) -> list[int]:
    """`widths`, the largest made smaller first, until all of them have room."""
    while sum(widths) > available:
        largest = max(width for width, bound in zip(widths, least, strict=True) if width > bound)
        at = next(number for number, pair in enumerate(zip(widths, least, strict=True)) if pair[0] == largest > pair[1])
        widths = [*widths[:at], largest - 1, *widths[at + 1 :]]
    return widths


def _drawing(table: Table, gap: int, widths: list[int]) -> RenderableType:
    """Words that are too long for their column go on in its next line."""
    drawing = Drawing(
        box=box.SIMPLE_HEAD if table.headed else None,
        show_header=table.headed,
        show_edge=False,
        pad_edge=False,
        padding=(0, gap - 1 if table.headed else gap, 0, 0),
        header_style="bold",
        border_style="dim",
    )
    for number, (title, width) in enumerate(zip(table.rows[0], widths, strict=True)):
        right = number in table.right
        drawing.add_column(Text(title), justify="right" if right else "left", width=width, overflow="fold")
    for row in table.rows[table.headed :]:
        drawing.add_row(*(Cells()(Text(cell)) for cell in row))
    return Padding(drawing, (0, 0, 0, table.indent), expand=False)
