"""Knows how to say that a step does not fit the near memory: what it needs at least, and which loops hold it together.
Does not know how tiles are searched; it asks with other limits.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tilewright.access import MapAccess
from tilewright.errors import TilewrightError, memory_error
from tilewright.stages import Step
from tilewright.tile.pick import smallest_bytes
from tilewright.tile.space import Space
from tilewright.tile.spaces import Machine


def does_not_fit(machine: Machine, step: Step, space: Space, near: str) -> TilewrightError:
    """TW5101 (exit 5): the step, the bytes it needs, the memory that would do for it, and what to change.

    `space` has all that may be cut, reductions included where the kernel computes them in parts.
    """
    node = machine.nodes[step.name]
    limit = machine.platform.memory(near).size_bytes or 0
    reserved = limit - (space.room_bytes or 0)
    needed = smallest_bytes(space, "single")
    pinned = (machine.platform.plan_bytes(near) or 0) - (space.room_bytes or 0)
    least = machine.platform.size_for(near, pinned + needed)
    origin = f", onnx {' + '.join(node.origin)}" if node.origin else ""
    text = f"its smallest tile needs {needed:,} B" if needed else "no tile of it is legal for the copy engine"
    error = memory_error(
        "TW5101",
        f"a step does not fit memory '{near}': {text}, there are {max(space.room_bytes or 0, 0):,} B",
        where=f"step '{step.name}' ({node.op}{origin})",
        details=(
            f"memory '{near}' has {limit:,} B, of which {reserved:,} B are the runtime's or pinned tensors",
            *(f"loop '{name}' cannot be cut: {reason}" for name, reason in space.refused.items()),
            *_whole_axes(space, node.op),
            *([f"cut already: {', '.join(loop.name for loop in space.cuts)}"] if space.cuts else []),
        ),
        fix=(f"--memory {near}={least}     is the least that does for this step",) if needed else (),
    )
    return replace(error, subject=step.name, needs=(near, least) if needed else None)


def _whole_axes(space: Space, op: str) -> Iterator[str]:
    """The axes that no loop runs over, such as the rows of a softmax."""
    if not isinstance(space.access, MapAccess):
        return
    for operand in space.travellers:
        for position, axis in enumerate(space.access.axes[operand.name]):
            if axis.index is None and axis.extent > 1:
                yield f"axis {position} of {operand.name}, {axis.extent:,} elements, cannot be cut: {op} takes it whole"
