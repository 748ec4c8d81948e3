"""Knows segments of successive steps that are computed by rows: what each needs at once, and the cycles that it takes.
Does not know which of them are chosen (`row_programs`), nor the order inside one (`row_order`).

All segments with the same last step are found in one go: the steps before a segment's first one change nothing about
the calls of the others.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field

from tilewright.ir.dataclass import dataclass
from tilewright.ir.rounding import align_up
from tilewright.tile.row_lives import RowLives
from tilewright.tile.row_order import Member, Play
from tilewright.tile.row_overlays import Overlays
from tilewright.tile.row_steps import CALL_CYCLES, RowStep, RowSteps
from tilewright.tile.row_stripes import in_stripes
from tilewright.tile.traffic import MOVED_BYTES_PER_CYCLE

COUNTER_BYTES = 4  # of each step: how far it has come, and the first row that is kept
ROWS_PER_CALL = (1, 2, 4)  # that are tried, of all steps of a segment
_ROWS_ALONE = (1, 2, 3, 4, 8, 16)  # of a step that is alone
STRIPES = (2, 3, 4, 5, 6, 8, 12)  # that are tried, with one row per call, where columns may be computed again
MOST_STEPS = 255  # of a region: a call is a byte
_STEPS_AT_FIRST = 32  # that are looked at; twice as many where the longer ones among them have a new least size


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """Successive steps, all that they need at once, and the cycles that they take. `rows` 0: one step in one piece;
    one step by rows has its output over what it reads.
    """

    first: int
    last: int
    rows: int
    size_bytes: int
    cycles: float
    stripes: int = 1  # in which the columns are computed
    again: float = 0.0  # multiply-accumulates that are done once more


def alone(lives: RowLives, step: int) -> Segment:
    """A step in one piece."""
    machine, name = lives.machine, lives.machine.scheduled.steps[step].name
    binding, layer = machine.bound.bindings[name], machine.bound.layers[name]
    cycles = next(item.cycles for item in binding.candidates if item.kernel.name == binding.kernel.name)
    scratch = align_up(layer.kernel.scratch_bytes(layer.whole), machine.platform.buffer_align)
    return Segment(first=step, last=step, rows=0, size_bytes=lives.alive(step) + scratch, cycles=cycles)


def overlaid(lives: RowLives, step: int) -> Iterator[Segment]:
    """A step that is alone by rows, where its output may take bytes of what it reads."""
    one = lives.steps.at(step)
    if one.cannot or one.axis is None or lives.pinned(step):
        return
    for rows in _ROWS_ALONE:
        calls = played(lives, step, step, rows)
        growth = _Growth.of(lives, calls)
        growth.add(0)
        if growth.conflict or growth.overlays.best() is None:
            return
        yield Segment(first=step, last=step, rows=rows, size_bytes=growth.size_bytes, cycles=growth.cycles)


def segments(lives: RowLives, last: int, largest: int, again: float = 0.0) -> Iterator[Segment]:
    """Of several steps, with every number of rows per call, none of which needs more than `largest` bytes. In stripes,
    too, where so many multiply-accumulates may be done `again`.
    """
    first = _first(lives, last)
    ways = [*((rows, 1) for rows in ROWS_PER_CALL), *((1, stripes) for stripes in STRIPES if again > 0)]
    for rows, stripes in ways if first < last else ():
        found = _worth_a_look(lives, (first, last), rows, stripes, largest)
        yield from (one for one in found if one.again <= again)


def played(lives: RowLives, first: int, last: int, rows: int, stripes: int = 1) -> Play:
    """The calls of a segment; in stripes of so many of its last steps as can be computed so."""
    chosen = tuple(lives.steps.at(index) for index in range(first, last + 1))
    if stripes > 1:
        chosen = in_stripes(lives.steps, chosen, stripes)
    leaving = {one.output.value: lives.leaves(one.index, last) for one in chosen}
    return lives.plays.play(chosen, [one.trips(rows) for one in chosen], leaving)


def _first(lives: RowLives, last: int) -> int:
    """The first step that can be in a segment with the last one."""
    first = last + 1
    while first > 0 and last - first + 1 < MOST_STEPS and not lives.steps.at(first - 1).cannot:
        first -= 1
        if first < last and (lives.pinned(first) or _for_nobody(lives, first, last)):
            return first + 1
    return first


def _for_nobody(lives: RowLives, step: int, last: int) -> bool:
    """Whether no step up to the last one reads what a step writes, nor the application takes it in rows."""
    return lives.first_read[step] > last and not lives.steps.at(step).departs


def _worth_a_look(lives: RowLives, ends: tuple[int, int], rows: int, stripes: int, largest: int) -> Iterator[Segment]:
    """Longer and longer ones, as long as that has led to less memory."""
    (first, last), seen, length, least = ends, ends[1], _STEPS_AT_FIRST, largest + 1
    while seen > first:
        begin = max(first, last - length + 1)
        calls = played(lives, begin, last, rows, stripes)
        found = [one for one in _grown(lives, calls, rows, largest) if one.first < seen]
        yield from found
        if min((one.size_bytes for one in found), default=least) >= least:
            return
        least = min(one.size_bytes for one in found)
        seen, length = begin, 2 * length


def _grown(lives: RowLives, calls: Play, rows: int, largest: int) -> Iterator[Segment]:
    """The segments with the last step of what was played, from the shortest on."""
    if not calls.members:
        return
    growth, last = _Growth.of(lives, calls), calls.members[-1].one.index
    stripes = len(calls.members[-1].one.widths)
    for number in reversed(range(len(calls.members))):
        first = calls.members[number].one.index
        if stripes > 1 and first < last and lives.leaves(first, last):
            return
        growth.add(number)
        if growth.own_bytes > largest:
            return
        if first < last and not growth.conflict and growth.size_bytes <= largest:
            yield Segment(
                first=first,
                last=last,
                rows=rows,
                size_bytes=growth.size_bytes,
                cycles=growth.cycles,
                stripes=stripes,
                again=growth.again,
            )


@dataclass(slots=True)
class _Growth:
    """A segment as it grows towards the front."""

    lives: RowLives
    played: Play
    overlays: Overlays
    whole_bytes: int  # of values that exist whole, at once
    own_bytes: int = 0  # rows, sums, counters
    scratch_bytes: int = 0
    cycles: float = 0.0
    again: float = 0.0
    inner: dict[str, int] = field(default_factory=dict)  # buffer -> values in it that never exist whole
    outside: dict[str, str] = field(default_factory=dict)  # value that is read from outside -> its buffer
    taken: list[str] = field(default_factory=list)  # buffers of what leaves

    @classmethod
    def of(cls, lives: RowLives, calls: Play) -> _Growth:
        """Of no step yet."""
        whole = lives.alive(calls.members[-1].one.index)
        return cls(lives=lives, played=calls, overlays=Overlays.of(lives, calls), whole_bytes=whole)

    @property
    def conflict(self) -> bool:
        """Whether something that leaves takes the bytes of something that is read, or that leaves, too."""
        return len(set(self.taken)) < len(self.taken) or not set(self.outside.values()).isdisjoint(self.taken)

    @property
    def size_bytes(self) -> int:
        """All that is there at once."""
        overlay, align = self.overlays.best(), self.lives.machine.platform.buffer_align
        saved = overlay.saved_bytes if overlay else 0
        return self.whole_bytes + self.own_bytes + align_up(self.scratch_bytes, align) - saved

    def add(self, number: int) -> None:
        """The member before those that are there."""
        member, align = self.played.members[number], self.lives.machine.platform.buffer_align
        one, last = member.one, self.played.members[-1].one.index
        self.cycles += _cycles(self.lives.steps, member)
        self.again += self.lives.steps.again(one)
        self.scratch_bytes = max(self.scratch_bytes, self.lives.steps.scratch_bytes(one, member.trips))
        self.own_bytes += COUNTER_BYTES + align_up(one.sums_bytes, align)
        leaves = one.index == last or self.lives.leaves(one.index, last)
        if one.index < last:
            self._live_on(one)
        if leaves:
            self.taken.append(self.lives.buffer_of(one.output.value).name)
        else:
            self.own_bytes += align_up(member.kept * one.row_bytes, align)
            self._hold(one.output.value)
        self.outside.pop(one.output.value, None)
        self.outside.update({read.value: self.lives.buffer_of(read.value).name for read in one.reads})
        self.overlays.add(number)

    def _live_on(self, one: RowStep) -> None:
        """What would have been needed for the last time by a step is there until the last one."""
        ended = (buffer for buffer in self.lives.dying[one.index] if buffer.first <= one.index)
        self.whole_bytes += sum(map(self.lives.placed_bytes, ended))

    def _hold(self, value: str) -> None:
        """One more value of a buffer is in rows, and what shows it; where all are, the buffer is not there."""
        buffer = self.lives.buffer_of(value)
        self.inner[buffer.name] = self.inner.get(buffer.name, 0) + self.lives.shown[value]
        if self.inner[buffer.name] == len(buffer.values):
            self.whole_bytes -= self.lives.placed_bytes(buffer)


def play_cycles(steps: RowSteps, calls: Play) -> float:
    """Of all calls, and of moving rows."""
    return sum(_cycles(steps, member) for member in calls.members)


def _cycles(steps: RowSteps, member: Member) -> float:
    """Of all calls of a step in all stripes, and of moving rows. The last call may have fewer trips."""
    one = member.one
    moved = member.moved * one.row_bytes / MOVED_BYTES_PER_CYCLE
    full, rest = divmod(member.made, member.trips)
    calls = ((full, member.trips), (1, rest)) if rest else ((full, member.trips),)
    return sum(
        sum(count * (steps.call(one, trips, width)[0] + CALL_CYCLES) for count, trips in calls) + moved
        for width in one.widths
    )
