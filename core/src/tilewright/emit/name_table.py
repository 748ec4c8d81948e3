"""Knows the table at the end of the source file: the names that comments shorten or leave out, each in full.
Does not know how names are shortened.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from tilewright.ir.programs.program import NamesInFull

MOST = 110  # characters of a name in one line
_PLACE = re.compile(r"[^/; ]*[/; ]*")  # a name may go on in a new line behind each of these


def name_table(names: Iterable[NamesInFull]) -> str:
    """A comment; "" where every name is as in the model."""
    lines = [
        line for one in names for line in (one.of, *(f"    {piece}" for name in one.names for piece in _pieces(name)))
    ]
    head = (
        "Names of the model in full, below what comments say instead. A name that only adds to another one, as conv.W",
        "does to conv, adds the same to its short form.",
        "",
    )
    return (
        "\n".join((f"/* {head[0]}", *(f" * {line}".rstrip() for line in (*head[1:], *lines)), " */")) if lines else ""
    )


def _pieces(name: str) -> Iterator[str]:
    """The name in lines, one after the other."""
    line = ""
    for piece in _places(name):
        if line and len(line) + len(piece) > MOST:
            yield line
            line = ""
        line += piece
    yield line.rstrip()


def _places(name: str) -> Iterator[str]:
    for piece in _PLACE.findall(name):
        yield from (piece[at : at + MOST] for at in range(0, len(piece), MOST))
