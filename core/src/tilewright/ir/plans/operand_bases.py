"""Knows which buffers a program reaches from one and the same pointer: what constants that hold addresses count from.
Does not know the pointers' names in C, nor who packs such constants.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from tilewright.ir.plans.stages import Allocated


def bases_of(buffers: Iterable[str], allocated: Allocated) -> Mapping[str, int]:
    """By buffer the number of its base. They are numbered in the order in which buffers need them.

    A pool of a memory is one, and so are constants in a memory, all state, and lasting copies in a memory. What is the
    caller's, or is placed by the application, is one buffer alone.
    """
    kinds = {buffer.name: buffer.kind for buffer in allocated.tiled.buffers}
    numbers: dict[tuple[str, str], int] = {}
    return {name: numbers.setdefault(_base(name, kinds[name], allocated), len(numbers)) for name in buffers}


def _base(buffer: str, kind: str, allocated: Allocated) -> tuple[str, str]:
    placement, platform = allocated.placements.get(buffer), allocated.tiled.scheduled.bound.platform
    if placement is None or platform.memory(placement.memory).managed_by == "application":
        return "alone", buffer
    if kind == "state":
        return "state", ""
    return "lasting" if kind == "resident" else "pool", placement.memory
