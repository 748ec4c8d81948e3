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

from tilewright.ir.regions import Repeated
from tilewright.tile.row_step import RowRead, RowStep

_LONGEST_REPEATED = 96  # calls that are looked for as what is repeated
_FEWEST_SAVED = 6  # calls that folding has to save


@dataclass(slots=True)
class Member:
    """A step that is played: how far it has come, and what had to be kept of its output."""

    one: RowStep
    trips: int  # of one call
    inside: tuple[tuple[int, RowRead], ...] = ()  # number of the step that computes it, and how it is read
    readers: list[tuple[int, RowRead]] = field(default_factory=list)  # number of the step that reads it
    made: int = 0
    kept: int = 0  # rows: the most that were there at once
    calls: int = 0
    moved: int = 0  # rows that were moved, at most
    low: int = 0
    by_rows: bool = field(init=False)  # every trip is a row of the output

    def __post_init__(self) -> None:
        """Looked up once: a play asks for every call."""
        self.by_rows = self.one.axis is not None

    @property
    def there(self) -> int:
        """Rows of the output, from the first on, that are computed."""
        return self.made if self.by_rows else self.one.rows * (self.made == self.one.extent)


@dataclass(frozen=True, slots=True, kw_only=True)
class Play:
    """What became of it: the members, and every call, by number of the step among them."""

    members: tuple[Member, ...]
    calls: tuple[int, ...]


def play(steps: Sequence[RowStep], trips: Sequence[int], leaving: Mapping[str, bool]) -> Play:
    """Call the last step until it has everything, and then those whose values leave. What departs is called at once.
    `trips` are those of one call.
    """
    members, calls = _members(steps, trips), list[int]()
    if not members:
        return Play(members=(), calls=())
    last = len(members) - 1
    for number in (last, *(at for at, member in enumerate(members[:-1]) if leaving[member.one.output.value])):
        while members[number].made < members[number].one.extent:
            _demand(members, number, calls)
    return Play(members=members, calls=tuple(calls))


class Plays:
    """Plays of steps. Only their rows count, who reads which of them, and which depart: of equal ones one is played."""

    def __init__(self) -> None:
        self._known: dict[Hashable, Play] = {}
        self._windows: dict[Hashable, int] = {}

    def play(self, steps: Sequence[RowStep], trips: Sequence[int], leaving: Mapping[str, bool]) -> Play:
        """The same as `play`."""
        key = self._rows_of(steps, trips, leaving)
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = play(steps, trips, leaving)
            return known
        members = _members(steps, trips)
        for member, other in zip(members, known.members, strict=True):
            member.made, member.calls, member.low = other.made, other.calls, other.low
            member.kept, member.moved = other.kept, other.moved
        return Play(members=members, calls=known.calls)

    def _rows_of(self, steps: Sequence[RowStep], trips: Sequence[int], leaving: Mapping[str, bool]) -> Hashable:
        """All of the steps that a play depends on."""
        makers = {one.output.value: number for number, one in enumerate(steps[:-1])}
        return tuple(
            (
                *(one.extent, count, one.axis is None, one.rows, leaving[one.output.value], one.departs),
                *((makers[read.value], self._window(read)) for read in one.reads if read.value in makers),
            )
            for one, count in zip(steps, trips, strict=True)
        )

    def _window(self, read: RowRead) -> int:
        """A number for the rows that are read; the same for equal ones."""
        return self._windows.setdefault((read.low, read.high), len(self._windows))


def follow(steps: Sequence[RowStep], trips: Sequence[int], calls: Sequence[int]) -> Play:
    """Make these calls, whether or not what they read is there."""
    members = _members(steps, trips)
    for number in calls:
        _call(members, number, min(members[number].made + members[number].trips, members[number].one.extent))
    return Play(members=members, calls=tuple(calls))


def _members(steps: Sequence[RowStep], trips: Sequence[int]) -> tuple[Member, ...]:
    members = tuple(Member(one=one, trips=count) for one, count in zip(steps, trips, strict=True))
    makers = {one.output.value: number for number, one in enumerate(steps[:-1])}
    for number, member in enumerate(members):
        member.inside = tuple((makers[read.value], read) for read in member.one.reads if read.value in makers)
        for maker, read in member.inside:
            members[maker].readers.append((number, read))
    return members


def _demand(members: Sequence[Member], number: int, calls: list[int]) -> None:
    """One call of a step, after all that it needs. A step that departs may have been called by then."""
    waiting, departing = [(number, members[number].made)], any(member.one.departs for member in members)
    while waiting:
        at, before = waiting[-1]
        top = members[at]
        made = top.made
        if made > before:
            waiting.pop()
            continue
        end = made + top.trips
        if end > top.one.extent:
            end = top.one.extent
        for maker, read in top.inside:
            source = members[maker]
            if (source.made if source.by_rows else source.there) < read.high[end - 1]:
                waiting.append((maker, source.made))
                break
        else:
            waiting.pop()
            _call(members, at, end)
            calls.append(at)
            if departing:
                _depart(members, at, calls)


def _depart(members: Sequence[Member], maker: int, calls: list[int]) -> None:
    """Call the steps that give rows of what a step has just made, but for the last step, which is called anyway."""
    for number, read in members[maker].readers:
        member = members[number]
        while member.one.departs and member is not members[-1] and member.made < member.one.extent:
            end = min(member.made + member.trips, member.one.extent)
            if members[maker].there < read.high[end - 1]:
                break
            _call(members, number, end)
            calls.append(number)


def _call(members: Sequence[Member], number: int, made: int) -> None:
    member = members[number]
    member.calls += 1
    if not member.by_rows:
        member.kept = member.one.rows
    elif member.readers:
        low = member.made
        for reader, read in member.readers:
            wanted = read.low[members[reader].made]
            if wanted < low:
                low = wanted
        if low > member.low:
            member.moved += member.made - low
            member.low = low
        if made - low > member.kept:
            member.kept = made - low
    member.made = made


def folded(calls: Sequence[int]) -> tuple[Repeated, ...]:
    """The calls with repeated parts once: at every place what saves most is folded."""
    word, text = list[Repeated](), bytes(calls)
    at = plain = 0
    while at < len(text):
        period, times = _repeated(text, at)
        if period * (times - 1) < _FEWEST_SAVED:
            at += 1
            continue
        word.extend([Repeated(tuple(text[plain:at]))] if plain < at else [])
        word.append(Repeated(tuple(text[at : at + period]), times))
        at = plain = at + period * times
    return (*word, *([Repeated(tuple(text[plain:]))] if plain < len(text) else []))


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
