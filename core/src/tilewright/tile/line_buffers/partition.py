"""Knows which steps of a machine with one memory are computed row by row, together: what that saves, and what it costs.
Does not know segments (`segments`), nor what is asked for: it offers a front of bytes against cycles.

A segment of successive steps is a region. What it reads and what leaves it exists whole, what passes between its steps
in a few rows. Divisions are found by dynamic programming: the fastest one of which no segment needs more than so many
bytes, for fewer and fewer bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from math import inf
from typing import NamedTuple

from tilewright.ir.plans.region import FlattenedRows, InternalValue, LineBuffer, LineBuffers, Region
from tilewright.tile.line_buffers.alias_chains import Distance, Link, distances, widest
from tilewright.tile.line_buffers.aliases import distance_backward, overlay_of
from tilewright.tile.line_buffers.analysis import LineBufferAnalysis
from tilewright.tile.line_buffers.bridges import with_striped_segments
from tilewright.tile.line_buffers.call_schedule import Simulation, run_length_encode
from tilewright.tile.line_buffers.lifetimes import CallCache, Lifetimes
from tilewright.tile.line_buffers.segments import RowSchedule, Segment, calls_of, overlaid_step, segments, whole_step
from tilewright.tile.line_buffers.signatures import StepRange, StepSignatures
from tilewright.tile.line_buffers.stripes import stripes_of
from tilewright.tile.machine import ScheduledMachine


@dataclass(frozen=True, slots=True, kw_only=True)
class LineBufferPartition:
    """All steps in segments. `size_bytes` is what the largest needs: no plan takes less."""

    segments: tuple[Segment, ...]
    size_bytes: int
    cycles: float

    @property
    def recomputed_macs(self) -> float:
        """Multiply-accumulates that are done once more."""
        return sum(segment.recomputed_macs for segment in self.segments)


@dataclass(frozen=True, slots=True, kw_only=True)
class LineBufferSearch:
    """What can be done with a schedule by rows."""

    machine: ScheduledMachine
    signatures: StepSignatures
    segments: tuple[tuple[Segment, ...], ...] = ()  # by last step
    links: dict[Segment, Link | None] = field(default_factory=dict, compare=False, repr=False)  # that were asked for

    @property
    def lifetimes(self) -> Lifetimes:
        """Of the schedule."""
        return self.signatures.lifetimes

    def front(self) -> tuple[LineBufferPartition, ...]:
        """From the fastest, which is layer by layer unless nobody reads some columns, to the least memory; each takes
        less of it than the one before.
        """
        partitions: list[LineBufferPartition] = []
        limit: int | None = None
        while (division := self._fastest(limit)) is not None:
            partitions.append(division)
            limit = division.size_bytes - 1
        return tuple(partitions)

    def _fastest(self, limit: int | None) -> LineBufferPartition | None:
        """The division of fewest cycles with no segment of more than `limit` bytes; the smallest of equals."""
        best: list[tuple[float, int, tuple[Segment, ...]] | None] = [(0.0, 0, ())]
        for ending in self.segments:
            ways = []
            for segment in ending:
                before = best[segment.first]
                if before is not None and (limit is None or segment.size_bytes <= limit):
                    ways.append((before[0] + segment.cycles, before[1] + segment.size_bytes, (*before[2], segment)))
            best.append(min(ways, key=lambda way: way[:2], default=None))
        final = best[-1]
        if final is None:
            return None
        size = max((segment.size_bytes for segment in final[2]), default=0)
        return LineBufferPartition(segments=final[2], size_bytes=size, cycles=final[0])

    def least_memory(self, division: LineBufferPartition) -> LineBufferPartition:
        """The same steps together, called so that every segment needs the least, not only the fullest ones: that leaves
        room where buffers do not lie as close together as their bytes would.
        """
        least = tuple(
            min(self._alike(smallest), key=lambda way: (way.size_bytes, way.cycles)) for smallest in division.segments
        )
        size, cycles = (
            max((smallest.size_bytes for smallest in least), default=0),
            sum(smallest.cycles for smallest in least),
        )
        return LineBufferPartition(segments=least, size_bytes=size, cycles=cycles)

    def _alike(self, segment: Segment) -> Iterator[Segment]:
        """The segment, and others of the same steps that compute no more again."""
        yield segment
        for other in self.segments[segment.last] if self.segments else ():
            if other.first == segment.first and other.recomputed_macs <= segment.recomputed_macs:
                yield other

    def regions(self, division: LineBufferPartition) -> dict[str, Region]:
        """Its segments by rows as regions, by last step."""
        by_rows = [segment for segment in division.segments if segment.row_schedule]
        chosen = distances(self._links(division), self.lifetimes.sizes)
        names = [self.machine.scheduled.steps[row.last].name for row in by_rows]
        return {
            name: region_of(self.lifetimes, row, chosen.get(name)) for name, row in zip(names, by_rows, strict=True)
        }

    def least_bytes(self, division: LineBufferPartition) -> int:
        """No plan with it takes less: of the fullest segment, and of the longest chain of outputs over what is read."""
        return max(division.size_bytes, widest(self._links(division), self.lifetimes.sizes))

    def _links(self, division: LineBufferPartition) -> list[Link]:
        by_rows = [segment for segment in division.segments if segment.row_schedule]
        self.links.update((row, _link(self.signatures, row)) for row in by_rows if row not in self.links)
        return [link for link in map(self.links.__getitem__, by_rows) if link is not None]


def overlaid_steps(
    machine: ScheduledMachine, most_cycles: float, most_bytes: float = inf, known: CallCache | None = None
) -> tuple[LineBufferSearch, tuple[LineBufferPartition, ...]]:
    """Every step alone: the fullest ones by rows, their outputs over what they read, for less and less memory. None
    where a step needs more than `most_bytes` in every way.
    """
    alike = StepSignatures(_lives(machine, known))
    programs, lives = LineBufferSearch(machine=machine, signatures=alike), alike.lifetimes
    chosen, result = [whole_step(lives, step) for step in range(lives.beyond)], list[LineBufferPartition]()
    ways: dict[int, tuple[Segment, ...]] = {}  # of the steps that were the fullest
    for number in (at for at, segment in enumerate(chosen) if segment.size_bytes > most_bytes):
        ways[number] = overlaid_step(alike, number)
        if all(way.size_bytes > most_bytes for way in ways[number]):
            return programs, ()
    largest = max((segment.size_bytes for segment in chosen), default=0)
    while largest:
        for number, segment in enumerate(chosen):
            if segment.size_bytes == largest:
                if number not in ways:
                    ways[number] = overlaid_step(alike, number)
                smaller = [way for way in ways[number] if way.size_bytes < largest]
                chosen[number] = min(smaller, key=lambda way: way.cycles, default=segment)
        cycles, before = sum(segment.cycles for segment in chosen), largest
        largest = max(segment.size_bytes for segment in chosen)
        if cycles > most_cycles or largest == before:
            break
        result.append(LineBufferPartition(segments=tuple(chosen), size_bytes=largest, cycles=cycles))
    return programs, tuple(result)


def line_buffer_search(
    machine: ScheduledMachine, again: float = 0.0, known: CallCache | None = None
) -> LineBufferSearch:
    """Look at every segment of the schedule. `again`: multiply-accumulates that may be done once more, in stripes.

    `known`: of the same binding in the same order; what is found is kept there.
    """
    lives = _lives(machine, known)
    whole = [whole_step(lives, step) for step in range(len(machine.scheduled.steps))]
    largest, alike = max((segment.size_bytes for segment in whole), default=0), StepSignatures(lives)
    result = with_striped_segments(
        alike, [(segment, *segments(alike, step, largest, again)) for step, segment in enumerate(whole)]
    )
    for number in (machine.numbers[name] for name in lives.steps.arriving):
        result[number] = _by_rows(result, number, any(_has(ending, number) for ending in result[number + 1 :]))
    for number in (machine.numbers[name] for name in lives.steps.departing):
        result[number] = _by_rows(result, number, any(segment.first < number for segment in result[number]))
    return LineBufferSearch(machine=machine, signatures=alike, segments=tuple(result))


def _lives(machine: ScheduledMachine, known: CallCache | None) -> Lifetimes:
    known = known or CallCache()
    return Lifetimes(LineBufferAnalysis(machine, known.costs), known)


def _by_rows(result: Sequence[Sequence[Segment]], number: int, together: bool) -> tuple[Segment, ...]:
    """Those that end with a step that rows of an input or output pass. It is alone, and what it writes or reads whole,
    only where it cannot be `together` with a neighbour; and it is computed by rows even then, because so they pass.
    """
    only, *others = result[number]
    return tuple(others) if together else (replace(only, row_schedule=RowSchedule()), *others)


def _has(segments: Sequence[Segment], number: int) -> bool:
    return any(segment.first <= number for segment in segments)


def _link(alike: StepSignatures, segment: Segment) -> Link | None:
    """Whose bytes the output of a segment takes, and at which distances: worked out once for steps that look alike."""
    lives, ends = alike.lifetimes, StepRange(segment.first, segment.last)
    if segment.row_schedule is None or segment.row_schedule.stripes > 1:
        taken = _taken(lives, segment)
    else:
        taken, _ = alike.memoised(("link", segment.row_schedule), ends, lambda: _taken(lives, segment))
    if taken is None:
        return None
    sink, reader = lives.steps.at(segment.last), lives.steps.at(segment.last - taken.reader)
    taker, giver = lives.buffer_of(sink.output.value), lives.buffer_of(reader.reads[taken.read].value)
    return Link(
        step=sink.step.name,
        taker=taker.name,
        giver=giver.name,
        forward=taken.forward,
        backward=taken.backward,
        grain=max(taker.align, giver.align),
    )


class _Taken(NamedTuple):
    """The distances of a `Link`, and whose bytes: what a step so far before the last one reads."""

    reader: int
    read: int
    forward: int
    backward: int | None


def _taken(lives: Lifetimes, segment: Segment) -> _Taken | None:
    calls = calls_of(lives, segment)
    overlay, output = overlay_of(lives, calls), calls.members[-1].step.output.value
    if overlay is None:
        return None
    taker, giver = lives.buffer_of(output), lives.buffer_of(overlay.aliases)
    reader, read = next(
        (segment.last - member.step.index, number)
        for member in calls.members
        for number, candidate in enumerate(member.step.reads)
        if candidate.value == overlay.aliases
    )
    backward = None
    if segment.first == segment.last:
        backward = giver.size_bytes - taker.size_bytes + distance_backward(lives, calls, overlay.aliases)
    return _Taken(reader=reader, read=read, forward=-overlay.distance_bytes, backward=backward)


def region_of(lives: Lifetimes, segment: Segment, distance: Distance | None = None) -> Region:
    """A segment as the region that is generated: the calls, and the rows that are held.

    `distance` is that of its output from what it is over; None: as near as it may be.
    """
    calls = calls_of(lives, segment)
    members = calls.members
    order = LineBuffers(
        loops=tuple(member.step.loop for member in members),
        extents=tuple(member.extent for member in members),
        call_schedule=run_length_encode(calls.calls),
        buffers=dict(_line_buffers(lives, calls, distance)),
        flattened={
            member.step.step.name: member.step.flattened
            for member in members
            if member.step.flattened != FlattenedRows()
        },
        backward=distance is not None and distance.backward,
        stripes=stripes_of([member.step for member in members]),
    )
    return Region(
        steps=tuple(member.step.step.name for member in members),
        schedule=order,
        internal_values=dict(_internal_values(lives, calls, order)),
        sums={member.step.step.name: member.step.sums for member in members if member.step.sums},
    )


def _line_buffers(lives: Lifetimes, calls: Simulation, distance: Distance | None) -> Iterator[tuple[str, LineBuffer]]:
    sink = calls.members[-1].step
    for member in calls.members[:-1]:
        if not lives.is_live_out(member.step.index, sink.index):
            yield member.step.output.value, LineBuffer(rows=member.kept)
    overlay = overlay_of(lives, calls)
    if overlay is not None:
        lag = overlay.distance_bytes if distance is None else _lag(lives, sink.output.value, overlay.aliases, distance)
        yield sink.output.value, LineBuffer(aliases=overlay.aliases, distance_bytes=lag)


def _internal_values(lives: Lifetimes, calls: Simulation, order: LineBuffers) -> Iterator[tuple[str, InternalValue]]:
    memory = lives.machine.platform.backing_memory().name
    *inner, output = (member.step.output.value for member in calls.members)
    for value in (*inner, *((output,) if output in order.buffers else ())):
        rolling = value in order.buffers and value != output
        yield value, InternalValue(memory=memory, form="rolling" if rolling else "whole", live_out=not rolling)


def _lag(lives: Lifetimes, output: str, over: str, distance: Distance) -> int:
    """Between the starts of two buffers, or, backward, between their ends."""
    if not distance.backward:
        return -distance.size_bytes
    return distance.size_bytes + lives.buffer_of(output).size_bytes - lives.buffer_of(over).size_bytes
