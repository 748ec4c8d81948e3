"""Knows what to try when a plan does not fit, and what each change gives: every line comes from planning again.
Does not know how planning works.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from tilewright.allocate.limits import memory_bytes
from tilewright.errors import TilewrightError, typed
from tilewright.ir.dataclass import dataclass
from tilewright.ir.decisions import Whose
from tilewright.ir.platform import Platform
from tilewright.ir.stages import Allocated, Bound

_MORE_EFFORT = 5
_MOST_SIZES = 2  # lines about larger memories
_HALVINGS = 5  # of what one memory of several would have to be larger
_MOST_STEPS = 600  # that are planned to find remedies, all plans together; but a few plans always
_FEWEST_PLANS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What is done differently when a plan is tried again."""

    users: bool = False  # inputs and outputs stay with the caller
    unpinned: bool = False  # nothing is pinned to a memory
    without_constant_copies: bool = False  # no constant is copied
    effort: int = 1  # times the budget
    settled: bool = False  # with the kernels of the binding that is given, without a look at others


Plan = Callable[[Bound, Change], Allocated | None]  # None: it still does not fit
Sizes = dict[str, int]


def remedies(
    bound: Bound,
    plan: Plan,
    *,
    placeable: bool,
    effort: int,
    pinned: bool = False,
    staged: bool = False,
    by_rows: Mapping[str, Whose] = MappingProxyType({}),
) -> tuple[str, ...]:
    """Flags after which the model fits, with what the plan then takes. `plan` gives None where it still does not fit.

    `placeable`: the buffers' lower bound is inside the limits, so that a more patient allocator might do. `pinned`,
    `staged`: there are pins of memories, or copies of constants, that could be left out. `by_rows`: inputs and outputs
    that are nowhere whole, and stay so.
    """
    lines = []
    theirs = ("--io", "user", *(word for name, whose in by_rows.items() for word in ("--io", f"{name}={whose}")))
    if placeable and (found := plan(bound, Change(effort=_MORE_EFFORT))) is not None:
        lines.append(typed("--effort", str(effort * _MORE_EFFORT), gives=f"a more patient allocator -> {taken(found)}"))
    users = plan(bound, Change(users=True))
    if users is not None:
        lines.append(typed(*theirs, gives=f"inputs and outputs stay in your buffers -> {taken(users)}"))
    if pinned and (found := plan(bound, Change(unpinned=True))) is not None:
        lines.append(f"without --pin     nothing is pinned to a memory -> {taken(found)}")
    if staged and (found := plan(bound, Change(without_constant_copies=True))) is not None:
        lines.append(f"without --stage     constants stay where they are -> {taken(found)}")
    larger = _larger(bound, plan)
    lines.extend(_grown(sizes, bound.platform) for sizes in larger[:_MOST_SIZES])
    if users is None:
        sizes = _with_more(bound, plan, _limited(bound.platform), Change(users=True))
        if sizes is not None and (not larger or sum(sizes.values()) < sum(larger[0].values())):
            lines.append(_grown(sizes, bound.platform, *theirs))
    return tuple(lines)


