"""Knows which steps of a machine with one memory are computed row by row, together: what that saves, and what it costs.
Does not know the order inside a region (`row_order`), nor what is asked for: it offers a front of bytes against cycles.

A segment of successive steps is a region. What it reads and what leaves it exists whole, what passes between its steps
in a few rows. Segments are found by dynamic programming: the fastest division of which no part needs more than so
many bytes, for fewer and fewer bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from tilewright.ir.regions import HeldValue, Region, Rows
from tilewright.ir.rounding import align_up
from tilewright.tile.row_order import Member, Play, folded, play
from tilewright.tile.row_overlays import Overlays, overlay_of
from tilewright.tile.row_steps import CALL_CYCLES, RowSteps
from tilewright.tile.step_spaces import ScheduledMachine
from tilewright.tile.traffic import MOVED_BYTES_PER_CYCLE

COUNTER_BYTES = 4  # of each step: how far it has come, and the first row that is kept
ROWS_PER_CALL = (1, 2, 4)  # that are tried, of all steps of a segment
MOST_STEPS = 255  # of a region: a call is a byte


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """Successive steps, all that they need at once, and the cycles that they take. `rows` 0: one step in one piece."""

    first: int
    last: int
    rows: int
    size_bytes: int
    cycles: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Division:
    """All steps in segments. `size_bytes` is what the largest needs: no plan takes less."""

    segments: tuple[Segment, ...]
    size_bytes: int
    cycles: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RowPrograms:
    """What can be done with a schedule by rows."""

    machine: ScheduledMachine
    steps: RowSteps
    segments: tuple[tuple[Segment, ...], ...]  # by last step

    def front(self) -> tuple[Division, ...]:
        """From the fastest, which is layer by layer, to the least memory; each takes less of it than the one before."""
        found: list[Division] = []
        limit: int | None = None
        while (division := self._fastest(limit)) is not None:
            found.append(division)
            limit = division.size_bytes - 1
        return tuple(found)

    def _fastest(self, limit: int | None) -> Division | None:
        """The division of fewest cycles with no segment of more than `limit` bytes; the smallest of equals."""
        best: list[tuple[float, int, tuple[Segment, ...]] | None] = [(0.0, 0, ())]
        for ending in self.segments:
            ways = []
            for one in ending:
                before = best[one.first]
                if before is not None and (limit is None or one.size_bytes <= limit):
                    ways.append((before[0] + one.cycles, before[1] + one.size_bytes, (*before[2], one)))
            best.append(min(ways, key=lambda way: way[:2], default=None))
        final = best[-1]
        if final is None:
            return None
        size = max((one.size_bytes for one in final[2]), default=0)
        return Division(segments=final[2], size_bytes=size, cycles=final[0])

    def regions(self, division: Division) -> dict[str, Region]:
        """Its segments of several steps as regions, by last step."""
        found = (region_of(self.steps, one) for one in division.segments if one.rows)
        return {region.name: region for region in found}


def row_programs(machine: ScheduledMachine) -> RowPrograms:
    """Look at every segment of the schedule."""
    steps = RowSteps(machine)
    endings = [_Ending(steps, last) for last in range(len(machine.scheduled.steps))]
    largest = max((one.alone().size_bytes for one in endings), default=0)
    segments = tuple((one.alone(), *one.segments(largest)) for one in endings)
    return RowPrograms(machine=machine, steps=steps, segments=segments)


def leaves(machine: ScheduledMachine, value: str, inside: Sequence[str]) -> bool:
    """Whether anything but these steps needs a value; views of it count as others."""
    readers = machine.consumers.get(value, ())
    return value in machine.bound.graph.outputs or any(node.name not in inside for node in readers)


def region_of(steps: RowSteps, segment: Segment) -> Region:
    """A segment as the region that is generated: the calls, and the rows that are held."""
    played = _played(steps, segment.first, segment.last, segment.rows)
    machine, members = steps.machine, played.members
    names = tuple(member.one.step.name for member in members)
    home = machine.platform.home_memory().name
    held: dict[str, HeldValue] = {}
    for member in members[:-1]:
        value = member.one.output.value
        if leaves(machine, value, names):
            held[value] = HeldValue(memory=home, form="whole", leaves=True)
        else:
            held[value] = HeldValue(memory=home, form="rolling", rows=member.kept)
    overlay = overlay_of(steps, played)
    if overlay is not None:
        held[members[-1].one.output.value] = HeldValue(
            memory=home, form="whole", leaves=True, over=overlay.over, lag_bytes=overlay.lag_bytes
        )
    sums = {member.one.step.name: member.one.sums for member in members if member.one.sums}
    order = Rows(
        loops=tuple(member.one.loop for member in members),
        trips=tuple(member.trips for member in members),
        word=folded(played.calls),
    )
    return Region(steps=names, order=order, held=held, sums=sums)


def _played(steps: RowSteps, first: int, last: int, rows: int) -> Play:
    chosen = [steps.at(index) for index in range(first, last + 1)]
    names = [one.step.name for one in chosen]
    leaving = {one.output.value: leaves(steps.machine, one.output.value, names) for one in chosen}
    return play(chosen, [one.trips(rows) for one in chosen], leaving)


@dataclass(slots=True)
class _Whole:
    """The buffers of whole values that are there together, as a segment grows towards the front."""

    steps: RowSteps
    last: int
    inner: dict[str, int] = field(default_factory=dict)  # buffer -> values in it that never exist whole
    size_bytes: int = 0

    def begin(self) -> None:
        """With the last step alone."""
        self.size_bytes = sum(size for first, last, size in self._lives() if first <= self.last <= last)

    def grow(self, first: int, inner: str) -> None:
        """By the step before, whose output is `inner`; "" where it leaves."""
        self.size_bytes += sum(size for born, dead, size in self._lives() if dead == first and born <= first)
        if inner:
            name = self.steps.machine.scheduled.storage[inner].buffer
            buffer = next(one for one in self.steps.machine.scheduled.buffers if one.name == name)
            self.inner[name] = self.inner.get(name, 0) + 1
            if self.inner[name] == len(buffer.values):
                self.size_bytes -= _placed_bytes(self.steps.machine, buffer.size_bytes, buffer.values)

    def _lives(self) -> Iterator[tuple[int, int, int]]:
        for one in self.steps.machine.scheduled.buffers:
            yield one.first, one.last, _placed_bytes(self.steps.machine, one.size_bytes, one.values)


def _placed_bytes(machine: ScheduledMachine, size_bytes: int, values: Sequence[str]) -> int:
    """What a buffer takes of the plan; nothing in the caller's memory."""
    theirs = any(machine.decisions.io.get(value) == "user" for value in values)
    return 0 if theirs else align_up(size_bytes, machine.platform.buffer_align)


