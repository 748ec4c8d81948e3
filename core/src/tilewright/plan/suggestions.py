"""Knows what to try when a plan does not fit, or when a limit of memory costs much time, and what each change gives:
every line comes from planning again. Does not know how planning works.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from tilewright.allocate.limits import memory_bytes
from tilewright.errors import Diagnostic, TilewrightError, amended, typed
from tilewright.ir.graphs.graph import Graph
from tilewright.ir.log_span import log_begin
from tilewright.ir.machines.platform import Platform
from tilewright.ir.plans.decisions import OUTSIDE, STREAMED, IoOwner
from tilewright.ir.plans.stages import Allocated, Bound
from tilewright.plan.line_buffers.plan_costs import cycle_ratio, plan_cycles
from tilewright.plan.proposals.planner import Planner
from tilewright.plan.proposals.shortfall import PlanFailure
from tilewright.plan.proposals.work import Work, WorkDone

_MORE_EFFORT = 5
_MOST_SIZES = 2  # lines about larger memories
_HASTY = 50  # part of the budget that a step of a search has
_HALVINGS = 5  # of what one memory of several would have to be larger
_COSTLY = 0.25  # more cycles than layer by layer with the fastest kernels; and than what is proposed

Sizes = dict[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What is done differently when a plan is tried again."""

    users: bool = False  # inputs and outputs stay with the caller
    unpinned: bool = False  # nothing is pinned to a memory, nor to a place in one
    without_constant_copies: bool = False  # no constant is copied
    effort: int = 1  # times the budget
    settled: bool = False  # with the kernels of the binding that is given, without a look at others
    first_fit: bool = False  # whether it fits is all that is asked; what the plan then takes may be less
    hasty: bool = False  # with a fraction of the budget: a step of a search, whose end is planned as users would