def within_budget(plan: Plan, steps: int) -> Plan:
    """The same, which finds nothing any more once enough was tried: a refusal is no answer to wait for."""
    left = [max(_FEWEST_PLANS, _MOST_STEPS // max(steps, 1))]

    def planned(bound: Bound, change: Change) -> Allocated | None:
        left[0] -= 1
        return plan(bound, change) if left[0] >= 0 else None

    return planned


def room_for_constants(
    bound: Bound, plan: Plan, memory: str, needed_bytes: int, *, pinned: bool = False
) -> tuple[str, ...]:
    """The size of a memory of constants with which the model fits. It follows from sums, and is planned with once."""
    sizes = {memory: bound.platform.size_for(memory, needed_bytes)}
    lines = []
    if pinned and (found := plan(bound, Change(unpinned=True))) is not None:
        lines.append(f"without --pin     nothing is pinned to a memory -> {taken(found)}")
    if sizes[memory] <= (bound.platform.memory(memory).machine_bytes or sizes[memory]):
        grown = with_memories(bound, dict(sizes))
        lines.extend([_grown(sizes, bound.platform)] if plan(grown, Change()) is not None else [])
    return tuple(lines)


def settings_that_fit(
    settings: Iterable[Mapping[str, str]], plan: Callable[[Mapping[str, str]], Allocated]
) -> Iterator[str]:
    """Flags for settings of the target with which the model fits. `plan` raises TilewrightError where it does not."""
    for some in settings:
        try:
            found = plan(some)
        except TilewrightError:
            continue
        flags = [word for name, value in some.items() for word in ("--set", f"{name}={value}")]
        yield typed(*flags, gives=taken(found))


def with_memories(bound: Bound, sizes: Mapping[str, int | None]) -> Bound:
    """The same binding on a platform with other limits; None is no limit, a memory that is not named keeps its own."""
    return replace(bound, platform=bound.platform.resized(sizes))


def _limited(platform: Platform) -> tuple[str, ...]:
    return tuple(memory.name for memory in platform.memories if memory.size_bytes is not None)


def _larger(bound: Bound, plan: Plan) -> list[Sizes]:
    """New sizes with which the model was planned again, those that add least first: of one memory, or of several."""
    names = _limited(bound.platform)
    tried = [(name,) for name in names] if len(names) > 1 else []
    found: list[Sizes] = []
    for some in (*tried, names):
        sizes = _with_more(bound, plan, some, Change())
        if sizes is not None and len(some) < len(names):
            sizes = _smaller(bound, plan, sizes)
        if sizes is not None and sizes not in found:
            found.append(sizes)
    return sorted(found, key=lambda sizes: (_added(sizes, bound.platform), len(sizes)))


def _smaller(bound: Bound, plan: Plan, sizes: Sizes) -> Sizes:
    """The same with less, where that still does: with more room a plan may take more of a memory than it must."""
    ((name, high),) = sizes.items()
    low = bound.platform.memory(name).size_bytes or 0
    for _ in range(_HALVINGS):
        middle = (low + high) // 2
        found = plan(with_memories(bound, {name: middle}), Change(settled=True))
        if found is None:
            low = middle
        else:
            high = max(bound.platform.size_for(name, memory_bytes(found, name)), low + 1)
    return {name: high} if plan(with_memories(bound, {name: high}), Change()) is not None else sizes


def _with_more(bound: Bound, plan: Plan, names: Sequence[str], change: Change) -> Sizes | None:
    """Sizes of some memories with which the model was planned again; None: nothing helps.

    What is needed is found with the kernels of `bound`: without limits, there is no reason to take any but the fastest.
    """
    boundless = plan(with_memories(bound, dict.fromkeys(names)), replace(change, settled=True))
    if boundless is None:
        return None
    platform = bound.platform
    needed = {name: platform.size_for(name, memory_bytes(boundless, name)) for name in names}
    sizes = {name: size for name, size in needed.items() if size > (platform.memory(name).size_bytes or 0)}
    if any(size > (platform.memory(name).machine_bytes or size) for name, size in sizes.items()):
        return None  # the machine has no more
    return sizes if sizes and plan(with_memories(bound, dict(sizes)), change) is not None else None


def _added(sizes: Sizes, platform: Platform) -> int:
    return sum(size - (platform.memory(name).size_bytes or 0) for name, size in sizes.items())


def _grown(sizes: Sizes, platform: Platform, *flags: str) -> str:
    memories = [word for name, size in sizes.items() for word in ("--memory", f"{name}={size}")]
    more = ", ".join(
        f"{name} {size - (platform.memory(name).size_bytes or 0):,} B larger" for name, size in sizes.items()
    )
    return typed(*flags, *memories, gives=f"{more} -> fits")


def taken(plan: Allocated) -> str:
    """What a plan takes of every memory that has a limit, in a line."""
    platform = plan.tiled.scheduled.bound.platform
    taken = (
        f"{memory.name} {memory_bytes(plan, memory.name):,} of {memory.size_bytes:,} B"
        for memory in platform.memories
        if memory.size_bytes is not None and memory_bytes(plan, memory.name)
    )
    return ", ".join(("fits", *taken))
