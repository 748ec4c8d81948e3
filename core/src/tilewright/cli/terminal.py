"""Knows how lines and tables look on a terminal: rich's tables, and colours for the words that matter.
Does not know who speaks. Imported only when something is drawn: rich takes half as long to import as a command to run.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import ClassVar

from rich import box
from rich.console import Console, RenderableType
from rich.highlighter import RegexHighlighter
from rich.padding import Padding
from rich.table import Table as Drawing
from rich.text import Text
from rich.theme import Theme

from tilewright.report.table import Part, Table

GAP = 2  # characters between columns
NARROW = 10  # characters that a column of words keeps, whatever it takes
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
        if isinstance(part, Table) and _room_for(part, columns):
            console.print(_drawing(part))
        else:
            console.print(Sentences()(Text(str(part))), soft_wrap=True)
    return canvas.getvalue().removesuffix("\n")


def _room_for(table: Table, columns: int) -> bool:
    """Whether numbers stay whole, and words readable."""
    widths = [width if number in table.right else min(width, NARROW) for number, width in enumerate(table.widths)]
    return table.indent + sum(widths) + GAP * (len(widths) - 1) <= columns


def _drawing(table: Table) -> RenderableType:
    """Words that are too long for their column go on in its next line."""
    drawing = Drawing(
        box=box.SIMPLE_HEAD if table.headed else None,
        show_header=table.headed,
        show_edge=False,
        pad_edge=False,
        padding=(0, GAP - 1 if table.headed else GAP, 0, 0),
        header_style="bold",
        border_style="dim",
    )
    for number, title in enumerate(table.rows[0]):
        right = number in table.right
        drawing.add_column(Text(title if table.headed else ""), justify="right" if right else "left",
                           no_wrap=right, overflow="fold")  # fmt: skip
    for row in table.rows[table.headed :]:
        drawing.add_row(*(Cells()(Text(cell)) for cell in row))
    return Padding(drawing, (0, 0, 0, table.indent), expand=False)
