"""Knows segments of successive steps that are computed by rows: what each needs at once, and the cycles that it takes.
Does not know which of them are chosen (`line_buffer_search`), nor the order inside one (`call_schedule`).

All segments with the same last step are found in one go: the steps before a segment's first one change nothing about
the calls of the others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from tilewright.ir.rounding import align_up, ceil_div
from tilewright.tile.cost.traffic import MOVED_BYTES_PER_CYCLE
from tilewright.tile.line_buffers.aliases import Overlays
from tilewright.tile.line_buffers.analysis import LineBufferAnalysis
from tilewright.tile.line_buffers.buffered_step import BufferedStep
from tilewright.tile.line_buffers.call_schedule import SimulatedStep, Simulation
from tilewright.tile.line_buffers.lifetimes import Lifetimes
from tilewright.tile.line_buffers.signatures import StepRange, StepSignatures
from tilewright.tile.line_buffers.stripe_edges import with_edges
from tilewright.tile.line_buffers.stripes import column_loop, in_stripes

COUNTER_BYTES = 4  # of each step: how far it has come, and the first row that is kept
ROWS_PER_CALL = (1, 2, 4)  # that are tried, of all steps of a segment
_ROWS_ALONE = (1, 2, 3, 4, 8, 16)  # of a step that is alone
STRIPES = (2, 3, 4, 5, 6, 8, 12)  # that are tried, with one row per call, where columns may be computed again
WIDTHS = (1, 2, 4)  # columns of the last step in a stripe that are tried, where those at the edges are kept
MOST_STRIPES = 128  # with kept edges: their columns are a table
EDGE_CYCLES = 40  # that a call takes for what passes from one stripe to the next, beside the bytes; an estimate
MOST_STEPS = 255  # of a region: a call is a byte
STEPS_AT_FIRST = 32  # that are looked at; twice as many where the longer ones among them have a new least size
_FEW_STEPS = 8  # that are looked at before: mostly no more of them fit together


class RowSchedule(NamedTuple):
    """How the steps of a segment are called: rows of one call, and stripes of columns, at most. With `kept_from` the
    edges of stripes are kept, and stripes are those of all steps from this one on.
    """

    rows: int = 1
    stripes: int = 1
    kept_from: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """Successive steps, all that they need at once, and the cycles that they take. `way` None: one step in one piece;
    one step by rows has its output over what it reads.
    """

    first: int
    last: int
    row_schedule: RowSchedule | None
    size_bytes: int
    cycles: float
    recomputed_macs: float = 0.0  # multiply-accumulates that are done once more


def whole_step(lives: Lifetimes, step: int) -> Segment:
    """A step in one piece."""
    machine, name = lives.machine, lives.machine.scheduled.steps[step].name
    binding, layer = machine.bound.bindings[name], machine.bound.layers[name]
    cycles = next(item.cycles for item in binding.candidates if item.kernel.name == binding.kernel.name)
    scratch = align_up(layer.kernel.scratch_bytes(layer.whole), machine.platform.buffer_align)
    return Segment(first=step, last=step, row_schedule=None, size_bytes=lives.alive(step) + scratch, cycles=cycles)


def overlaid_step(alike: StepSignatures, step: int) -> tuple[Segment, ...]:
    """A step that is alone by rows, where its output may take bytes of what it reads."""
    lives, member = alike.lifetimes, alike.lifetimes.steps.at(step)
    if member.cannot or member.axis is None or lives.pinned(step):
        return ()
    return _moved(*alike.memoised("overlaid", StepRange(step, step), lambda: tuple(_overlaid(lives, step))))


def _overlaid(lives: Lifetimes, step: int) -> Iterator[Segment]:
    for rows in _ROWS_ALONE:
        way = RowSchedule(rows=rows)
        calls = simulated(lives, step, step, way)
        growth = _Growth.of(lives, calls)
        growth.add(0)
        if growth.conflict or growth.overlays.best() is None:
            return
        yield Segment(first=step, last=step, row_schedule=way, size_bytes=growth.size_bytes, cycles=growth.cycles)


def _moved(result: Sequence[Segment], by: int) -> tuple[Segment, ...]:
    """The same of steps that look alike, so many behind."""
    return tuple(
        replace(segment, first=segment.first + by, last=segment.last + by) if by else segment for segment in result
    )


def segments(alike: StepSignatures, last: int, largest: int, again: float = 0.0) -> Iterator[Segment]:
    """Of several steps, with every number of rows per call, none of which needs more than `largest` bytes. In stripes,
    too, where so many multiply-accumulates may be done `again`.
    """
    ways = [
        *(RowSchedule(rows=rows) for rows in ROWS_PER_CALL),
        *(RowSchedule(stripes=count) for count in STRIPES if again > 0),
    ]
    begin = _first(alike.lifetimes, last, _FEW_STEPS)
    for way in ways if begin < last else ():
        segments_here = _found(alike, StepRange(begin, last), way, largest)
        result = segments_here.segments if segments_here.ended else _worth_a_look(alike, last, way, largest)
        yield from (segment for segment in result if segment.recomputed_macs <= again)


def segments_with_edges(alike: StepSignatures, last: int, largest: int) -> Iterator[Segment]:
    """Of several steps, in stripes of a few columns whose edges are kept; none needs more than `largest` bytes."""
    lives = alike.lifetimes
    first, loop = _first(lives, last, _FEW_STEPS), column_loop(lives.steps, lives.steps.at(last))
    output = lives.buffer_of(lives.steps.at(last).output.value)
    if first == last or loop is None or lives.placed_bytes(output) > largest:
        return
    counts = dict.fromkeys(ceil_div(loop.extent, width) for width in WIDTHS)
    for count in (number for number in counts if 1 < number <= MOST_STRIPES):
        yield from _worth_a_look(alike, last, RowSchedule(stripes=count, kept_from=first), largest)


def calls_of(lives: Lifetimes, segment: Segment) -> Simulation:
    """The calls of a segment by rows."""
    if segment.row_schedule is None:
        raise ValueError(f"step {segment.last} is in one piece")
    return simulated(lives, segment.first, segment.last, segment.row_schedule)


def simulated(lives: Lifetimes, first: int, last: int, way: RowSchedule) -> Simulation:
    """The calls of a segment; in stripes of so many of its last steps as can be computed so."""
    begin = first if way.kept_from is None else way.kept_from
    chosen = tuple(lives.steps.at(index) for index in range(begin, last + 1))
    if way.stripes > 1:
        chosen = tuple(step for step in _striped(lives, chosen, way) if step.index >= first)
    leaving = {step.output.value: lives.is_live_out(step.index, last) for step in chosen}
    return lives.known.simulations.simulate(chosen, [step.extent_of(way.rows) for step in chosen], leaving)


def _striped(lives: Lifetimes, chosen: Sequence[BufferedStep], way: RowSchedule) -> tuple[BufferedStep, ...]:
    """The last of these steps, with their columns."""
    key = chosen[0].step.name, chosen[-1].step.name, way.stripes, way.kept_from is None
    columns = lives.known.columns.get(key)
    if columns is None:
        result = (in_stripes if way.kept_from is None else with_edges)(lives.steps, chosen, way.stripes)
        lives.known.columns[key] = tuple(member.columns for member in result if member.columns)
        return result
    last = chosen[len(chosen) - len(columns) :]
    return tuple(replace(member, columns=own) for member, own in zip(last, columns, strict=True))


def _first(lives: Lifetimes, last: int, most: int) -> int:
    """The first step that can be in a segment with the last one, which has so many at most."""
    first = last + 1
    while first > 0 and last - first + 1 < most and not lives.steps.at(first - 1).cannot:
        first -= 1
        if first < last and (lives.pinned(first) or _for_nobody(lives, first, last)):
            return first + 1
    return first


def _for_nobody(lives: Lifetimes, step: int, last: int) -> bool:
    """Whether no step up to the last one reads what a step writes, nor the application takes it in rows."""
    return lives.first_read[step] > last and not lives.steps.at(step).departs


def _worth_a_look(alike: StepSignatures, last: int, way: RowSchedule, largest: int) -> Iterator[Segment]:
    """Longer and longer ones, as long as that has led to less memory."""
    seen, length, least = last, STEPS_AT_FIRST, largest + 1
    while (begin := _first(alike.lifetimes, last, length)) < seen:
        way = way if way.kept_from is None else way._replace(kept_from=begin)
        grown = _found(alike, StepRange(begin, last), way, largest)
        result = [segment for segment in grown.segments if segment.first < seen]
        yield from result
        if grown.ended or min((segment.size_bytes for segment in result), default=least) >= least:
            return
        least = min(segment.size_bytes for segment in result)
        seen, length = begin, min(2 * length, MOST_STEPS)


class _Grown(NamedTuple):
    """Segments with the same last step, from the shortest on. `ended`: there are none of more steps."""

    segments: Sequence[Segment]
    ended: bool = False


def _found(alike: StepSignatures, ends: StepRange, way: RowSchedule, largest: int) -> _Grown:
    """Those of some steps, once for steps that look alike; but not in stripes: they depend on more."""
    lives = alike.lifetimes

    def grown() -> _Grown:
        return _grown(lives, simulated(lives, *ends, way), way, largest)

    result, by = (grown(), 0) if way.stripes > 1 else alike.memoised((way, largest), ends, grown)
    return _Grown(segments=_moved(result.segments, by), ended=result.ended)


def _grown(lives: Lifetimes, calls: Simulation, way: RowSchedule, largest: int) -> _Grown:
    """Those of what was played. With kept edges nothing is known of more steps: all of them have other columns."""
    result, ended = list[Segment](), way.kept_from is None
    if not calls.members:
        return _Grown(segments=result)
    growth, last = _Growth.of(lives, calls), calls.members[-1].step.index
    for number in reversed(range(len(calls.members))):
        first = calls.members[number].step.index
        if way.stripes > 1 and first < last and lives.is_live_out(first, last):
            return _Grown(segments=result, ended=ended)
        growth.add(number)
        if growth.own_bytes > largest:
            return _Grown(segments=result, ended=ended)
        if first < last and not growth.conflict and (size := growth.size_bytes) <= largest:
            cycles, again = growth.cycles, growth.again
            result.append(
                Segment(first=first, last=last, row_schedule=way, size_bytes=size, cycles=cycles, recomputed_macs=again)
            )
    return _Grown(segments=result)


@dataclass(slots=True)
class _Growth:
    """A segment as it grows towards the front."""

    lives: Lifetimes
    played: Simulation
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
    def of(cls, lives: Lifetimes, calls: Simulation) -> _Growth:
        """Of no step yet."""
        whole = lives.alive(calls.members[-1].step.index)
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
        step, last = member.step, self.played.members[-1].step.index
        self.cycles += _cycles(self.lives.steps, member)
        self.again += self.lives.steps.calls.again(step)
        self.scratch_bytes = max(self.scratch_bytes, self.lives.steps.calls.scratch_bytes(step, member.extent))
        self.own_bytes += COUNTER_BYTES + align_up(step.sums_bytes, align) + align_up(step.edges_bytes, align)
        leaves = step.index == last or self.lives.is_live_out(step.index, last)
        if step.index < last:
            self._live_on(step)
        if leaves:
            self.taken.append(self.lives.buffer_of(step.output.value).name)
        else:
            self.own_bytes += align_up(member.kept * step.row_bytes, align)
            self._hold(step.output.value)
        self.outside.pop(step.output.value, None)
        self.outside.update({read.value: self.lives.buffer_of(read.value).name for read in step.reads})
        self.overlays.add(number)

    def _live_on(self, step: BufferedStep) -> None:
        """What would have been needed for the last time by a step is there until the last one."""
        ended = (buffer for buffer in self.lives.dying[step.index] if buffer.first <= step.index)
        self.whole_bytes += sum(map(self.lives.placed_bytes, ended))

    def _hold(self, value: str) -> None:
        """One more value of a buffer is in rows, and what shows it; where all are, the buffer is not there."""
        buffer = self.lives.buffer_of(value)
        self.inner[buffer.name] = self.inner.get(buffer.name, 0) + self.lives.shown[value]
        if self.inner[buffer.name] == len(buffer.values):
            self.whole_bytes -= self.lives.placed_bytes(buffer)


def simulated_cycles(steps: LineBufferAnalysis, calls: Simulation) -> float:
    """Of all calls, and of moving rows."""
    return sum(_cycles(steps, member) for member in calls.members)


def _cycles(steps: LineBufferAnalysis, member: SimulatedStep) -> float:
    """Of all calls of a step in all stripes, and of moving rows. The last call may have fewer trips."""
    step = member.step
    full, rest = divmod(member.computed, member.extent)
    calls = ((full, member.extent), (1, rest)) if rest else ((full, member.extent),)
    passed, widths, cost = _edge_cycles(step, member), step.widths, steps.calls.cost
    overhead = steps.calls.overhead(step, member.moved * step.row_bytes, sum(count for count, _ in calls))
    by_width = {
        width: sum(count * cost(step, trips, width)[0] for count, trips in calls) + overhead + passed
        for width in set(widths)
    }
    return sum(map(by_width.__getitem__, widths))


def _edge_cycles(step: BufferedStep, member: SimulatedStep) -> float:
    """Of all calls of a step in a stripe, for what comes from the one before and what goes to the next."""
    return 2 * step.edges_bytes / MOVED_BYTES_PER_CYCLE + EDGE_CYCLES * member.calls if step.edges_bytes else 0.0
