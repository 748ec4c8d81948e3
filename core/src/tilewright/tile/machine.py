"""Knows a schedule on a platform: what every step reads and writes, in which memory each operand lives, what decisions
have pinned there, and how operands cross from memory to memory.
Does not know tiles, nor what a step takes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate
from math import prod
from types import MappingProxyType

from tilewright.ir.access.index_map import Access
from tilewright.ir.graphs.graph import Node
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.machines.kernel import Kernel, Matched
from tilewright.ir.machines.platform import CopyPath, Engine, Platform, reachable
from tilewright.ir.machines.routes import copy_grain
from tilewright.ir.plans.constant_copies import copying, path_to
from tilewright.ir.plans.constant_homes import homes_of
from tilewright.ir.plans.decisions import OUTSIDE, Decisions
from tilewright.ir.plans.operand_aligns import aligns_of
from tilewright.ir.plans.stages import Buffer, Scheduled, Step
from tilewright.ir.rounding import align_up
from tilewright.ir.tensors.dtypes import DType
from tilewright.ir.tensors.layout import Layout, row_major
from tilewright.tile.memory_path import HopMemories, MemoryPath

NOTHING: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class StepOperand:
    """An operand of a step: its bytes, and where they live."""

    name: str
    value: str  # tensor, or stored constant
    shape: tuple[int, ...]
    layout: Layout
    item_bytes: int
    memory: str
    offset_bytes: int  # in its buffer
    written: bool
    constant: bool
    buffer: str = ""  # that it is in; "" for a constant
    stays: bool = False  # read where it lives: its kernel says so, and its engine reaches it


class ScheduledMachine:
    """A schedule on a platform, and what decisions have pinned in its memories."""

    def __init__(self, scheduled: Scheduled, operators: Mapping[str, Operator], decisions: Decisions) -> None:
        self.scheduled, self.operators, self.decisions = scheduled, operators, decisions
        self.bound = scheduled.bound
        self.platform: Platform = scheduled.bound.platform
        self.memory_path = MemoryPath(self.platform)
        self.nodes: dict[str, Node] = {node.name: node for node in self.bound.graph.nodes}
        self.numbers = {step.name: number for number, step in enumerate(scheduled.steps)}
        self._sites: dict[str, Matched] = {}  # by step
        self._decided: dict[str, tuple[StepOperand, ...]] = {}  # by step

    @cached_property
    def consumers(self) -> Mapping[str, Sequence[Node]]:
        """By value the nodes that read it."""
        return self.bound.graph.consumers()

    @cached_property
    def hops(self) -> tuple[HopMemories, ...]:
        """From the backing memory to the scratchpad, outermost first."""
        return self.memory_path.hops

    @cached_property
    def homes(self) -> Mapping[str, tuple[str, ...]]:
        """The constants that engines read where they live, and in which memories."""
        return homes_of(self.bound)

    def kept_in(self, constant: str) -> tuple[str, ...]:
        """The const memories that a constant has to be in; () where it may be in any, or is copied from there."""
        staging, platform = self.decisions.staged.get(constant), self.platform
        if staging is None:
            return self.homes.get(constant, ())
        if copying(platform, staging.memory) != "path":
            return ()
        sources = (memory.name for memory in platform.of_kind("const"))
        return tuple(name for name in sources if path_to(platform, name, staging.memory))

    def site(self, step: Step) -> Matched:
        """The node that gives the step its name."""
        if step.name not in self._sites:
            self._sites[step.name] = self.bound.site(self.nodes[step.name])
        return self._sites[step.name]

    def engine(self, name: str) -> Engine:
        """By name."""
        return next(engine for engine in self.platform.engines if engine.name == name)

    def engine_of(self, index: int) -> Engine:
        """Of step `index`, taking less to begin where the code of its kernel is in the cache."""
        steps, binding = self.scheduled.steps, self.bound.bindings[self.scheduled.steps[index].name]
        engine = self.engine(binding.engine)
        before = (self.bound.bindings[step.name] for step in steps[max(index - engine.kept_steps, 0) : index])
        if engine.kept_code_cycles is None or all(other.kernel.name != binding.kernel.name for other in before):
            return engine
        return replace(engine, step_cycles=engine.step_cycles - engine.kept_code_cycles(binding.kernel))

    def access(self, step: Step) -> Access:
        """The access of the step's kernel."""
        return self.bound.layers[step.name].access

    def operands(self, step: Step, resident: Mapping[str, str] = NOTHING) -> tuple[StepOperand, ...]:
        """Inputs, packed constants, outputs. `resident` has buffers that are not where decided, and their memory."""
        if step.name not in self._decided:
            self._decided[step.name] = tuple(self._as_decided(step))
        result, stays = self._decided[step.name], self.bound.layers[step.name].stays
        if not stays and resident.keys().isdisjoint(operand.buffer for operand in result):
            return result
        moved = (
            replace(operand, memory=resident[operand.buffer]) if operand.buffer in resident else operand
            for operand in result
        )
        read_in_place = (
            (operand, operand.name in stays and reachable(self.platform, operand.memory)) for operand in moved
        )
        return tuple(replace(operand, stays=True) if read_there else operand for operand, read_there in read_in_place)

    def _as_decided(self, step: Step) -> Iterator[StepOperand]:
        """Operands where decisions have them, as if none stayed there."""
        site, binding = self.site(step), self.bound.bindings[step.name]
        for source in self.bound.layers[step.name].sources(site):
            if source.operand in binding.constants:
                yield self._constant(source.operand, binding.constants[source.operand])
            else:
                yield self._value(source.operand, source.tensor, written=False)
        outputs = zip(self.operators[site.node.op].outputs, site.node.outputs, strict=False)
        yield from (self._value(operand, value, written=True) for operand, value in outputs if value)

    def _constant(self, operand: str, name: str) -> StepOperand:
        array, staging = self.bound.constants[name], self.decisions.staged.get(name)
        (home, *_) = self.homes.get(name, (self.memory_path.constant_memory,))
        return StepOperand(
            name=operand,
            value=name,
            shape=tuple(array.shape),
            layout=row_major(array.ndim),
            item_bytes=DType.from_numpy(array.dtype).size_bytes,
            memory=staging.memory if staging else self.decisions.memories.get(name, home),
            offset_bytes=0,
            written=False,
            constant=True,
            stays=name in self.homes,
        )

    def _value(self, operand: str, name: str, *, written: bool) -> StepOperand:
        tensor, storage = self.bound.graph.tensors[name], self.scheduled.storage[name]
        return StepOperand(
            name=operand,
            value=name,
            shape=tensor.shape,
            layout=self.bound.layouts[name],
            item_bytes=tensor.dtype.size_bytes,
            memory=self._pinned_to.get(storage.buffer, self.platform.backing_memory().name),
            buffer=storage.buffer,
            offset_bytes=storage.offset_bytes,
            written=written,
            constant=False,
        )

    @cached_property
    def _pinned_to(self) -> Mapping[str, str]:
        """By buffer the memory that one of its values is pinned to, and so all of them."""
        pins = self.decisions.memories
        result = ((buffer.name, (*buffer.values, buffer.name)) for buffer in self.scheduled.buffers)
        return {buffer: pins[name] for buffer, names in result for name in names if name in pins}

    def ends(self, step: str) -> int:
        """The number of the step behind which a step's engine is waited for: its own, unless that is deferred."""
        return self.numbers[self.scheduled.deferred.get(step, step)]

    def apart(self, first: int, count: int) -> bool:
        """Whether steps cannot be one group, because one is waited for later, or another one inside of it."""
        deferred = self.scheduled.deferred
        names = [step.name for step in self.scheduled.steps[first : first + count]] if deferred else []
        behind = {*deferred.values()}
        return any(name in deferred for name in names) or any(name in behind for name in names[:-1])

    def available_bytes(self, memory: str, index: int) -> int | None:
        """Bytes of a memory that tiles of step `index` may take: its size less the runtime, what is pinned there, and
        what belongs to jobs that run beside the step. Tiles of a kernel that wants operands in banks may take as much
        as a bank has: so they have places there, whatever their sizes are.
        """
        limit = self.platform.memory(memory).size_bytes
        if limit is None:
            return None
        taken = self._pinned_bytes[memory][index] if memory in self._pinned_bytes else 0
        taken += sum(self.whole_bytes(job, memory) for job in self._jobs_beside(index))
        left = limit - self.platform.runtime_bytes.get(memory, 0) - taken
        bank_bytes = self.platform.memory(memory).bank_bytes
        banked = bool(bank_bytes and self.bound.bindings[self.scheduled.steps[index].name].kernel.banks)
        return min(left, bank_bytes) if banked else left

    def has_padding(self, operand: StepOperand) -> bool:
        """Whether what a copy moves behind the last byte of an operand is padding: the plan owns its buffer, which ends
        there.
        """
        if operand.constant or copy_grain(self.platform) == 1:
            return True
        end = operand.offset_bytes + operand.item_bytes * prod(operand.shape)
        return self._padded_ends.get(operand.buffer) == end

    @cached_property
    def _padded_ends(self) -> Mapping[str, int]:
        """Where values end, and padding begins, in each buffer of the plan's."""
        storage, tensors, io = self.scheduled.storage, self.bound.graph.tensors, self.decisions.io
        return {
            buffer.name: max(storage[value].offset_bytes + tensors[value].size_bytes for value in buffer.values)
            for buffer in self.scheduled.buffers
            if all(io.get(value) not in OUTSIDE for value in buffer.values)
        }

    def taken_bytes(self, buffer: Buffer, memory: str) -> int:
        """What a buffer takes of a memory: its size, up to where the next may begin."""
        return align_up(buffer.size_bytes, max(buffer.align, self.grain(memory)))

    @cached_property
    def pinned(self) -> Mapping[str, tuple[Buffer, ...]]:
        """Buffers of values by the memory that they are pinned to."""
        buffers: dict[str, tuple[Buffer, ...]] = {}
        for buffer in self.scheduled.buffers:
            for memory in {self.decisions.memories.get(name, "") for name in (buffer.name, *buffer.values)} - {""}:
                buffers[memory] = (*buffers.get(memory, ()), buffer)
        return buffers

    @cached_property
    def _pinned_bytes(self) -> Mapping[str, Sequence[int]]:
        """By memory, what these buffers take of it at each step."""
        result: dict[str, Sequence[int]] = {}
        for memory, buffers in self.pinned.items():
            begun = [0] * (len(self.scheduled.steps) + 1)
            for buffer in buffers:
                begun[buffer.first] += self.taken_bytes(buffer, memory)
                begun[buffer.last + 1] -= self.taken_bytes(buffer, memory)
            result[memory] = tuple(accumulate(begun))
        return result

    @cached_property
    def aligns(self) -> Mapping[str, int]:
        """What kernels want the addresses of values and constants to be multiples of; see `aligns_of`."""
        return aligns_of(self.bound, self.operators)

    def tile_grain(self, step: str, memory: str) -> int:
        """The same of the tile buffers of one step: each is aligned for itself, and takes as much as if all were."""
        return max(self.grain(memory), *self.bound.bindings[step].kernel.align.values(), 1)

    def whole_bytes(self, step: Step, memory: str) -> int:
        """What a step in one tile takes of a memory at the end of a hop, its operands being copied there."""
        scratch = self.bound.bindings[step.name].kernel.scratch_bytes(self.bound.layers[step.name].whole)
        own = align_up(scratch, self.grain(memory)) if memory == self.platform.inner else 0
        return own + sum(size for _, size in self._copied(step, memory))

    def spared_bytes(self, memory: str, index: int, resident: Collection[str]) -> int:
        """What jobs beside step `index` do not take of a memory, since these buffers are there whole."""
        if not self.scheduled.deferred:
            return 0
        kept = {
            buffer.name: self.taken_bytes(buffer, memory)
            for buffer in self.scheduled.buffers
            if buffer.name in resident
        }
        spared = 0
        for job in self._jobs_beside(index):
            copied = [(item.buffer, size) for item, size in self._copied(job, memory)]
            for name, size in kept.items():
                spared += min(size, sum(own for buffer, own in copied if buffer == name))
        return spared

    def _copied(self, step: Step, memory: str) -> Iterator[tuple[StepOperand, int]]:
        """The operands of a step that cross to a memory, and the bytes that they take there as wholes."""
        kernel, grain = self.bound.bindings[step.name].kernel, self.grain(memory)
        for item in self.operands(step):
            if self.path(item, kernel, memory) is not None:
                yield item, align_up(item.item_bytes * prod(item.shape), grain)

    def _jobs_beside(self, index: int) -> Iterator[Step]:
        """The steps that an engine computes while step `index` runs."""
        for name in self.scheduled.deferred:
            if self.numbers[name] < index <= self.ends(name):
                yield self.scheduled.steps[self.numbers[name]]

    def grain(self, memory: str) -> int:
        """Tile buffers in a memory begin at multiples of this."""
        return max(self.platform.buffer_align, 8, copy_grain(self.platform, (memory,)))

    def path(self, operand: StepOperand, kernel: Kernel, inner: str, memory: str = "") -> CopyPath | None:
        """How the operand crosses to that end of a hop, if it is in `memory` and not where it is; None: it does not."""
        if operand.stays or (inner == self.platform.inner and inner not in kernel.memories.get(operand.name, (inner,))):
            return None
        return self.memory_path.crossing(memory or operand.memory, inner, written=operand.written)
