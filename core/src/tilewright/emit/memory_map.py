"""Knows the list of buffers in the source file: where each begins, its size, and when it is alive.
Does not know who reads them.
"""

from __future__ import annotations

from collections.abc import Iterator

from tilewright.c_text.identifiers import comment_text
from tilewright.ir.programs.program import Program


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
    for memory, found in rows.items():
        yield f"/* {comment_text(memory)} */"
        for offset, enumerator, about in sorted(found):
            yield f"{enumerator} = {offset}, /* {about} */"
