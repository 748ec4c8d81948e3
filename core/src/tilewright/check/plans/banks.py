"""Knows whether kernels find their operands in the banks that they want (`Kernel.banks`), from places alone.
Does not know how banks were chosen, and asks no planner.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

from tilewright.check.plans.alignment import OperandAddresses
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.plans.region import Region
from tilewright.ir.plans.stages import Allocated

Bank = tuple[str, int]  # memory, number


def bank_faults(allocated: Allocated, operators: Mapping[str, Operator]) -> Iterator[str]:
    """Every operand that is in several banks, or in one with another that is to be apart from it."""
    bound = allocated.tiled.scheduled.bound
    for group in allocated.tiled.groups:
        for step in group.steps:
            kernel = bound.bindings[step].kernel
            for together in kernel.banks:
                operands = OperandAddresses(allocated, operators, group.region, step)
                found = {operand: list(_banks(operand, operands, allocated, group.region)) for operand in together}
                yield from (f"kernel '{kernel.name}' of '{step}' finds {fault}" for fault in _faults(found))


def _faults(found: Mapping[str, Sequence[set[Bank]]]) -> Iterator[str]:
    """By operand the banks of each of its buffers."""
    for operand, buffers in found.items():
        if any(len(own) > 1 for own in buffers):
            yield f"{operand} in several banks"
    every = {operand: {bank for own in buffers for bank in own} for operand, buffers in found.items()}
    for left, right in combinations(every, 2):
        for memory, number in sorted(every[left] & every[right]):
            yield f"{left} and {right} in bank {number} of memory '{memory}'"


def _banks(operand: str, operands: OperandAddresses, allocated: Allocated, region: Region) -> Iterator[set[Bank]]:
    """Of each buffer of an operand the banks that have bytes of it; nothing of one in a memory without banks."""
    for name, start, size in _spans(operand, operands, allocated, region):
        place = allocated.placements.get(name)
        memory = allocated.tiled.scheduled.bound.platform.memory(place.memory) if place else None
        if place and memory and memory.bank_bytes and size:
            low = place.offset_bytes + start
            yield {(memory.name, byte // memory.bank_bytes) for byte in range(low, low + size, memory.bank_bytes)} | {
                (memory.name, (low + size - 1) // memory.bank_bytes)
            }


def _spans(
    operand: str, operands: OperandAddresses, allocated: Allocated, region: Region
) -> Iterator[tuple[str, int, int]]:
    """Buffer, first byte and bytes of it, wherever the operand is."""
    sizes = {buffer.name: buffer.size_bytes for buffer in allocated.tiled.buffers}
    scheduled = allocated.tiled.scheduled
    near = [f"{region.name}.scratch"] if operand == "scratch" else operands.tiles_of(operand)
    yield from ((name, 0, sizes[name]) for name in near if name in sizes)
    name = operands.names.get(operand, "")
    if near or not name:
        return
    if (storage := scheduled.storage.get(name)) is not None:
        yield storage.buffer, storage.offset_bytes, scheduled.bound.graph.tensors[name].size_bytes
    else:
        yield from ((buffer, 0, sizes[buffer]) for buffer in sizes if buffer.split("@")[0] == name)
