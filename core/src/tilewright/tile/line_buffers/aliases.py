"""Knows whose bytes the output of steps that are computed by rows may take: of rows that nobody reads any more.
Does not know which steps are a region, nor where anything is placed.

An overlay is a distance: where the output's buffer begins at least so many bytes before the other one, or at the same
place, every row of the output is stored behind what is still read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from operator import itemgetter

from tilewright.ir.plans.stages import Buffer
from tilewright.ir.rounding import align_up
from tilewright.tile.line_buffers.buffered_step import RowRead
from tilewright.tile.line_buffers.call_schedule import SimulatedStep, Simulation
from tilewright.tile.line_buffers.lifetimes import Lifetimes


@dataclass(frozen=True, slots=True, kw_only=True)
class Overlay:
    """The output takes bytes of `over`, a value that the steps read. `distance_bytes` is between the two buffers."""

    aliases: str
    distance_bytes: int
    saved_bytes: int  # of both side by side


@dataclass(slots=True)
class Overlays:
    """What the last of the steps that are played may take, as they grow towards the front."""

    lives: Lifetimes
    simulation: Simulation
    made_at: Sequence[Sequence[int]]  # by member: how far it has come when the last step is called, for each call
    stored: Sequence[int]  # how many bytes of the output's buffer may have something in them, after each call
    output: Buffer | None  # None: it may take nobody's bytes
    lags: dict[str, int] = field(default_factory=dict)  # buffer that is read from outside -> bytes
    asked: list[tuple[str, int, RowRead]] = field(default_factory=list)  # buffer, reader: not in `lags` yet
    values: dict[str, str] = field(default_factory=dict)  # buffer -> a value in it
    written: set[str] = field(default_factory=set)  # buffers

    @classmethod
    def of(cls, lives: Lifetimes, played: Simulation) -> Overlays:
        """Of no steps yet."""
        sink, output = played.members[-1], lives.buffer_of(played.members[-1].step.output.value)
        if output.name not in lives.ours or output.first != sink.step.index or sink.step.columns:
            return cls(lives=lives, simulation=played, made_at=(), stored=(), output=None)
        made_at = _made_at(played)
        stored = _stored_bytes(lives, sink, made_at[-1])
        return cls(lives=lives, simulation=played, made_at=made_at, stored=stored, output=output)

    def add(self, number: int) -> None:
        """The member before those that are there, by its number among those played."""
        if self.output is None:
            return
        step = self.simulation.members[number].step
        own = self.lives.buffer_of(step.output.value).name
        self.written.add(own)
        self.lags.pop(own, None)
        self.asked = [request for request in self.asked if request[0] != own]
        for read in step.reads:
            buffer = self.lives.buffer_of(read.value)
            ours = buffer.name in self.lives.ours and self.lives.dead_after(buffer, self._end)
            if ours and buffer.name not in self.written:
                self.values.setdefault(buffer.name, read.value)
                self.asked.append((buffer.name, number, read))

    @property
    def _end(self) -> int:
        return self.simulation.members[-1].step.index

    def best(self) -> Overlay | None:
        """What saves most; of equals what is read by the latest step."""
        if self.output is None:
            return None
        for name, number, read in self.asked:
            self.lags[name] = max(self.lags.get(name, 0), self._lag(number, read))
        self.asked.clear()
        if not self.lags:
            return None
        saved, lag, name = max((self._overlay(name, self.output) for name in self.lags), key=itemgetter(0))
        return Overlay(aliases=self.values[name], distance_bytes=lag, saved_bytes=saved) if saved > 0 else None

    def _lag(self, number: int, read: RowRead) -> int:
        """How far after the output's buffer that of a value has to begin, so that a member reads what it wants."""
        made_at, final, low = self.made_at[number], self.simulation.members[number].computed, read.low
        rows = self.lives.rows_of(read.value)
        step_bytes, first = rows.step_bytes, rows.begin(0)
        late = 0
        for made, stored in zip(made_at, self.stored, strict=True):
            if made < final:
                row = low[made]
                behind = stored - (first + row * step_bytes if row > 0 else first)
                if behind > late:
                    late = behind
        return late

    def _overlay(self, name: str, output: Buffer) -> tuple[int, int, str]:
        """Bytes that are saved, the distance, and whose bytes they are."""
        buffer, grain = self.lives.buffers[name], self.lives.machine.platform.buffer_align
        lag = align_up(self.lags[name], max(buffer.align, output.align))
        apart = align_up(buffer.size_bytes, grain) + align_up(output.size_bytes, grain)
        return apart - align_up(max(lag + buffer.size_bytes, output.size_bytes), grain), lag, name


def overlay_of(lives: Lifetimes, played: Simulation) -> Overlay | None:
    """What the last of all these steps may take."""
    overlays = Overlays.of(lives, played)
    for number in reversed(range(len(played.members))):
        overlays.add(number)
    return overlays.best()


def distance_backward(lives: Lifetimes, played: Simulation, over: str) -> int:
    """How far behind the end of the buffer of value `over` the output's has to end, where the only step that is played
    computes its last row first.
    """
    (member,) = played.members
    step, output, giver = member.step, lives.buffer_of(member.step.output.value), lives.buffer_of(over)
    reads = [read for read in step.reads if lives.buffer_of(read.value).name == giver.name]
    own, theirs = lives.rows_of(step.output.value), {read.value: lives.rows_of(read.value) for read in reads}
    lag = 0
    for end in range(step.extent, 0, -member.extent):
        first = max(end - member.extent, 0)
        stored = output.size_bytes - own.begin(first)
        ends = [theirs[read.value].end(read.high[end - 1]) for read in reads if _reads(lives, read, first)]
        lag = max([lag, *(stored - giver.size_bytes + byte for byte in ends)])
    behind = giver.size_bytes - output.size_bytes
    return align_up(behind + lag, max(giver.align, output.align)) - behind


def _reads(lives: Lifetimes, read: RowRead, trip: int) -> bool:
    """Whether the rows that are read from a trip on are in the value, and not all behind its end."""
    axis = lives.steps.axes.get(read.value)
    return axis is None or read.low[trip] < lives.machine.bound.graph.tensors[read.value].shape[axis]


def _made_at(played: Simulation) -> list[list[int]]:
    made, result, last = [0] * len(played.members), list[tuple[int, ...]](), len(played.members) - 1
    for number in played.calls:
        if number == last:
            result.append(tuple(made))
        made[number] += 1
    extents = [(member.extent, member.step.extent) for member in played.members]
    return [
        [count if (count := calls * trips) < extent else extent for calls in own]
        for (trips, extent), own in zip(extents, zip(*result, strict=True), strict=True)
    ]


def _stored_bytes(lives: Lifetimes, sink: SimulatedStep, made: Sequence[int]) -> list[int]:
    """Up to where the output's buffer may have something in it, after calls of its step that begin so far."""
    step, rows = sink.step, lives.rows_of(sink.step.output.value)
    after = (min(begin + sink.extent, step.extent) for begin in made)
    return [rows.end(trips if step.axis is not None else step.rows * (trips == step.extent)) for trips in after]
