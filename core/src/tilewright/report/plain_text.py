"""Knows how results stand as plain text: tables and JSON. Does not know what is in them, or how a terminal draws it."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Rows of equally many cells. The first row is the head, unless there is none (`headed`)."""

    rows: Sequence[tuple[str, ...]]
    right: Collection[int] = ()  # columns of numbers, flush right
    indent: int = 0  # characters before each line
    headed: bool = True

    @property
    def widths(self) -> list[int]:
        """Of every column, in characters."""
        return [max(map(len, column)) for column in zip(*self.rows, strict=True)]

    def __str__(self) -> str:
        """Columns two spaces apart."""
        widths = self.widths
        return "\n".join(self._line(row, widths) for row in self.rows)

    def _line(self, row: tuple[str, ...], widths: list[int]) -> str:
        cells = [
            cell.rjust(width) if column in self.right else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        return (" " * self.indent + "  ".join(cells)).rstrip()


Part = str | Table  # of a text that is shown: lines, or a table


def plain(parts: Iterable[Part]) -> str:
    """What a pipe gets."""
    return "\n".join(map(str, parts))


def json_text(value: Any) -> str:
    """JSON as everything here is written: sorted keys, two spaces, a final newline."""
    return json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n"
