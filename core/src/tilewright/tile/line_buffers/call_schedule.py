"""Knows the order in which steps compute their rows: each computes its next ones when somebody needs them.
Does not know bytes, costs, or which steps are a region.

It is played: the last step of a region is called until it has all its rows, and what a call reads and is not there is
computed first, by calls of its own. With that the rows follow that have to be kept of every value. The steps before a
region's first one make no difference to the calls of the others, so one play for a last step is good for all regions
that end with it.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field

from tilewright.ir.plans.region import RepeatedCalls
from tilewright.tile.line_buffers.buffered_step import BufferedStep, RowRead

_LONGEST_REPEATED = 96  # calls that are looked for as what is repeated
_FEWEST_SAVED = 6  # calls that folding has to save


@dataclass(slots=True)
class SimulatedStep:
    """A step that is played: how far it has come, and what had to be kept of its output."""

    step: BufferedStep
    extent: int  # of one call
    inside: tuple[tuple[int, RowRead], ...] = ()  # number of the step that computes it, and how it is read
    readers: list[tuple[int, RowRead]] = field(default_factory=list)  # number of the step that reads it
    computed: int = 0
    kept: int = 0  # rows: the most that were there at once
    calls: int = 0
    moved: int = 0  # rows that were moved, at most
    low: int = 0
    by_rows: bool = field(init=False)  # every trip is a row of the output

    def __post_init__(self) -> None:
        """Looked up once: a play asks for every call."""
        self.by_rows = self.step.axis is not None

    @property
    def available_rows(self) -> int:
        """Rows of the output, from the first on, that are computed."""
        return self.computed if self.by_rows else self.step.rows * (self.computed == self.step.extent)


@dataclass(frozen=True, slots=True, kw_only=True)
class Simulation:
    """What became of it: the members, and every call, by number of the step among them."""

    members: tuple[SimulatedStep, ...]
    calls: tuple[int, ...]


def simulate(steps: Sequence[BufferedStep], trips: Sequence[int], leaving: Mapping[str, bool]) -> Simulation:
    """Call the last step until it has everything, and then those whose values leave. What departs is called at once.
    `trips` are those of one call.
    """
    members, calls = _members(steps, trips), list[int]()
    if not members:
        return Simulation(members=(), calls=())
    last = len(members) - 1
    for number in (last, *(at for at, member in enumerate(members[:-1]) if leaving[member.step.output.value])):
        while members[number].computed < members[number].step.extent:
            _demand(members, number, calls)
    return Simulation(members=members, calls=tuple(calls))


class SimulationCache:
    """Plays of steps. Only their rows count, who reads which of them, and which depart: of equal ones one is played."""

    def __init__(self) -> None:
        self._known: dict[Hashable, Simulation] = {}
        self._windows: dict[Hashable, int] = {}

    def simulate(self, steps: Sequence[BufferedStep], trips: Sequence[int], leaving: Mapping[str, bool]) -> Simulation:
        """The same as `play`."""
        key = self._rows_of(steps, trips, leaving)
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = simulate(steps, trips, leaving)
            return known
        members = _members(steps, trips)
        for member, other in zip(members, known.members, strict=True):
            member.computed, member.calls, member.low = other.computed, other.calls, other.low
            member.kept, member.moved = other.kept, other.moved
        return Simulation(members=members, calls=known.calls)

    def _rows_of(self, steps: Sequence[BufferedStep], trips: Sequence[int], leaving: Mapping[str, bool]) -> Hashable:
        """All of the steps that a play depends on."""
        makers = {step.output.value: number for number, step in enumerate(steps[:-1])}
        return tuple(
            (
                *(step.extent, count, step.axis is None, step.rows, leaving[step.output.value], step.departs),
                *((makers[read.value], self._window(read)) for read in step.reads if read.value in makers),
            )
            for step, count in zip(steps, trips, strict=True)
        )

    def _window(self, read: RowRead) -> int:
        """A number for the rows that are read; the same for equal ones."""
        return self._windows.setdefault((read.low, read.high), len(self._windows))


def trace(steps: Sequence[BufferedStep], trips: Sequence[int], calls: Sequence[int]) -> Simulation:
    """Make these calls, whether or not what they read is there."""
    members = _members(steps, trips)
    for number in calls:
        _call(members, number, min(members[number].computed + members[number].extent, members[number].step.extent))
    return Simulation(members=members, calls=tuple(calls))


def _members(steps: Sequence[BufferedStep], trips: Sequence[int]) -> tuple[SimulatedStep, ...]:
    members = tuple(SimulatedStep(step=step, extent=count) for step, count in zip(steps, trips, strict=True))
    makers = {step.output.value: number for number, step in enumerate(steps[:-1])}
    for number, member in enumerate(members):
        member.inside = tuple((makers[read.value], read) for read in member.step.reads if read.value in makers)
        for maker, read in member.inside:
            members[maker].readers.append((number, read))
    return members


def _demand(members: Sequence[SimulatedStep], number: int, calls: list[int]) -> None:
    """One call of a step, after all that it needs. A step that departs may have been called by then."""
    waiting, departing = [(number, members[number].computed)], any(member.step.departs for member in members)
    while waiting:
        at, before = waiting[-1]
        top = members[at]
        made = top.computed
        if made > before:
            waiting.pop()
            continue
        end = made + top.extent
        if end > top.step.extent:
            end = top.step.extent
        for maker, read in top.inside:
            source = members[maker]
            if (source.computed if source.by_rows else source.available_rows) < read.high[end - 1]:
                waiting.append((maker, source.computed))
                break
        else:
            waiting.pop()
            _call(members, at, end)
            calls.append(at)
            if departing:
                _depart(members, at, calls)


def _depart(members: Sequence[SimulatedStep], maker: int, calls: list[int]) -> None:
    """Call the steps that give rows of what a step has just made, but for the last step, which is called anyway."""
    for number, read in members[maker].readers:
        member = members[number]
        while member.step.departs and member is not members[-1] and member.computed < member.step.extent:
            end = min(member.computed + member.extent, member.step.extent)
            if members[maker].available_rows < read.high[end - 1]:
                break
            _call(members, number, end)
            calls.append(number)


def _call(members: Sequence[SimulatedStep], number: int, made: int) -> None:
    member = members[number]
    member.calls += 1
    if not member.by_rows:
        member.kept = member.step.rows
    elif member.readers:
        low = member.computed
        for reader, read in member.readers:
            wanted = read.low[members[reader].computed]
            if wanted < low:
                low = wanted
        if low > member.low:
            member.moved += member.computed - low
            member.low = low
        if made - low > member.kept:
            member.kept = made - low
    member.computed = made


def run_length_encode(calls: Sequence[int]) -> tuple[RepeatedCalls, ...]:
    """The calls with repeated parts once: at every place what saves most is folded."""
    word, text = list[RepeatedCalls](), bytes(calls)
    at = plain = 0
    while at < len(text):
        period, times = _repeated(text, at)
        if period * (times - 1) < _FEWEST_SAVED:
            at += 1
            continue
        word.extend([RepeatedCalls(tuple(text[plain:at]))] if plain < at else [])
        word.append(RepeatedCalls(tuple(text[at : at + period]), times))
        at = plain = at + period * times
    return (*word, *([RepeatedCalls(tuple(text[plain:]))] if plain < len(text) else []))


def _repeated(text: bytes, at: int) -> tuple[int, int]:
    """How many of the calls from `at` on are repeated, and how often they are there; of several what saves most."""
    best = (1, 1)
    for period in range(1, min(_LONGEST_REPEATED, (len(text) - at) // 2) + 1):
        part, times = text[at : at + period], 1
        while text.startswith(part, at + period * times):
            times += 1
        if period * (times - 1) > best[0] * (best[1] - 1):
            best = (period, times)
    return best