_FITS = Change(first_fit=True)
Plan = Callable[[Bound, Change], Allocated | None]  # None: it still does not fit


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What could be changed. `placeable`: the buffers' lower bound is inside the limits, so that a more patient
    allocator might do. `pinned`, `staged`: there are pins of memories or places, or copies of constants, that could be
    left out. `ends`: inputs and outputs that `--io user` alone would not move, and where they are then: those that are
    nowhere whole stay so, and those that flags name are with the caller. `io_pinned`: some are pinned to a memory,
    and cannot stay with the caller. `of_constants`: constants are too many.
    """

    placeable: bool
    effort: int  # budget of the allocator
    pinned: bool = False
    staged: bool = False
    io: Mapping[str, IoOwner] = field(default_factory=dict)
    io_pinned: bool = False
    of_constants: bool = False

    @property
    def users(self) -> tuple[str, ...]:
        """Flags with which inputs and outputs stay with the caller."""
        return "--io", "user", *(word for name, whose in self.io.items() for word in ("--io", f"{name}={whose}"))


@dataclass(slots=True)
class Trials:
    """Plans that are tried, as many as the work that may be done allows: a refusal is no answer to wait for."""

    plan: Plan
    ended: bool = False  # there was something to try, and no work left for it
    untried: list[str] = field(default_factory=list)  # changes of which nothing is known therefore

    def planned(self, bound: Bound, change: Change) -> Allocated | None:
        """The plan; None where it does not fit, or nothing may be tried any more."""
        if self.ended:
            return None
        log_begin("look for changes with which it fits")
        try:
            return self.plan(bound, change)
        except WorkDone:
            self.ended = True
            return None

    def told(self, what: str, lines: Iterable[str]) -> list[str]:
        """What was found to help. Where nothing was because the work ended, `what` is among what was not tried."""
        result = list(lines)
        if self.ended and not result:
            self.untried.append(what)
        return result


def changed_planner(planner: Planner, graph: Graph, change: Change) -> Planner:
    """The same planner with the pins, or the budget, of a change."""
    pins = planner.pins
    kept = {*pins.state, *pins.state.values()}
    ends: dict[str, IoOwner] = {
        name: whose if (whose := pins.io.get(name, "user")) in STREAMED else "user"
        for name in (*graph.inputs, *graph.outputs)
        if name not in kept
    }
    pins = replace(
        pins,
        io=ends if change.users else pins.io,
        memories={} if change.unpinned else pins.memories,
        offsets={} if change.unpinned else pins.offsets,
        staged={} if change.without_constant_copies else pins.staged,
    )
    work = planner.budget.work * change.effort // (_HASTY if change.hasty else 1)
    return replace(planner, pins=pins, budget=replace(planner.budget, work=work), first_fit=change.first_fit)


def suggestions(bound: Bound, trials: Trials, request: Request) -> tuple[str, ...]:
    """Flags after which the model fits, with what the plan then takes."""
    lines, plan = list[str](), trials.planned
    if request.placeable:
        lines += trials.told("--effort", _patient(bound, plan, request))
    users = trials.told("--io user", _users(bound, plan, request))
    lines += users
    if request.pinned:
        lines += trials.told("without --pin", _unpinned(bound, plan))
    if request.staged:
        lines += trials.told("without --stage", _without_copies(bound, plan))
    names = _limited(bound.platform, constants=request.of_constants)
    larger = _larger(bound, plan, names)
    lines += trials.told("--memory", (_grown(sizes, bound.platform) for sizes in larger[:_MOST_SIZES]))
    if not users and not request.io_pinned:
        both = _with_more(bound, plan, names, Change(users=True))
        if both is not None and (not larger or sum(both.values()) < sum(larger[0].values())):
            lines.append(_grown(both, bound.platform, *request.users))
    return tuple(lines)


def limits_for_constants(
    bound: Bound, trials: Trials, request: Request, memory: str, needed_bytes: int
) -> tuple[str, ...]:
    """The size of a memory of constants with which the model fits. It follows from sums, and is planned with once."""
    lines = trials.told("without --pin", _unpinned(bound, trials.planned)) if request.pinned else []
    return (*lines, *limits_as_planned(bound, trials.planned, memory, needed_bytes))


def limits_as_planned(bound: Bound, plan: Plan, memory: str, needed_bytes: int) -> tuple[str, ...]:
    """The size of a memory that a plan has been seen to take, where the model fits with that."""
    sizes = {memory: bound.platform.size_for(memory, needed_bytes)}
    fits = _there_are(sizes, bound.platform) and plan(with_memories(bound, dict(sizes)), _FITS) is not None
    return (_grown(sizes, bound.platform),) if fits else ()


def too_much_for_machine(bound: Bound) -> str:
    """That the constants are more than the machine has memory for, whatever its limits; "" where they are not."""
    sizes = [memory.machine_bytes for memory in bound.platform.of_kind("const")]
    needed = sum(array.nbytes for array in bound.constants.values())
    most = sum(size or 0 for size in sizes)
    if None in sizes or needed <= most:
        return ""
    has = f"the machine has {most:,} B for constants with these settings"
    return f"{has}, and these are {needed:,} B: only fewer or smaller weights can fit"


def settings_that_fit(
    settings: Iterable[Mapping[str, str]],
    plan: Callable[[Mapping[str, str]], Allocated | Sequence[PlanFailure]],
    work: Work,
) -> tuple[list[str], list[str]]:
    """Flags for settings of the target with which the model fits, and those that there was no work left to try.
    `plan` gives any plan, or the reasons where it does not fit; a TilewrightError is that there is no such plan.
    """
    lines, untried = list[str](), list[str]()
    for some in settings:
        flags = typed(*(word for name, value in some.items() for word in ("--set", f"{name}={value}")))
        log_begin("look whether it fits with %s", flags)
        try:
            with work.limited():
                result = plan(some)
        except WorkDone:
            untried.append(flags)
        except TilewrightError:
            continue
        else:
            lines += [f"{flags}     fits"] if isinstance(result, Allocated) else []
    return lines, untried


def with_suggestions(error: TilewrightError, lines: Iterable[str], untried: Sequence[str]) -> TilewrightError:
    """The error with what helps, and with what was not tried."""
    more = (f"planning takes long here: not tried: {', '.join(untried)}",) if untried else ()
    return amended(error, fix=(*error.fix, *lines), details=(*error.details, *more))


def with_memories(bound: Bound, sizes: Mapping[str, int | None]) -> Bound:
    """The same binding on a platform with other limits; None is no limit, a memory that is not named keeps its own."""
    return replace(bound, platform=bound.platform.resized(sizes))


def _limited(platform: Platform, *, constants: bool) -> tuple[str, ...]:
    """Memories that more could be had of; those of constants where that is in question."""
    return tuple(
        memory.name
        for memory in platform.memories
        if memory.size_bytes is not None and (constants or memory.kind != "const")
    )


def _larger(bound: Bound, plan: Plan, names: Sequence[str]) -> list[Sizes]:
    """New sizes with which the model was planned again, those that add least first: of one memory, or of several."""
    single = [(name,) for name in names] if len(names) > 1 else []
    result = {some: _with_more(bound, plan, some, Change()) for some in (*single, tuple(names))}
    for some in single:  # at last: what was found does
        sizes = result[some]
        result[some] = None if sizes is None else _smaller(bound, plan, sizes)
    distinct = list[Sizes]()
    distinct.extend(sizes for sizes in result.values() if sizes is not None and sizes not in distinct)
    return sorted(distinct, key=lambda sizes: (_added(sizes, bound.platform), len(sizes)))


def _smaller(bound: Bound, plan: Plan, sizes: Sizes) -> Sizes:
    """The same with less, where that still does: with more room a plan may take more of a memory than it must."""
    ((name, high),) = sizes.items()
    low = bound.platform.memory(name).size_bytes or 0
    for _ in range(_HALVINGS):
        middle = (low + high) // 2
        result = plan(with_memories(bound, {name: middle}), Change(settled=True, hasty=True))
        if result is None:
            low = middle
        else:
            high = max(bound.platform.size_for(name, memory_bytes(result, name)), low + 1)
    return {name: high} if plan(with_memories(bound, {name: high}), _FITS) is not None else sizes


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
    if not _there_are(sizes, platform):
        return None
    fits = sizes and plan(with_memories(bound, dict(sizes)), replace(change, first_fit=True)) is not None
    return sizes if fits else None


def _there_are(sizes: Sizes, platform: Platform) -> bool:
    """Whether the machine has so much."""
    return all(size <= (platform.memory(name).machine_bytes or size) for name, size in sizes.items())


def _added(sizes: Sizes, platform: Platform) -> int:
    return sum(size - (platform.memory(name).size_bytes or 0) for name, size in sizes.items())


def _grown(sizes: Sizes, platform: Platform, *flags: str) -> str:
    memories = [word for name, size in sizes.items() for word in ("--memory", f"{name}={size}")]
    more = ", ".join(
        f"{name} {size - (platform.memory(name).size_bytes or 0):,} B larger" for name, size in sizes.items()
    )
    return typed(*flags, *memories, gives=f"{more} -> fits")


def _patient(bound: Bound, plan: Plan, request: Request) -> Iterator[str]:
    if (result := plan(bound, Change(effort=_MORE_EFFORT))) is not None:
        words = "--effort", str(request.effort * _MORE_EFFORT)
        yield typed(*words, gives=f"a more patient allocator -> {taken(result)}")


def _users(bound: Bound, plan: Plan, request: Request) -> Iterator[str]:
    if not request.io_pinned and (result := plan(bound, Change(users=True))) is not None:
        yield typed(*request.users, gives=f"inputs and outputs stay in your buffers -> {taken(result)}")


def _unpinned(bound: Bound, plan: Plan) -> Iterator[str]:
    if (result := plan(bound, Change(unpinned=True))) is not None:
        yield f"without --pin     nothing is pinned to a memory -> {taken(result)}"


def _without_copies(bound: Bound, plan: Plan) -> Iterator[str]:
    if (result := plan(bound, Change(without_constant_copies=True))) is not None:
        yield f"without --stage     constants stay where they are -> {taken(result)}"


def taken(plan: Allocated) -> str:
    """What a plan takes of every memory that has a limit, in a line."""
    platform = plan.tiled.scheduled.bound.platform
    taken = (
        f"{memory.name} {memory_bytes(plan, memory.name):,} of {memory.size_bytes:,} B"
        for memory in platform.memories
        if memory.size_bytes is not None and memory_bytes(plan, memory.name)
    )
    return ", ".join(("fits", *taken))


def with_limits_cost(bound: Bound, plan: Allocated, trials: Trials, request: Request) -> Allocated:
    """The plan, with the note TW5039 where `--io user` gives one that is much faster."""
    if not is_costly(plan) or request.io_pinned or not _whole_ends(plan):
        return plan
    result = trials.planned(bound, Change(users=True))
    if result is None or plan_cycles(result) * (1 + _COSTLY) > plan_cycles(plan):
        return plan
    tiled, planned = plan.tiled, plan.tiled.scheduled.bound
    noted = replace(planned, diagnostics=(*planned.diagnostics, _note(plan, result, request)))
    return replace(plan, tiled=replace(tiled, scheduled=replace(tiled.scheduled, bound=noted)))


def is_costly(plan: Allocated) -> bool:
    """Whether a plan of a machine without scratchpads, where memory has an end, takes much longer than it might."""
    platform = plan.tiled.scheduled.bound.platform
    limited = any(memory.size_bytes is not None for memory in platform.of_kind("ram"))
    return limited and not platform.inner and cycle_ratio(plan) > _COSTLY


def limit_notes(allocated: Allocated) -> Iterator[Diagnostic]:
    """What was found when the plan was made."""
    yield from (note for note in allocated.tiled.scheduled.bound.diagnostics if note.code == "TW5039")


def _whole_ends(plan: Allocated) -> bool:
    """Whether there are inputs or outputs in the plan."""
    graph, io = plan.tiled.scheduled.bound.graph, plan.decisions.io
    return any(io.get(name) not in OUTSIDE for name in (*graph.inputs, *graph.outputs))


def _note(plan: Allocated, allocated: Allocated, request: Request) -> Diagnostic:
    here, there = (f"{max(0.0, 100 * cycle_ratio(outcome)):.1f} %" for outcome in (plan, allocated))
    gives = f"inputs and outputs stay in your buffers -> {taken(allocated)}, about {there} more cycles"
    return Diagnostic(
        code="TW5039",
        severity="note",
        message=f"the limit of memory costs about {here} more cycles than layer by layer (estimate)",
        fix=(typed(*request.users, gives=gives),),
    )
