"""Knows how long values are needed, what their buffers take and where their rows are, as regions by rows ask:
each worked out once; so are plays of steps. Does not know segments, nor the order inside them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from typing import Any

from tilewright.ir.plans.decisions import OUTSIDE
from tilewright.ir.plans.stages import Buffer
from tilewright.ir.rounding import align_up
from tilewright.ir.tensors.layout import strides
from tilewright.tile.line_buffers.analysis import LineBufferAnalysis
from tilewright.tile.line_buffers.buffered_step import Columns
from tilewright.tile.line_buffers.call_costs import CallCostCache
from tilewright.tile.line_buffers.call_schedule import SimulationCache


@dataclass(frozen=True, slots=True, kw_only=True)
class CallCache:
    """What was found of the calls of one binding's steps in one order: who shares bytes changes nothing about it."""

    costs: CallCostCache = field(default_factory=CallCostCache)
    columns: dict[Hashable, tuple[Columns, ...]] = field(default_factory=dict)  # of steps in stripes
    simulations: SimulationCache = field(default_factory=SimulationCache)
    looks: dict[Hashable, int] = field(default_factory=dict)  # of a step with all around it -> a number
    found: dict[Hashable, Any] = field(default_factory=dict)  # of steps, by how they look, and of which last one


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedRows:
    """Where the rows of a value are in its buffer, in bytes from its start."""

    offset_bytes: int
    count: int
    step_bytes: int  # from a row to the next; 0 where the value has none, and counts as one row
    span_bytes: int  # from the first byte of a row to the end of its last one

    def begin(self, row: int) -> int:
        """The first byte of a row, and no byte of a later row before it."""
        return self.offset_bytes + row * self.step_bytes

    def end(self, rows: int) -> int:
        """Where the last byte of the first `rows` ends; 0 where there are none."""
        return self.begin(min(rows, self.count) - 1) + self.span_bytes if rows > 0 else 0


class Lifetimes:
    """Of a machine's schedule. Steps are their numbers in it."""

    def __init__(self, steps: LineBufferAnalysis, known: CallCache | None = None) -> None:
        self.steps, self.machine = steps, steps.machine
        self.known = known or CallCache()
        self.buffers = {buffer.name: buffer for buffer in self.machine.scheduled.buffers}
        self.sizes = {name: buffer.size_bytes for name, buffer in self.buffers.items()}
        self._rows: dict[str, PlacedRows] = {}  # of values that were asked for: segments ask once for each way
        self.beyond = len(self.machine.scheduled.steps)  # a number that no step has

    @cached_property
    def first_read(self) -> Sequence[int]:
        """By step the first one that reads what it writes; `beyond` where none does."""
        makers = {self.steps.at(number).output.value: number for number in range(self.beyond)}
        result = [self.beyond] * self.beyond
        for number in reversed(range(self.beyond)):
            for read in self.steps.at(number).reads:
                if read.value in makers:
                    result[makers[read.value]] = number
        return result

    @cached_property
    def needed(self) -> Sequence[int]:
        """By step the last one that needs what it writes, or a view that steps see its rows through; `beyond` where
        something else does.
        """
        return [self._last_need(self.steps.at(number).output.value) for number in range(self.beyond)]

    def _last_need(self, value: str) -> int:
        machine, readers = self.machine, [-1]
        for node in machine.consumers.get(value, ()):
            shown = [self._last_need(name) for name in node.outputs if name in self.steps.views]
            readers.append(max(shown) if shown else machine.numbers.get(node.name, self.beyond))
        return self.beyond if value in machine.bound.graph.outputs else max(readers)

    @cached_property
    def shown(self) -> Mapping[str, int]:
        """By value how many show its bytes, itself included."""
        return Counter((*self.machine.scheduled.storage, *self.steps.views.values()))

    @cached_property
    def dying(self) -> Sequence[Sequence[Buffer]]:
        """By step the buffers that live until then."""
        buffers: list[list[Buffer]] = [[] for _ in range(self.beyond)]
        for buffer in self.buffers.values():
            buffers[buffer.last].append(buffer)
        return buffers

    def is_live_out(self, step: int, last: int) -> bool:
        """Whether what a step writes is needed by anything but steps up to `last`."""
        return self.needed[step] > last

    def dead_after(self, buffer: Buffer, step: int) -> bool:
        """Whether nobody reads a buffer after a step: no later one, nor the application."""
        return buffer.last <= step and not set(self.machine.bound.graph.outputs).intersection(buffer.values)

    def buffer_of(self, value: str) -> Buffer:
        """That it is in."""
        return self.buffers[self.machine.scheduled.storage[value].buffer]

    def rows_of(self, value: str) -> PlacedRows:
        """Where they are in its buffer."""
        if value not in self._rows:
            self._rows[value] = self._placed_rows(value)
        return self._rows[value]

    def _placed_rows(self, value: str) -> PlacedRows:
        machine, axis = self.machine, self.steps.axes.get(value)
        tensor, layout = machine.bound.graph.tensors[value], machine.bound.layouts[value]
        item, steps = tensor.dtype.size_bytes, strides(tensor.shape, layout)
        axes = enumerate(zip(tensor.shape, steps, strict=True))
        inside = [(extent - 1) * step for at, (extent, step) in axes if at != axis]
        return PlacedRows(
            offset_bytes=machine.scheduled.storage[value].offset_bytes,
            count=1 if axis is None else tensor.shape[axis],
            step_bytes=0 if axis is None else steps[axis] * item,
            span_bytes=(sum(inside) + 1) * item,
        )

    def alive(self, step: int) -> int:
        """Bytes of all buffers that live at a step."""
        return self._alive[step]

    @cached_property
    def _alive(self) -> Sequence[int]:
        """The same by step."""
        begun = [0] * (self.beyond + 1)
        for buffer in self.buffers.values():
            begun[buffer.first] += self.placed_bytes(buffer)
            begun[buffer.last + 1] -= self.placed_bytes(buffer)
        return tuple(accumulate(begun))

    def placed_bytes(self, buffer: Buffer) -> int:
        """What a buffer takes of the plan; nothing in the caller's memory."""
        theirs = any(self.machine.decisions.io.get(value) in OUTSIDE for value in buffer.values)
        return 0 if theirs else align_up(buffer.size_bytes, self.machine.platform.buffer_align)

    @cached_property
    def ours(self) -> frozenset[str]:
        """The buffers that are placed in the only memory for values, and nowhere in particular."""
        home = self.machine.platform.backing_memory()
        if len(self.machine.memory_path.backing_memories) > 1 or home.managed_by != "tilewright":
            return frozenset()
        return frozenset(name for name, buffer in self.buffers.items() if self._free(buffer))

    def _free(self, buffer: Buffer) -> bool:
        decisions, names = self.machine.decisions, {buffer.name, *buffer.values}
        theirs = any(decisions.io.get(value) in OUTSIDE for value in names)
        pinned = not names.isdisjoint(decisions.memories) or buffer.name in decisions.offsets
        return not theirs and not pinned and buffer.kind != "state"

    def pinned(self, step: int) -> bool:
        """Whether what a step writes is wanted in a memory: then it is to exist."""
        memories = self.machine.decisions.memories
        if not memories:
            return False
        value = self.steps.at(step).output.value
        return not memories.keys().isdisjoint((value, self.buffer_of(value).name))
