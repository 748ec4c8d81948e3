"""Knows whether kernels find their operands at the addresses that they want (`Kernel.align`), tile by tile.
Does not know why buffers are aligned as they are, and asks no planner.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product

from tilewright.ir.graphs.operator import Operator, input_names
from tilewright.ir.plans.region import Region
from tilewright.ir.plans.stages import Allocated
from tilewright.ir.tensors.layout import row_major, strides


def alignment_faults(allocated: Allocated, operators: Mapping[str, Operator]) -> Iterator[str]:
    """Every operand that begins where its kernel cannot take it: in its tile buffers, or where it lives."""
    bound = allocated.tiled.scheduled.bound
    for group in allocated.tiled.groups:
        for step in group.steps:
            kernel = bound.bindings[step].kernel
            if not kernel.align:
                continue
            addresses = OperandAddresses(allocated, operators, group.region, step)
            for operand, align in kernel.align.items():
                wrong = next((at for at in addresses.of(operand) if at.memory_align % align or at.offset % align), None)
                if wrong is not None:
                    where = f"at {wrong.offset} of memory '{wrong.memory}'"
                    yield f"kernel '{kernel.name}' of '{step}' finds {operand} {where}, no multiple of {align} bytes"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Address:
    memory: str
    memory_align: int
    offset: int


@dataclass(frozen=True, slots=True)
class OperandAddresses:
    """Where the operands of one step begin."""

    allocated: Allocated
    operators: Mapping[str, Operator]
    region: Region
    step: str

    def of(self, operand: str) -> Iterator[_Address]:
        """Of each of its tile buffers; of each tile where it lives; nothing where the step has no such operand."""
        if operand == "scratch":
            yield from self._at(f"{self.region.name}.scratch", 0)
            return
        name, own = self.names.get(operand, ""), self.tiles_of(operand)
        for buffer in own:
            yield from self._at(buffer, 0)
        if not own and name:
            yield from self._where_it_lives(operand, name)

    def tiles_of(self, operand: str) -> list[str]:
        """The tile buffers of an operand."""
        keys = (f"{self.step}.{operand}", *self._others(operand))
        near = tuple(f"{key}@{hop.inner}#" for hop in self.region.hops[-1:] for key in keys)
        return [buffer.name for buffer in self.allocated.tiled.buffers if near and buffer.name.startswith(near)]

    def _where_it_lives(self, operand: str, name: str) -> Iterator[_Address]:
        scheduled = self.allocated.tiled.scheduled
        bound, storage = scheduled.bound, scheduled.storage.get(name)
        if storage is not None:
            tensor, layout = bound.graph.tensors[name], bound.layouts[name]
            shape, item_bytes = tensor.shape, tensor.dtype.size_bytes
            buffer, start = storage.buffer, storage.offset_bytes
        else:
            array, staging = bound.constants[name], self.allocated.decisions.staged.get(name)
            shape, layout, item_bytes, start = array.shape, row_major(array.ndim), array.itemsize, 0
            buffer = name if staging is None else f"{name}@{staging.memory}"
            buffer += f"#{self.step}" if staging is not None and staging.when == "use" else ""
        access, steps = bound.layers[self.step].access, strides(shape, layout)
        cuts = self._cuts if len(self.region.steps) == 1 else {}
        for lows in product(*(range(0, loop.extent, cuts.get(loop.name, loop.extent)) for loop in access.loops)):
            low = {loop.name: (at, at + 1) for loop, at in zip(access.loops, lows, strict=True)}
            window = access.window(operand, low if cuts else {loop.name: (0, loop.extent) for loop in access.loops})
            yield from self._at(
                buffer, start + item_bytes * sum(axis.low * step for axis, step in zip(window, steps, strict=True))
            )

    def _at(self, buffer: str, start: int) -> Iterator[_Address]:
        place = self.allocated.placements.get(buffer)
        if place is not None:  # else it is the caller's
            memory = self.allocated.tiled.scheduled.bound.platform.memory(place.memory)
            ours = memory.managed_by == "tilewright"
            yield _Address(
                memory=memory.name, memory_align=memory.align if ours else 1 << 30, offset=place.offset_bytes + start
            )

    @property
    def _cuts(self) -> Mapping[str, int]:
        """The sizes of the tiles that are computed."""
        return {cut.loop: cut.size for hop in self.region.hops for cut in hop.nest}

    def _others(self, operand: str) -> Iterator[str]:
        """What other steps of the region call the same value or constant, which one copy brings for all of them."""
        mine = self.names.get(operand)
        for step in self.region.steps:
            if step != self.step:
                theirs = OperandAddresses(self.allocated, self.operators, self.region, step).names
                yield from (f"{step}.{name}" for name, value in theirs.items() if value == mine)

    @property
    def names(self) -> Mapping[str, str]:
        """By operand the value, or the stored constant."""
        bound = self.allocated.tiled.scheduled.bound
        node = next(node for node in bound.graph.nodes if node.name == self.step)
        site, operator = bound.graph.site(node), self.operators[node.op]
        inputs = zip(input_names(operator, site), site.inputs, strict=True)
        outputs = zip(operator.outputs, site.outputs, strict=False)
        values = {operand: tensor.name for operand, tensor in (*inputs, *outputs) if tensor is not None}
        return {**values, **bound.bindings[self.step].constants}
