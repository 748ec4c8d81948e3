"""Knows what the checkers of tilings need: a plan by name, where operands live, and what a copy engine would not take.
Does not know tiles.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tilewright.access import Window
from tilewright.dtypes import DType
from tilewright.graph import Node
from tilewright.layout import Layout, row_major, strides
from tilewright.operands import input_operands
from tilewright.operator import Operator
from tilewright.platform import CopyPath, Platform
from tilewright.stages import Buffer, Tiled


@dataclass(frozen=True, slots=True, kw_only=True)
class HomeOperand:
    """An operand and where its bytes are outside the near memories."""

    name: str
    value: str  # tensor, or stored constant
    shape: tuple[int, ...]
    layout: Layout
    item_bytes: int
    memories: tuple[str, ...]  # it may come from any of these
    buffer: str
    offset_bytes: int
    written: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is checked, found by name."""

    tiled: Tiled
    operators: Mapping[str, Operator]
    nodes: Mapping[str, Node]
    buffers: Mapping[str, Buffer]
    numbers: Mapping[str, int]  # of steps


def operands_of(plan: Plan, node: Node) -> tuple[HomeOperand, ...]:
    """Every operand of a step, inputs first; values that no buffer holds have no memories."""
    bound = plan.tiled.scheduled.bound
    site, binding, operator = bound.graph.site(node), bound.bindings[node.name], plan.operators[node.op]
    found = [
        _constant(plan, source.operand, binding.constants[source.operand])
        if source.operand in binding.constants
        else _value(plan, source.operand, source.tensor, written=False)
        for source in input_operands(operator, binding.kernel, site)
    ]
    outputs = zip(operator.outputs, node.outputs, strict=False)
    return (*found, *(_value(plan, name, value, written=True) for name, value in outputs if value))


def _constant(plan: Plan, operand: str, name: str) -> HomeOperand:
    array = plan.tiled.scheduled.bound.constants[name]
    return HomeOperand(
        name=operand,
        value=name,
        shape=tuple(array.shape),
        layout=row_major(array.ndim),
        item_bytes=DType.from_numpy(array.dtype).size_bytes,
        memories=plan.buffers[name].memories,
        buffer=name,
        offset_bytes=0,
        written=False,
    )


def _value(plan: Plan, operand: str, name: str, *, written: bool) -> HomeOperand:
    scheduled = plan.tiled.scheduled
    tensor, storage = scheduled.bound.graph.tensors[name], scheduled.storage[name]
    return HomeOperand(
        name=operand,
        value=name,
        shape=tensor.shape,
        layout=scheduled.bound.layouts[name],
        item_bytes=tensor.dtype.size_bytes,
        memories=plan.buffers[storage.buffer].memories if storage.buffer in plan.buffers else (),
        buffer=storage.buffer,
        offset_bytes=storage.offset_bytes,
        written=written,
    )


def slices(window: Window) -> tuple[slice, ...]:
    return tuple(slice(span.low, span.high) for span in window)


def bytes_of(operand: HomeOperand, window: Window) -> npt.NDArray[np.int64]:
    """Where the window's bytes are in the operand's buffer."""
    place = np.zeros((), np.int64)
    for span, step in zip(window, strides(operand.shape, operand.layout), strict=True):
        place = np.add.outer(place, np.arange(span.low, span.high) * step)
    place = np.add.outer(place * operand.item_bytes + operand.offset_bytes, np.arange(operand.item_bytes))
    return place.reshape(-1)


def copy_path_of(platform: Platform, far: str, near: str, written: bool) -> CopyPath | None:
    ends = (near, far) if written else (far, near)
    return next((path for path in platform.copies if (path.source, path.target) == ends), None)


def transfer_fault(
    operand: HomeOperand, window: Window, path: CopyPath, sides: tuple[tuple[int, ...], tuple[int, ...], int]
) -> str:
    """What the copy engine would not take; empty when nothing. What is too long goes in pieces."""
    far_room, near_room, offset = sides
    extents = [span.extent for span in window]
    if 0 in extents:
        return ""
    far, near = strides(far_room, operand.layout), strides(near_room, operand.layout)
    run = 1
    gaps: list[int] = []
    for axis in reversed(operand.layout):  # innermost first: as long as both sides go on without a gap it is one run
        if extents[axis] == 1:
            continue
        if not gaps and far[axis] == near[axis] == run:
            run *= extents[axis]
        else:
            gaps.append(axis)
    run_bytes = run * operand.item_bytes
    if path.max_bytes is not None and (path.max_bytes < path.align or path.max_bytes < operand.item_bytes):
        return f"no run of {operand.name} is short enough: '{path.source}' to '{path.target}' takes {path.max_bytes} B"
    first = offset + sum(span.low * step for span, step in zip(window, far, strict=True)) * operand.item_bytes
    steps = [side[axis] * operand.item_bytes for axis in gaps for side in (far, near)]
    if any(number % path.align for number in (run_bytes, first, *steps)):
        return f"a transfer of {operand.name} is not aligned to {path.align} B, as '{path.source}' to " \
               f"'{path.target}' demands"  # fmt: skip
    return ""
