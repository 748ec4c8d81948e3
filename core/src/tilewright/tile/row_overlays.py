"""Knows whose bytes the output of steps that are computed by rows may take: of rows that nobody reads any more.
Does not know which steps are a region, nor where anything is placed.

An overlay is a distance: where the output's buffer begins at least so many bytes before the other one, or at the same
place, every row of the output is stored behind what is still read.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field

from tilewright.ir.layout import strides
from tilewright.ir.rounding import align_up
from tilewright.ir.stages import Buffer
from tilewright.tile.row_order import Member, Play
from tilewright.tile.row_steps import RowRead, RowSteps
from tilewright.tile.step_spaces import ScheduledMachine


@dataclass(frozen=True, slots=True, kw_only=True)
class Overlay:
    """The output takes bytes of `over`, a value that the steps read. `lag_bytes` is between the two buffers."""

    over: str
    lag_bytes: int
    saved_bytes: int  # of both side by side


@dataclass(slots=True)
class Overlays:
    """What the last of the steps that are played may take, as they grow towards the front."""

    steps: RowSteps
    played: Play
    sink: Member
    made_at: list[list[int]]  # by member: how far it has come when the sink is called, for each of its calls
    stored: list[int]  # how many bytes of the output's buffer may have something in them, after each of its calls
    output: Buffer | None  # None: it may take nobody's bytes
    lags: dict[str, int] = field(default_factory=dict)  # buffer that is read -> bytes
    values: dict[str, str] = field(default_factory=dict)  # buffer -> a value in it
    written: set[str] = field(default_factory=set)  # buffers

    @classmethod
    def of(cls, steps: RowSteps, played: Play) -> Overlays:
        """Of no steps yet."""
        number = len(played.members) - 1
        sink, made_at = played.members[number], _made_at(played, number)
        after = (min(made + sink.trips, sink.one.extent) for made in made_at[number])
        output = steps.machine.scheduled.storage[sink.one.output.value].buffer
        return cls(
            steps=steps,
            played=played,
            sink=sink,
            made_at=made_at,
            stored=[_stored_bytes(steps.machine, sink, made) for made in after],
            output=_alone_in(steps.machine, output, sink.one.index),
        )

    def grow(self, number: int) -> None:
        """By the member before, whose number among those played this is."""
        one, storage = self.played.members[number].one, self.steps.machine.scheduled.storage
        self.written.add(storage[one.output.value].buffer)
        for read in one.reads if self.output is not None else ():
            buffer = storage[read.value].buffer
            if _placed(self.steps.machine, buffer) is not None:
                self.values.setdefault(buffer, read.value)
                self.lags[buffer] = max(self.lags.get(buffer, 0), self._lag(number, read))

    def best(self) -> Overlay | None:
        """What saves most; of equals what is read by the latest step."""
        found = [one for one in map(self._overlay, self.lags) if one is not None]
        return max(found, key=lambda one: one.saved_bytes, default=None)

    def _lag(self, number: int, read: RowRead) -> int:
        """How far after the output's buffer that of a value has to begin, so that a member reads what it wants."""
        made_at, final = self.made_at[number], self.played.members[number].made
        late = [
            stored - _first_byte(self.steps, read, read.low[made])
            for made, stored in zip(made_at, self.stored, strict=True)
            if made < final
        ]
        return max(late, default=0)

    def _overlay(self, name: str) -> Overlay | None:
        machine = self.steps.machine
        buffer = _placed(machine, name)
        if buffer is None or self.output is None or name in self.written or buffer.last > self.sink.one.index:
            return None
        lag = align_up(self.lags[name], max(buffer.align, self.output.align))
        grain = machine.platform.buffer_align
        apart = align_up(buffer.size_bytes, grain) + align_up(self.output.size_bytes, grain)
        saved = apart - align_up(max(lag + buffer.size_bytes, self.output.size_bytes), grain)
        return Overlay(over=self.values[name], lag_bytes=lag, saved_bytes=saved) if saved > 0 else None


def overlay_of(steps: RowSteps, played: Play) -> Overlay | None:
    """What the last of all these steps may take."""
    overlays = Overlays.of(steps, played)
    for number in reversed(range(len(played.members))):
        overlays.grow(number)
    return overlays.best()


def _made_at(played: Play, sink: int) -> list[list[int]]:
    places: list[list[int]] = [[] for _ in played.members]
    for place, number in enumerate(played.calls):
        places[number].append(place)
    return [
        [min(bisect_left(own, place) * member.trips, member.one.extent) for place in places[sink]]
        for member, own in zip(played.members, places, strict=True)
    ]


def _stored_bytes(machine: ScheduledMachine, sink: Member, made: int) -> int:
    """Up to where the output's buffer may have something in it, after so many trips of its step."""
    one = sink.one
    rows = made if one.axis is not None else one.rows * (made == one.extent)
    if not rows:
        return 0
    extents = [rows if axis == one.axis else extent for axis, extent in enumerate(one.output.shape)]
    steps = strides(one.output.shape, one.output.layout)
    last = sum((extent - 1) * step for extent, step in zip(extents, steps, strict=True))
    return machine.scheduled.storage[one.output.value].offset_bytes + (last + 1) * one.output.item_bytes


def _first_byte(steps: RowSteps, read: RowRead, row: int) -> int:
    """Where in its buffer the first byte of a row of a value is, and no byte of a later row before it."""
    machine, axis = steps.machine, steps.axes.get(read.value)
    tensor, layout = machine.bound.graph.tensors[read.value], machine.bound.layouts[read.value]
    step = 0 if axis is None else strides(tensor.shape, layout)[axis]
    return machine.scheduled.storage[read.value].offset_bytes + row * step * tensor.dtype.size_bytes


def _placed(machine: ScheduledMachine, name: str) -> Buffer | None:
    """A buffer that is placed in the only memory for values, and nowhere in particular."""
    home, decisions = machine.platform.home_memory(), machine.decisions
    buffer = next(one for one in machine.scheduled.buffers if one.name == name)
    names = {name, *buffer.values}
    theirs = any(decisions.io.get(value) == "user" for value in names)
    pinned = not names.isdisjoint(decisions.memories) or name in decisions.offsets
    ours = len(machine.homes) == 1 and home.managed_by == "tilewright" and buffer.kind != "state"
    return buffer if ours and not theirs and not pinned else None


def _alone_in(machine: ScheduledMachine, name: str, step: int) -> Buffer | None:
    """A buffer in which there is nothing before a step writes to it."""
    buffer = _placed(machine, name)
    return buffer if buffer is not None and buffer.first == step else None
