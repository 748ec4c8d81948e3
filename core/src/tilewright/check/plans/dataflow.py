"""Knows whether a plan keeps every byte that somebody still reads, by simulating the steps on the bytes of the
memories. Does not know lifetimes, schedulers or solvers, and believes nothing that they say about values.

Every byte of every value that a step computes has a number of its own. Writing a value puts its numbers where the
plan stores it; reading one demands that exactly its numbers are there. So a view that is wrong is found, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from tilewright.check.plans.byte_runs import Contents, differences
from tilewright.check.plans.placement import ByteSpan, alive, byte_span_of
from tilewright.check.plans.value_numbers import ValueNumbers
from tilewright.check.tiles.checked_plan import ViewReaders
from tilewright.ir.graphs.operator import Operator, input_names
from tilewright.ir.plans.region import LineBuffer
from tilewright.ir.plans.stages import Allocated, Buffer, Step


class Replay:
    """One run of all steps over numbers instead of data."""

    def __init__(self, allocated: Allocated, operators: Mapping[str, Operator]) -> None:
        self.allocated, self.operators = allocated, operators
        self.scheduled = allocated.tiled.scheduled
        self.graph = self.scheduled.bound.graph
        self.nodes = {node.name: node for node in self.graph.nodes}
        self.buffers = {buffer.name: buffer for buffer in allocated.tiled.buffers}
        self.passing = alive(allocated.tiled.buffers, "scratch", "tile", "staged")
        self.readers = ViewReaders(self.scheduled)
        self.contents = Contents()
        self.aliases = {
            value: (buffer, schedule.backward)
            for _, schedule in allocated.tiled.line_buffered
            for value, buffer in schedule.buffers.items()
            if buffer.aliases
        }
        self.line_buffered = {name for region, _ in allocated.tiled.line_buffered for name in region.steps}
        self.numbers = ValueNumbers(self.graph, self.scheduled.bound.layouts)

    def faults(self) -> Iterator[str]:
        """What is wrong, in the order of the steps."""
        executed = {name for step in self.scheduled.steps if step.copies for name in step.nodes}
        yield from self.numbers.give(executed, self.operators)
        for name in self.graph.inputs:
            self._write(name)
        yield from (fault for name in self.graph.inputs for fault in self._holds(name, "before the first step"))
        several = [group for group in self.allocated.tiled.groups if len(group.steps) > 1]
        together = {name: group for group in several for name in group.steps}
        later: dict[str, list[tuple[int, Step]]] = {}  # by the step behind which their engines are waited for
        for index, step in enumerate(self.scheduled.steps):
            group = together.get(step.name)
            if step.name in self.scheduled.deferred:
                later.setdefault(self.scheduled.deferred[step.name], []).append((index, step))
                yield from self._begin(index, [step])
            elif group is None and step.copies:
                yield from self._run(index, [step])
            elif group is not None and step.name == group.name:
                yield from self._run(index, [member for member in self.scheduled.steps if member.name in group.steps])
            for begun in later.pop(step.name, ()):
                yield from self._wait(*begun, index)
        yield from (f"step '{step.name}' is never waited for" for begun in later.values() for _, step in begun)
        yield from (fault for name in self.graph.outputs for fault in self._holds(name, "after the last step"))
        for name in self.graph.inputs:
            if self._buffer(name).name not in self.allocated.placements:
                yield from self._holds(name, "in the caller's memory, after the last step")

    def _run(self, index: int, steps: list[Step]) -> Iterator[str]:
        """Steps that are tiled together run as one, where the last of them stands."""
        yield from self._begin(index, steps)
        yield from self._end(index, steps, index)

    def _wait(self, index: int, step: Step, now: int) -> Iterator[str]:
        """The engine has computed a step that began earlier: what it read is still there, or its results are there."""
        reads, writes = self._touched(list(step.nodes))
        taken = [self._span(name) for name in writes]
        for name in reads:
            if not any(span.overlaps(self._span(name)) for span in taken):
                yield from self._holds(name, f"while the engine computes step {index} '{step.name}'")
        yield from self._end(index, [step], now)

    def _begin(self, index: int, steps: list[Step]) -> Iterator[str]:
        """What the steps read is there, and not where they write."""
        step = steps[-1]
        at = f"at step {index} '{step.name}'"
        reads, writes = self._touched([name for member in steps for name in member.nodes])
        for span in self._passing(index):
            self.contents.clear(span)
        for name in reads:
            yield from self._holds(name, at)
        for written in writes:
            for read in reads:
                if self._span(written).overlaps(self._span(read)) and not (
                    self._in_place(step, read, written, reads) or self._behind(read, written)
                ):
                    yield f"{at} '{written}' overwrites '{read}' while it is read"

    def _end(self, index: int, steps: list[Step], now: int) -> Iterator[str]:
        """What the steps write is there once step `now` has run."""
        _, writes = self._touched([name for member in steps for name in member.nodes])
        for name in writes:
            self._write(name)
        for span in self._passing(now):
            self.contents.clear(span)
        for name in writes:
            yield from self._holds(name, f"at step {index} '{steps[-1].name}', having been written,")

    def _passing(self, index: int) -> Iterator[ByteSpan]:
        """Bytes that a step fills as it likes."""
        return (byte_span_of(buffer, self.allocated) for buffer in self.passing.get(index, ()))

    def _touched(self, names: list[str]) -> tuple[list[str], list[str]]:
        """Values these nodes read from and write to memory; what stays inside a pattern or a group is neither."""
        nodes = [self.nodes[name] for name in names]
        made = self.readers.with_views({name for node in nodes for name in node.outputs})
        reads = {name: None for node in nodes for name in node.inputs if name and name not in self.graph.constants}
        writes = [
            name
            for node in nodes
            for name in node.outputs
            if node is nodes[-1] or self.readers.needed_outside(name, names)
        ]
        return [name for name in reads if name not in made], writes

    def _in_place(self, step: Step, read: str, written: str, reads: list[str]) -> bool:
        """Whether the kernel may write `written` over `read`: declared, all in one call, and exactly on top of it, or
        from before it on.
        """
        source = self.scheduled.in_place.get(written, "")
        if step.name in self.line_buffered or source not in reads:
            return False
        shifted = self._span(source) != self._span(written)
        if shifted and (read != source or self._span(source).low < self._span(written).low):
            return False
        if not shifted and self._span(read) != self._span(written):
            return False
        if read != source and self.numbers.stored(read) != self.numbers.stored(source):
            return False
        node = self.nodes[step.name]
        site, operator = self.graph.site(node), self.operators[node.op]
        operand = dict(zip(input_names(operator, site), node.inputs, strict=True))
        result = dict(zip(operator.outputs, node.outputs, strict=False))
        layer = self.scheduled.bound.layers[step.name]
        pairs = layer.shifts if shifted else layer.in_place
        allowed = {taken for taken, written_to in pairs if result.get(written_to) == written}
        readers = {name for name, value in operand.items() if value == read}
        return readers <= allowed and any(operand.get(name) == source for name in allowed)

    def _behind(self, read: str, written: str) -> bool:
        """Whether `written` takes the bytes of what its region has read by rows, as far away as its replay demands."""
        buffer, backward = self.aliases.get(written, (LineBuffer(), False))
        storage = self.scheduled.storage
        if not buffer.aliases or storage[buffer.aliases].buffer != storage[read].buffer:
            return False
        taker, giver = (byte_span_of(self._buffer(name), self.allocated) for name in (written, read))
        if backward:
            return giver.high + buffer.distance_bytes <= taker.high
        return taker.low + buffer.distance_bytes <= giver.low

    def _buffer(self, name: str) -> Buffer:
        return self.buffers[self.scheduled.storage[name].buffer]

    def _span(self, name: str) -> ByteSpan:
        whole, low = byte_span_of(self._buffer(name), self.allocated), self.scheduled.storage[name].offset_bytes
        return replace(whole, low=whole.low + low, high=whole.low + low + self.graph.tensors[name].size_bytes)

    def _write(self, name: str) -> None:
        self.contents.write(self._span(name), self.numbers.stored(name))

    def _holds(self, name: str, when: str) -> Iterator[str]:
        if name not in self.scheduled.storage:
            yield f"{when} '{name}' is read, but stored nowhere"
            return
        wrong = list(differences(self.contents.read(self._span(name)), self.numbers.stored(name)))
        if wrong:
            first, _, number = wrong[0]
            lost = sum(size for _, size, _ in wrong)
            yield f"{when} {lost} B of '{name}' are lost: byte {first} holds {self.numbers.owner(number)}"
