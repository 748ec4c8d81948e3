"""Knows the tables of the source file: buffers, their bytes and when they are alive, and names of the model in full.
Does not know who reads them, nor how names are shortened.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from tilewright.c_text.identifiers import comment_text
from tilewright.ir.programs.program import NamesInFull, Program


def memory_map(program: Program) -> Iterator[str]:
    """Enumerators, memory by memory, in the order of their bytes."""
    buffers = {buffer.name: buffer for buffer in program.allocated.tiled.buffers}
    rows: dict[str, list[tuple[int, str, str]]] = {}
    for name, enumerator in program.offsets.items():
        place, buffer = program.allocated.placements[name], buffers[name]
        size = "1 byte" if buffer.size_bytes == 1 else f"{buffer.size_bytes} bytes"
        during = f"step {buffer.first}" if buffer.first == buffer.last else f"steps {buffer.first} to {buffer.last}"
        about = size if buffer.kind in ("constant", "state", "resident") else f"{size}, {during}"
        rows.setdefault(place.memory, []).append((place.offset_bytes, enumerator, about))
    for memory, buffers_there in rows.items():
        yield f"/* {comment_text(memory)} */"
        for offset, enumerator, about in sorted(buffers_there):
            yield f"{enumerator} = {offset}, /* {about} */"


MOST = 110  # characters of a name in one line
_PLACE = re.compile(r"[^/; ]*[/; ]*")  # a name may go on in a new line behind each of these


def name_table(names: Iterable[NamesInFull]) -> str:
    """A comment; "" where every name is as in the model."""
    lines = [
        line
        for entry in names
        for line in (entry.of, *(f"    {piece}" for name in entry.names for piece in _pieces(name)))
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
