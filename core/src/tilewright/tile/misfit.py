"""Knows how to say that a step does not fit the near memory: what it needs at least, and which loops hold it together.
Does not know how tiles are searched; it asks with other limits.
"""

from __future__ import annotations

from dataclasses import replace

from tilewright.errors import TilewrightError, memory_error
from tilewright.stages import Step
from tilewright.tile.search import Buffering, Search
from tilewright.tile.space import Space
from tilewright.tile.spaces import Machine


def does_not_fit(machine: Machine, step: Step, space: Space, near: str, buffering: Buffering) -> TilewrightError:
    """TW5101 (exit 5): the step, the bytes it needs, the smallest near memory that would do, and what to change."""
    limit = machine.platform.memory(near).size_bytes or 0
    reserved = limit - (space.room_bytes or 0)
    single = smallest_bytes(space, "single")
    needed = smallest_bytes(space, buffering)
    node = machine.nodes[step.name]
    origin = f", onnx {' + '.join(node.origin)}" if node.origin else ""
    details = [
        f"memory '{near}' has {limit:,} B, of which {reserved:,} B are reserved for the runtime and pinned tensors",
        *(f"loop '{name}' cannot be cut: {reason}" for name, reason in space.refused.items()),
    ]
    if space.cuts:
        details.append(f"loops that are cut already: {', '.join(loop.name for loop in space.cuts)}")
    fix = [f"--memory {near}={needed + reserved}     is the least that does"] if needed else []
    if buffering == "double" and single and (not needed or single < needed):
        fix.append(f"--buffering auto --memory {near}={single + reserved}")
    text = f"its smallest tile needs {needed:,} B" if needed else "no tile of it is legal for the copy engine"
    return memory_error(
        "TW5101",
        f"a step does not fit memory '{near}': {text}, there are {max(space.room_bytes or 0, 0):,} B",
        where=f"step '{step.name}' ({node.op}{origin})",
        details=tuple(details),
        fix=tuple(fix),
    )


def smallest_bytes(space: Space, buffering: Buffering) -> int:
    """Bytes of near memory that some legal tiling gets by with; 0 where no tiling is legal."""
    search = Search(replace(space, room_bytes=None), buffering)
    least = search.least_bytes()
    for number in least.argsort(kind="stable"):
        limit = int(least[number])
        tight = Search(replace(space, room_bytes=limit), buffering)
        if any(True for _ in tight.candidates(search.points[number : number + 1])):
            return limit
    return 0
