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

from tilewright.graph import Graph, Node
from tilewright.kernel import TileShape
from tilewright.layout import Layout, same_bytes
from tilewright.operands import input_names, kernel_access
from tilewright.operator import Operator
from tilewright.stages import CONSTANTS_HEADER_BYTES, Allocated, Buffer, Placement, Step

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Numbers = npt.NDArray[np.int64]

LASTING = ("constant", "state", "resident")  # kinds of buffers
_WIDEST = 8  # bytes of the largest element: numbers are spaced so that each of an element's bytes has its own


def plan_faults(allocated: Allocated, operators: Mapping[str, Operator]) -> tuple[str, ...]:
    """Everything that is wrong with where buffers are and with what steps would read there; empty when nothing is."""
    placed = tuple(_placement_faults(allocated))
    if placed:
        return placed  # bytes outside a memory cannot be played
    return (
        *_layout_faults(allocated, operators),
        *_scratch_faults(allocated, operators),
        *_access_faults(allocated),
        *_copy_faults(allocated),
        *_Replay(allocated, operators).faults(),
    )


def _placement_faults(allocated: Allocated) -> Iterator[str]:
    """Buffers one by one: memory, alignment, limit. Then pairs."""
    platform = allocated.tiled.scheduled.bound.platform
    memories = {memory.name: memory for memory in platform.memories}
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
        limit = platform.hard_bytes(memory.name)
        if limit is not None and high > limit:
            yield f"buffer '{buffer.name}' ends at {high}, memory '{memory.name}' at {limit}"
    yield from _crowding_faults(allocated)
    yield from _sharing_faults(allocated)


def _region(buffer: Buffer, place: Placement) -> str:
    """The array of the program that a buffer is in: what lasts is apart from the pool of its memory."""
    if buffer.kind == "state":
        return "the state"
    return f"copies in {place.memory}" if buffer.kind == "resident" else f"memory {place.memory}"


