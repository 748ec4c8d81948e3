"""Knows whether a plan keeps every byte that somebody still reads, by playing the steps over the memories' bytes.
Does not know lifetimes, schedulers or solvers, and believes nothing that they say about values.

Every element of every value that a step computes gets a number of its own. Writing a value puts its numbers at the
bytes where the plan stores it; reading one demands that exactly its numbers are there. What a view holds is worked
out by the operator's own reference on the numbers of its inputs, so a view that is no view is seen too.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tilewright.graph import Node
from tilewright.kernel import TileShape
from tilewright.operands import input_names, kernel_access
from tilewright.operator import Operator
from tilewright.stages import CONSTANTS_HEADER_BYTES, Allocated, Buffer, Step

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Numbers = npt.NDArray[np.int64]

_WIDEST = 8  # bytes of the largest element: numbers are spaced so that each of an element's bytes has its own


def plan_faults(allocated: Allocated, operators: Mapping[str, Operator]) -> tuple[str, ...]:
    """Everything that is wrong with where buffers are and with what steps would read there; empty when nothing is."""
    placed = tuple(_placement_faults(allocated))
    if placed:
        return placed  # bytes outside a memory cannot be played
    return (*_scratch_faults(allocated, operators), *_Replay(allocated, operators).faults())


def _placement_faults(allocated: Allocated) -> Iterator[str]:
    """Buffers one by one: memory, alignment, limit. Constants and state in pairs: nothing ever shares their bytes."""
    platform = allocated.tiled.scheduled.bound.platform
    memories = {memory.name: memory for memory in platform.memories}
    kept: list[tuple[str, str, int, int]] = []
    for buffer in allocated.tiled.buffers:
        place = allocated.placements.get(buffer.name)
        if place is None:
            if buffer.memories:
                yield f"buffer '{buffer.name}' has no place"
            continue
        if place.memory not in buffer.memories or place.memory not in memories:
            yield f"buffer '{buffer.name}' may not be in memory '{place.memory}'"
            continue
        memory, low, high = memories[place.memory], place.offset_bytes, place.offset_bytes + buffer.size_bytes
        if memory.managed_by == "application":
            continue
        if low < (CONSTANTS_HEADER_BYTES if memory.kind == "const" and buffer.size_bytes else 0):
            yield f"buffer '{buffer.name}' starts at {low} of memory '{memory.name}'"
        if low % buffer.align or memory.align % buffer.align:
            yield f"buffer '{buffer.name}' at {low} of memory '{memory.name}' is not aligned to {buffer.align}"
        if memory.size_bytes is not None and high > memory.size_bytes:
            yield f"buffer '{buffer.name}' ends at {high}, memory '{memory.name}' at {memory.size_bytes}"
        for name, where, start, end in kept:
            if where == memory.name and start < high and low < end and buffer.kind != "tile":
                yield f"buffers '{name}' and '{buffer.name}' share bytes of memory '{memory.name}'"
        if buffer.kind in ("constant", "state") and buffer.size_bytes:
            kept.append((buffer.name, memory.name, low, high))


def _scratch_faults(allocated: Allocated, operators: Mapping[str, Operator]) -> Iterator[str]:
    """Steps computed in one piece have the scratch that their kernel asks for."""
    tiled = allocated.tiled
    bound = tiled.scheduled.bound
    whole = {name for group in tiled.groups if not group.tile.hops for name in group.steps}
    nodes = {node.name: node for node in bound.graph.nodes}
    for index, step in enumerate(tiled.scheduled.steps):
        if step.name not in whole:
            continue
        kernel, site = bound.bindings[step.name].kernel, bound.graph.site(nodes[step.name])
        access = kernel_access(operators[site.node.op], kernel, site)
        box = {loop.name: (0, loop.extent) for loop in access.loops}
        needed = kernel.scratch_bytes(TileShape(site=site, access=access, box=box))
        given = max(
            (b.size_bytes for b in tiled.buffers if b.kind == "scratch" and b.first <= index <= b.last), default=0
        )
        if given < needed:
            yield f"step '{step.name}' needs {needed} B of scratch and has {given}"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Spot:
    """Half-open range of bytes. Memories that the plan does not lay out have one region for each buffer."""

    region: str
    low: int
    high: int

    def overlaps(self, other: _Spot) -> bool:
        return self.region == other.region and self.low < other.high and other.low < self.high


@dataclass(slots=True)
class _Contents:
    """The number at every byte of every region: 0 where nothing of use is."""

    regions: dict[str, Numbers] = field(default_factory=dict)

    def at(self, spot: _Spot) -> Numbers:
        import numpy as np

        have = self.regions.get(spot.region, np.zeros(0, np.int64))
        if have.size < spot.high:
            have = np.concatenate([have, np.zeros(spot.high - have.size, np.int64)])
            self.regions[spot.region] = have
        return have[spot.low : spot.high]


class _Replay:
    """One run of all steps over numbers instead of data."""

    def __init__(self, allocated: Allocated, operators: Mapping[str, Operator]) -> None:
        self.allocated, self.operators = allocated, operators
        self.scheduled = allocated.tiled.scheduled
        self.graph = self.scheduled.bound.graph
        self.nodes = {node.name: node for node in self.graph.nodes}
        self.buffers = {buffer.name: buffer for buffer in allocated.tiled.buffers}
        self.contents = _Contents()
        self.first_numbers: list[int] = []
        self.numbered: list[str] = []  # the values that `first_numbers` belong to
        self.stored: dict[str, Numbers] = {}  # value -> the number of each of its bytes, as stored

    def faults(self) -> Iterator[str]:
        """What is wrong, in the order of the steps."""
        yield from self._number_values()
        for name in self.graph.inputs:
            self._write(name)
        yield from (fault for name in self.graph.inputs for fault in self._holds(name, "before the first step"))
        for index, step in enumerate(self.scheduled.steps):
            if step.copies:
                yield from self._run(index, step)
        yield from (fault for name in self.graph.outputs for fault in self._holds(name, "after the last step"))
        for name in self.graph.inputs:
            if self._buffer(name).name not in self.allocated.placements:
                yield from self._holds(name, "in the caller's memory, after the last step")

    def _run(self, index: int, step: Step) -> Iterator[str]:
        at = f"at step {index} '{step.name}'"
        reads, writes = self._touched(step)
        scratch = [
            self._place(buffer)
            for buffer in self.buffers.values()
            if buffer.kind in ("scratch", "tile") and buffer.first <= index <= buffer.last
        ]
        for spot in scratch:
            self.contents.at(spot)[:] = 0
        for name in reads:
            yield from self._holds(name, at)
        for written in writes:
            for read in reads:
                if self._spot(written).overlaps(self._spot(read)) and not self._in_place(step, read, written, reads):
                    yield f"{at} '{written}' overwrites '{read}' while it is read"
        for name in writes:
            self._write(name)
        for spot in scratch:
            self.contents.at(spot)[:] = 0
        for name in writes:
            yield from self._holds(name, f"{at}, having been written,")

    def _touched(self, step: Step) -> tuple[list[str], list[str]]:
        """Values the step reads from and writes to memory; what stays inside a pattern is neither."""
        nodes = [self.nodes[name] for name in step.nodes]
        made = {name for node in nodes for name in node.outputs}
        reads = {name: None for node in nodes for name in node.inputs if name and name not in self.graph.constants}
        outside = {name for node in self.graph.nodes if node.name not in step.nodes for name in node.inputs}
        kept = outside.union(self.graph.outputs, nodes[-1].outputs)
        return [name for name in reads if name not in made], [
            name for node in nodes for name in node.outputs if name in kept
        ]

    def _in_place(self, step: Step, read: str, written: str, reads: list[str]) -> bool:
        """Whether the kernel may write `written` over `read`: declared, exactly on top of it, element by element."""
        source = self.scheduled.in_place.get(written, "")
        if source not in reads or self._spot(source) != self._spot(written) or self._spot(read) != self._spot(written):
            return False
        if read != source and (self.stored[read] != self.stored[source]).any():
            return False
        node = self.nodes[step.name]
        site, operator = self.graph.site(node), self.operators[node.op]
        operand = dict(zip(input_names(operator, site), node.inputs, strict=True))
        result = dict(zip(operator.outputs, node.outputs, strict=False))
        pairs = self.scheduled.bound.bindings[step.name].kernel.in_place(site)
        return any(operand.get(one) == source and result.get(other) == written for one, other in pairs)

    def _number_values(self) -> Iterator[str]:
        """Fresh numbers for inputs and for what steps compute; views get theirs from the operator's reference."""
        import numpy as np

        executed = {name for step in self.scheduled.steps if step.copies for name in step.nodes}
        numbers: dict[str, Numbers] = {}
        following = 1

        def fresh(name: str) -> None:
            nonlocal following
            tensor = self.graph.tensors[name]
            numbers[name] = np.arange(following, following + tensor.elements).reshape(tensor.shape)
            self.first_numbers.append(following * _WIDEST)
            self.numbered.append(name)
            following += tensor.elements

        for name in self.graph.inputs:
            fresh(name)
        for node in self.graph.nodes:
            if node.name in executed:
                for name in node.outputs:
                    fresh(name)
                continue
            results = self._view(node, numbers)
            for name, result in zip(node.outputs, results, strict=True):
                if result.dtype != np.int64 or result.shape != self.graph.tensors[name].shape:
                    yield f"node '{node.name}' is not executed, but does more than move elements"
                    fresh(name)
                    continue
                numbers[name] = result
        self.stored = {name: self._bytes(name, array) for name, array in numbers.items() if self._is_stored(name)}

    def _view(self, node: Node, numbers: Mapping[str, Numbers]) -> tuple[Numbers, ...]:
        site = self.graph.site(node)
        inputs = [numbers[name] if name in numbers else site.constants.get(name) for name in node.inputs]
        return self.operators[node.op].reference(site, inputs)  # type: ignore[return-value]  # it moves what it gets

    def _bytes(self, name: str, numbers: Numbers) -> Numbers:
        import numpy as np

        ordered = np.transpose(numbers, self.scheduled.bound.layouts[name]).reshape(-1, 1)
        return (ordered * _WIDEST + np.arange(self.graph.tensors[name].dtype.size_bytes)).reshape(-1)

    def _is_stored(self, name: str) -> bool:
        return name in self.scheduled.storage

    def _buffer(self, name: str) -> Buffer:
        return self.buffers[self.scheduled.storage[name].buffer]

    def _place(self, buffer: Buffer) -> _Spot:
        place = self.allocated.placements.get(buffer.name)
        platform = self.scheduled.bound.platform
        if place is None or platform.memory(place.memory).managed_by == "application":
            return _Spot(region=f"buffer {buffer.name}", low=0, high=buffer.size_bytes)
        low = place.offset_bytes
        return _Spot(region=f"memory {place.memory}", low=low, high=low + buffer.size_bytes)

    def _spot(self, name: str) -> _Spot:
        buffer, low = self._place(self._buffer(name)), self.scheduled.storage[name].offset_bytes
        size = self.graph.tensors[name].size_bytes
        return _Spot(region=buffer.region, low=buffer.low + low, high=buffer.low + low + size)

    def _write(self, name: str) -> None:
        self.contents.at(self._spot(name))[:] = self.stored[name]

    def _holds(self, name: str, when: str) -> Iterator[str]:
        if not self._is_stored(name):
            yield f"{when} '{name}' is read, but stored nowhere"
            return
        found = self.contents.at(self._spot(name))
        wrong = (found != self.stored[name]).nonzero()[0]
        if wrong.size:
            first = int(wrong[0])
            yield f"{when} {wrong.size} B of '{name}' are lost: byte {first} holds {self._owner(int(found[first]))}"

    def _owner(self, number: int) -> str:
        if number == 0:
            return "nothing, or scratch"
        return f"part of '{self.numbered[bisect_right(self.first_numbers, number) - 1]}'"
