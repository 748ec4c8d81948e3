"""Knows what to try when a plan does not fit, and what each change gives: every line comes from planning again.
Does not know how planning works.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from tilewright.stages import Allocated, Bound

Plan = Callable[[Bound, bool, int], Allocated | None]  # bound, inputs and outputs with the caller, effort factor

_MORE_EFFORT = 5


def ways_out(bound: Bound, plan: Plan, *, placeable: bool, effort: int) -> tuple[str, ...]:
    """Flags after which the model fits, with what the plan then takes. `plan` gives None where it still does not fit.

    `placeable`: the buffers' lower bound is inside the limits, so that a more patient allocator might do.
    """
    limits = {memory.name: memory.size_bytes for memory in bound.platform.memories}
    lines = []
    if placeable and (found := plan(bound, False, _MORE_EFFORT)) is not None:
        lines.append(f"--effort {effort * _MORE_EFFORT}     a more patient allocator -> {_taken(found, limits)}")
    if (found := plan(bound, True, 1)) is not None:
        lines.append(f"--io user     inputs and outputs stay in your buffers -> {_taken(found, limits)}")
    larger = _with_more(bound, plan, limits, theirs=False)
    users = None if found is not None else _with_more(bound, plan, limits, theirs=True)
    if larger is not None:
        lines.append(_grown(larger, limits))
    if users is not None and (larger is None or sum(users.values()) < sum(larger.values())):
        lines.append(f"--io user {_grown(users, limits)}")
    return tuple(lines)


def with_memories(bound: Bound, sizes: Mapping[str, int | None]) -> Bound:
    """The same binding on a platform with other limits; None is no limit, a memory that is not named keeps its own."""
    memories = tuple(
        replace(memory, size_bytes=sizes.get(memory.name, memory.size_bytes)) for memory in bound.platform.memories
    )
    return replace(bound, platform=replace(bound.platform, memories=memories))


def _with_more(bound: Bound, plan: Plan, limits: Mapping[str, int | None], *, theirs: bool) -> dict[str, int] | None:
    """New sizes of the memories that are too small, with which the model was planned again; None: nothing helps."""
    boundless = plan(with_memories(bound, dict.fromkeys(limits)), theirs, 1)
    if boundless is None:
        return None
    sizes = {
        pool.memory: pool.used_bytes
        for pool in boundless.pools
        if (limit := limits[pool.memory]) is not None and pool.used_bytes > limit
    }
    return sizes if sizes and plan(with_memories(bound, sizes), theirs, 1) is not None else None


def _grown(sizes: Mapping[str, int], limits: Mapping[str, int | None]) -> str:
    flags = " ".join(f"--memory {name}={size}" for name, size in sizes.items())
    more = ", ".join(f"{name} {size - (limits[name] or 0):,} B larger" for name, size in sizes.items())
    return f"{flags}     {more} -> fits"


def _taken(plan: Allocated, limits: Mapping[str, int | None]) -> str:
    taken = (
        f"{pool.memory} {pool.used_bytes:,} of {limits[pool.memory]:,} B"
        for pool in plan.pools
        if limits[pool.memory] is not None and pool.used_bytes
    )
    return "fits, " + ", ".join(taken)