@dataclass(slots=True)
class _Ending:
    """All segments with the same last step."""

    steps: RowSteps
    last: int

    def alone(self) -> Segment:
        """The step in one piece."""
        machine = self.steps.machine
        one, whole = self.steps.at(self.last), _Whole(self.steps, self.last)
        whole.begin()
        binding = machine.bound.bindings[one.step.name]
        cycles = next(item.cycles for item in binding.candidates if item.kernel.name == binding.kernel.name)
        layer = machine.bound.layers[one.step.name]
        size = whole.size_bytes + align_up(layer.kernel.scratch_bytes(layer.whole), machine.platform.buffer_align)
        return Segment(first=self.last, last=self.last, rows=0, size_bytes=size, cycles=cycles)

    def segments(self, largest: int) -> Iterator[Segment]:
        """Of several steps, with every number of rows per call, none of which needs more than `largest` bytes."""
        first = self._first()
        for rows in ROWS_PER_CALL if first < self.last else ():
            yield from self._of(first, rows, largest)

    def _first(self) -> int:
        """The first step that can be in a segment with the last one."""
        first = self.last + 1
        while first > 0 and self.last - first + 1 < MOST_STEPS and not self.steps.at(first - 1).cannot:
            first -= 1
            if first < self.last and (self._pinned(first) or not self._read(first)):
                return first + 1
        return first

    def _pinned(self, index: int) -> bool:
        """Whether what a step writes is wanted in a memory: then it is to exist."""
        value, machine = self.steps.at(index).output.value, self.steps.machine
        return not machine.decisions.memories.keys().isdisjoint((value, machine.scheduled.storage[value].buffer))

    def _read(self, index: int) -> bool:
        """Whether a later step of the segment reads what a step writes."""
        value = self.steps.at(index).output.value
        later = range(index + 1, self.last + 1)
        return any(read.value == value for number in later for read in self.steps.at(number).reads)

    def _of(self, first: int, rows: int, largest: int) -> Iterator[Segment]:
        machine, align = self.steps.machine, self.steps.machine.platform.buffer_align
        played = _played(self.steps, first, self.last, rows)
        members, overlays = played.members, Overlays.of(self.steps, played)
        names = [member.one.step.name for member in members]
        whole = _Whole(self.steps, self.last)
        whole.begin()
        held, scratch, cycles = 0, 0, 0.0
        for number, member in reversed(list(enumerate(members))):
            one = member.one
            overlays.grow(number)
            if one.index != self.last:
                inner = "" if leaves(machine, one.output.value, names) else one.output.value
                whole.grow(one.index, inner)
                held += align_up(member.kept * one.row_bytes, align) if inner else 0
            spent, own = self.steps.call(one.index, member.trips)
            scratch, cycles = max(scratch, own), cycles + _cycles(member, spent)
            held += COUNTER_BYTES + align_up(one.sums_bytes, align)
            if held > largest:
                return
            if one.index == self.last or self._conflict(one.index, names):
                continue
            overlay = overlays.best()
            saved = overlay.saved_bytes if overlay else 0
            size = whole.size_bytes + held + align_up(scratch, align) - saved
            if size <= largest:
                yield Segment(first=one.index, last=self.last, rows=rows, size_bytes=size, cycles=cycles)

    def _conflict(self, first: int, names: Sequence[str]) -> bool:
        """Whether something that leaves takes the bytes of something that the segment reads, or that leaves, too."""
        storage, members = self.steps.machine.scheduled.storage, range(first, self.last + 1)
        written = {self.steps.at(number).output.value for number in members}
        leaving = [value for value in written if value == self.steps.at(self.last).output.value
                   or leaves(self.steps.machine, value, names)]  # fmt: skip
        taken = [storage[value].buffer for value in leaving]
        read = {read.value for number in members for read in self.steps.at(number).reads} - written
        return len(set(taken)) < len(taken) or not {storage[value].buffer for value in read}.isdisjoint(taken)


def play_cycles(steps: RowSteps, played: Play) -> float:
    """Of all calls, and of moving rows."""
    return sum(_cycles(member, steps.call(member.one.index, member.trips)[0]) for member in played.members)


def _cycles(member: Member, call_cycles: float) -> float:
    """Of all calls of a step, and of moving rows."""
    moved = member.moved * member.one.row_bytes / MOVED_BYTES_PER_CYCLE
    return member.calls * (call_cycles + CALL_CYCLES) + moved