def _crowding_faults(allocated: Allocated) -> Iterator[str]:
    """All arrays of a memory together are inside its limit; state is one array, in one memory."""
    platform = allocated.tiled.scheduled.bound.platform
    ends: dict[str, dict[str, int]] = {memory.name: {} for memory in platform.memories}
    for buffer in allocated.tiled.buffers:
        place = allocated.placements.get(buffer.name)
        if place is not None and place.memory in ends and platform.memory(place.memory).managed_by == "tilewright":
            arrays, name = ends[place.memory], _region(buffer, place)
            arrays[name] = max(arrays.get(name, 0), place.offset_bytes + buffer.size_bytes)
    for memory in platform.memories:
        limit, sizes = platform.hard_bytes(memory.name), list(ends[memory.name].values())
        total = sum(-(-size // memory.align) * memory.align for size in sizes) - max(
            (-size % memory.align for size in sizes), default=0
        )
        if limit is not None and total > limit:
            yield f"memory '{memory.name}' has arrays of {total} B together, and {limit} B"
    if sum("the state" in arrays for arrays in ends.values()) > 1:
        yield "the state is in several memories"


def _sharing_faults(allocated: Allocated) -> Iterator[str]:
    """Constants, their copies and state keep their bytes from one run to the next: nothing else is ever there."""
    platform = allocated.tiled.scheduled.bound.platform
    ours = {memory.name for memory in platform.memories if memory.managed_by == "tilewright"}
    spots = [
        (
            buffer,
            _Spot(region=_region(buffer, place), low=place.offset_bytes, high=place.offset_bytes + buffer.size_bytes),
        )
        for buffer in allocated.tiled.buffers
        if (place := allocated.placements.get(buffer.name)) is not None and place.memory in ours
    ]
    for index, (one, there) in enumerate(spots):
        for other, here in spots[index + 1 :]:
            if (one.kind in LASTING or other.kind in LASTING) and there.overlaps(here):
                yield f"buffers '{one.name}' and '{other.name}' share bytes of {here.region}"


def _layout_faults(allocated: Allocated, operators: Mapping[str, Operator]) -> Iterator[str]:
    """Kernels that take only one layout get it."""
    bound = allocated.tiled.scheduled.bound
    nodes = {node.name: node for node in bound.graph.nodes}
    for step in allocated.tiled.scheduled.steps:
        site, kernel = bound.graph.site(nodes[step.name]), bound.bindings[step.name].kernel
        operator = operators[site.node.op]
        values = dict(zip(input_names(operator, site), site.inputs, strict=True))
        values |= dict(zip(operator.outputs, site.outputs, strict=False))
        for operand, required in kernel.requires(site).items():
            tensor = values.get(operand)
            if tensor is None or tensor.name in bound.graph.constants:
                continue
            if not same_bytes(tensor.shape, required, bound.layouts[tensor.name]):
                yield f"kernel '{kernel.name}' of '{step.name}' takes {operand} only as {required}"


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


def _stored(constant: str, step: str, allocated: Allocated) -> str:
    """The buffer from which a step reads a constant."""
    staging = allocated.decisions.staged.get(constant)
    if staging is None:
        return constant
    return f"{constant}@{staging.memory}" + (f"#{step}" if staging.when == "use" else "")


def _copy_faults(allocated: Allocated) -> Iterator[str]:
    """Every copy of a constant that a step reads is there: as large, alive then, and in the memory that was decided."""
    bound, buffers = allocated.tiled.scheduled.bound, {buffer.name: buffer for buffer in allocated.tiled.buffers}
    for index, step in enumerate(allocated.tiled.scheduled.steps):
        for constant in bound.bindings[step.name].constants.values():
            name = _stored(constant, step.name, allocated)
            buffer, place = buffers.get(name), allocated.placements.get(name)
            if buffer is None or place is None:
                yield f"constant '{name}' of '{step.name}' is nowhere"
            elif buffer.size_bytes != bound.constants[constant].nbytes or not buffer.first <= index <= buffer.last:
                yield f"constant '{name}' of '{step.name}' is not all there at step {index}"
            elif name != constant and place.memory != allocated.decisions.staged[constant].memory:
                yield f"copy '{name}' is in '{place.memory}'"


def _access_faults(allocated: Allocated) -> Iterator[str]:
    """Engines compute where they can: on operands of steps in one piece, on scratch, in the tiles' near memory."""
    tiled = allocated.tiled
    bound, platform = tiled.scheduled.bound, tiled.scheduled.bound.platform
    nodes = {node.name: node for node in bound.graph.nodes}
    near = {name: group.tile.hops[-1].near for group in tiled.groups if group.tile.hops for name in group.steps}
    for step in tiled.scheduled.steps:
        engine, node = bound.bindings[step.name].engine, nodes[step.name]
        if step.name in near:
            if not platform.memory(near[step.name]).lets(engine, "rw"):
                yield f"engine '{engine}' of '{step.name}' cannot use memory '{near[step.name]}'"
            continue
        read = [tiled.scheduled.storage[name].buffer for name in node.inputs if name in tiled.scheduled.storage]
        written = [tiled.scheduled.storage[name].buffer for name in node.outputs if name]
        constants = [_stored(name, step.name, allocated) for name in bound.bindings[step.name].constants.values()]
        for name, use in (*((name, "ro") for name in (*read, *constants)), *((name, "rw") for name in written)):
            place = allocated.placements.get(name)
            if place is not None and platform.memory(place.memory).access_by(engine) not in ("rw", use):
                yield f"engine '{engine}' of '{step.name}' cannot use '{name}' in memory '{place.memory}'"


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


class _Numbers:
    """A number for every element that is an input or computed; views have those of what they show."""

    def __init__(self, graph: Graph, layouts: Mapping[str, Layout]) -> None:
        self.graph, self.layouts = graph, layouts
        self.first: dict[str, int] = {}  # value -> number of its first element; ascending
        self.moved: dict[str, Numbers] = {}  # views
        self.following = 1

    def give(self, executed: set[str], operators: Mapping[str, Operator]) -> Iterator[str]:
        """Number everything; a node that is not executed may only move elements."""
        import numpy as np

        for name in self.graph.inputs:
            self._fresh(name)
        for node in self.graph.nodes:
            results = (None,) * len(node.outputs) if node.name in executed else self._view(node, operators)
            for name, result in zip(node.outputs, results, strict=True):
                if result is not None and result.dtype == np.int64 and result.shape == self.graph.tensors[name].shape:
                    self.moved[name] = result
                    continue
                self._fresh(name)
                if result is not None:
                    yield f"node '{node.name}' is not executed, but does more than move elements"

    def of(self, name: str) -> Numbers:
        """The numbers of a value's elements, in its shape."""
        import numpy as np

        if name in self.moved:
            return self.moved[name]
        tensor, first = self.graph.tensors[name], self.first[name]
        return np.arange(first, first + tensor.elements).reshape(tensor.shape)

    def stored(self, name: str) -> Numbers:
        """The number of each byte of a value, in its layout."""
        import numpy as np

        ordered = np.transpose(self.of(name), self.layouts[name]).reshape(-1, 1)
        return (ordered * _WIDEST + np.arange(self.graph.tensors[name].dtype.size_bytes)).reshape(-1)

    def owner(self, number: int) -> str:
        """Whose byte it is."""
        if number == 0:
            return "nothing, or scratch"
        last = bisect_right(list(self.first.values()), number // _WIDEST) - 1
        return f"part of '{list(self.first)[last]}'"

    def _fresh(self, name: str) -> None:
        self.first[name] = self.following
        self.following += self.graph.tensors[name].elements

    def _view(self, node: Node, operators: Mapping[str, Operator]) -> tuple[Numbers, ...]:
        site = self.graph.site(node)
        known = {*self.first, *self.moved}
        inputs = [self.of(name) if name in known else site.constants.get(name) for name in node.inputs]
        return operators[node.op].reference(site, inputs)  # type: ignore[return-value]  # it moves what it gets


class _Replay:
    """One run of all steps over numbers instead of data."""

    def __init__(self, allocated: Allocated, operators: Mapping[str, Operator]) -> None:
        self.allocated, self.operators = allocated, operators
        self.scheduled = allocated.tiled.scheduled
        self.graph = self.scheduled.bound.graph
        self.nodes = {node.name: node for node in self.graph.nodes}
        self.buffers = {buffer.name: buffer for buffer in allocated.tiled.buffers}
        self.readers = self.graph.consumers()
        self.contents = _Contents()
        self.numbers = _Numbers(self.graph, self.scheduled.bound.layouts)

    def faults(self) -> Iterator[str]:
        """What is wrong, in the order of the steps."""
        executed = {name for step in self.scheduled.steps if step.copies for name in step.nodes}
        yield from self.numbers.give(executed, self.operators)
        for name in self.graph.inputs:
            self._write(name)
        yield from (fault for name in self.graph.inputs for fault in self._holds(name, "before the first step"))
        several = [group for group in self.allocated.tiled.groups if len(group.steps) > 1]
        together = {name: group for group in several for name in group.steps}
        for index, step in enumerate(self.scheduled.steps):
            group = together.get(step.name)
            if group is None and step.copies:
                yield from self._run(index, [step])
            elif group is not None and step.name == group.name:
                yield from self._run(index, [one for one in self.scheduled.steps if one.name in group.steps])
        yield from (fault for name in self.graph.outputs for fault in self._holds(name, "after the last step"))
        for name in self.graph.inputs:
            if self._buffer(name).name not in self.allocated.placements:
                yield from self._holds(name, "in the caller's memory, after the last step")

    def _run(self, index: int, steps: list[Step]) -> Iterator[str]:
        """Steps that are tiled together run as one, where the last of them stands."""
        step = steps[-1]
        at = f"at step {index} '{step.name}'"
        reads, writes = self._touched([name for one in steps for name in one.nodes])
        scratch = [
            self._place(buffer)
            for buffer in self.buffers.values()
            if buffer.kind in ("scratch", "tile", "staged") and buffer.first <= index <= buffer.last
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

    def _touched(self, names: list[str]) -> tuple[list[str], list[str]]:
        """Values these nodes read from and write to memory; what stays inside a pattern or a group is neither."""
        nodes = [self.nodes[name] for name in names]
        made = {name for node in nodes for name in node.outputs}
        reads = {name: None for node in nodes for name in node.inputs if name and name not in self.graph.constants}
        writes = [name for node in nodes for name in node.outputs if node is nodes[-1] or self._leaves(name, names)]
        return [name for name in reads if name not in made], writes

    def _leaves(self, name: str, inside: list[str]) -> bool:
        return name in self.graph.outputs or any(node.name not in inside for node in self.readers[name])

    def _in_place(self, step: Step, read: str, written: str, reads: list[str]) -> bool:
        """Whether the kernel may write `written` over `read`: declared, exactly on top of it, element by element."""
        source = self.scheduled.in_place.get(written, "")
        if source not in reads or self._spot(source) != self._spot(written) or self._spot(read) != self._spot(written):
            return False
        if read != source and (self.numbers.stored(read) != self.numbers.stored(source)).any():
            return False
        node = self.nodes[step.name]
        site, operator = self.graph.site(node), self.operators[node.op]
        operand = dict(zip(input_names(operator, site), node.inputs, strict=True))
        result = dict(zip(operator.outputs, node.outputs, strict=False))
        pairs = self.scheduled.bound.bindings[step.name].kernel.in_place(site)
        return any(operand.get(one) == source and result.get(other) == written for one, other in pairs)

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
        return _Spot(region=_region(buffer, place), low=low, high=low + buffer.size_bytes)

    def _spot(self, name: str) -> _Spot:
        buffer, low = self._place(self._buffer(name)), self.scheduled.storage[name].offset_bytes
        size = self.graph.tensors[name].size_bytes
        return _Spot(region=buffer.region, low=buffer.low + low, high=buffer.low + low + size)

    def _write(self, name: str) -> None:
        self.contents.at(self._spot(name))[:] = self.numbers.stored(name)

    def _holds(self, name: str, when: str) -> Iterator[str]:
        if not self._is_stored(name):
            yield f"{when} '{name}' is read, but stored nowhere"
            return
        found = self.contents.at(self._spot(name))
        wrong = (found != self.numbers.stored(name)).nonzero()[0]
        if wrong.size:
            first = int(wrong[0])
            owner = self.numbers.owner(int(found[first]))
            yield f"{when} {wrong.size} B of '{name}' are lost: byte {first} holds {owner}"
