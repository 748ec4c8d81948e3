"""Knows everything that can be wrong with a plan: where buffers are, what steps need there, and what they would read.
Does not know lifetimes, schedulers or solvers, and believes nothing that they say.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tilewright.check.line_buffers.streamed_io import streamed_io_faults
from tilewright.check.plans.alignment import alignment_faults
from tilewright.check.plans.banks import bank_faults
from tilewright.check.plans.dataflow import Replay
from tilewright.check.plans.deferred_waits import deferred_faults
from tilewright.check.plans.placement import alive, placement_faults
from tilewright.check.tiles.checked_plan import core_scratch
from tilewright.ir.graphs.operator import Operator, input_names
from tilewright.ir.plans.stages import Allocated
from tilewright.ir.tensors.layout import same_bytes


def plan_faults(allocated: Allocated, operators: Mapping[str, Operator]) -> tuple[str, ...]:
    """Everything that is wrong with where buffers are and with what steps would read there; empty when nothing is."""
    placed = tuple(placement_faults(allocated))
    if placed:
        return placed  # bytes outside a memory cannot be simulated
    return (
        *_layout_faults(allocated, operators),
        *_scratch_faults(allocated),
        *_access_faults(allocated),
        *_copy_faults(allocated),
        *_home_faults(allocated),
        *alignment_faults(allocated, operators),
        *bank_faults(allocated, operators),
        *streamed_io_faults(allocated),
        *deferred_faults(allocated),
        *Replay(allocated, operators).faults(),
    )


def _layout_faults(allocated: Allocated, operators: Mapping[str, Operator]) -> Iterator[str]:
    """Kernels that take only one layout get it."""
    bound = allocated.tiled.scheduled.bound
    nodes = {node.name: node for node in bound.graph.nodes}
    for step in allocated.tiled.scheduled.steps:
        site, kernel = bound.graph.site(nodes[step.name]), bound.bindings[step.name].kernel
        operator = operators[site.node.op]
        values = dict(zip(input_names(operator, site), site.inputs, strict=True))
        values |= dict(zip(operator.outputs, site.outputs, strict=False))
        for operand, required in bound.layers[step.name].required.items():
            tensor = values.get(operand)
            if tensor is None or tensor.name in bound.graph.constants:
                continue
            if not same_bytes(tensor.shape, required, bound.layouts[tensor.name]):
                yield f"kernel '{kernel.name}' of '{step.name}' takes {operand} only as {required}"


def _scratch_faults(allocated: Allocated) -> Iterator[str]:
    """Steps computed in one piece have the scratch that their kernel asks for, on every core that takes a share."""
    tiled = allocated.tiled
    bound = tiled.scheduled.bound
    scratch = alive(tiled.buffers, "scratch")
    whole = {name for group in tiled.groups if not group.region.together for name in group.steps}
    for index, step in enumerate(tiled.scheduled.steps):
        if step.name not in whole:
            continue
        layer = bound.layers[step.name]
        needed = core_scratch(bound.platform, bound.bindings[step.name].engine, layer.kernel, layer.whole)
        available_bytes = max((buffer.size_bytes for buffer in scratch.get(index, ())), default=0)
        if available_bytes < needed:
            yield f"step '{step.name}' needs {needed} B of scratch and has {available_bytes}"


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
            elif buffer.size_bytes < bound.constants[constant].nbytes or not buffer.first <= index <= buffer.last:
                yield f"constant '{name}' of '{step.name}' is not all there at step {index}"
            elif name != constant and place.memory != allocated.decisions.staged[constant].memory:
                yield f"copy '{name}' is in '{place.memory}'"


def _access_faults(allocated: Allocated) -> Iterator[str]:
    """Engines compute where they can: on operands of steps in one piece, on scratch, in the tiles' scratchpad.

    What has no elements may be anywhere, and a step that writes nothing runs nowhere.
    """
    tiled = allocated.tiled
    bound, platform, storage = tiled.scheduled.bound, tiled.scheduled.bound.platform, tiled.scheduled.storage
    nodes = {node.name: node for node in bound.graph.nodes}
    inner = {name: group.region.hops[-1].inner for group in tiled.groups if group.region.hops for name in group.steps}
    for step in tiled.scheduled.steps:
        engine, node = bound.bindings[step.name].engine, nodes[step.name]
        if step.name in inner:
            if not platform.memory(inner[step.name]).lets(engine, "rw"):
                yield f"engine '{engine}' of '{step.name}' cannot use memory '{inner[step.name]}'"
            continue
        values = (name for name in node.inputs if name in storage)
        read = [storage[name].buffer for name in values if bound.graph.tensors[name].elements]
        written = [storage[name].buffer for name in node.outputs if name and bound.graph.tensors[name].elements]
        if not written:
            continue
        constants = [_stored(name, step.name, allocated) for name in bound.bindings[step.name].constants.values()]
        for name, use in (*((name, "ro") for name in (*read, *constants)), *((name, "rw") for name in written)):
            place = allocated.placements.get(name)
            if place is not None and platform.memory(place.memory).access_by(engine) not in ("rw", use):
                yield f"engine '{engine}' of '{step.name}' cannot use '{name}' in memory '{place.memory}'"


def _home_faults(allocated: Allocated) -> Iterator[str]:
    """Constants that no copy brings to a step in tiles are where its engine reads, and in a memory that its kernel
    names, where it names any.
    """
    tiled = allocated.tiled
    bound = tiled.scheduled.bound
    for group in tiled.groups:
        copies = {key: hop.inner for hop in group.region.hops for key in hop.copies}
        keys = {f"{step}.{item}": name for step in group.steps for item, name in bound.bindings[step].constants.items()}
        copied = {keys[key]: inner for key, inner in copies.items() if key in keys}  # for all steps that read it
        for step in group.steps:
            binding = bound.bindings[step]
            for operand, constant in binding.constants.items():
                place = allocated.placements.get(_stored(constant, step, allocated))
                named = binding.kernel.memories.get(operand, ())
                where = copied.get(constant, place.memory if place else "")
                if place is None or not bound.constants[constant].nbytes:
                    continue
                if named and where not in named:
                    wanted = " or ".join(named)
                    yield f"kernel '{binding.kernel.name}' of '{step}' reads {operand} in '{where}', not in {wanted}"
                elif bound.platform.memory(where).access_by(binding.engine) not in ("rw", "ro"):
                    yield f"engine '{binding.engine}' of '{step}' cannot read {operand} in memory '{where}'"
