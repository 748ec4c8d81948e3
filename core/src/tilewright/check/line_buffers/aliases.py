"""Knows whether an output that takes bytes of what its region reads takes them too early, call by call.
Does not know how far apart the two have to be, nor where they are: it is told a distance, and tries it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tilewright.check.tiles.calls import CheckedStep
from tilewright.check.tiles.checked_plan import BackingOperand, CheckedPlan
from tilewright.ir.plans.region import LineBuffer, LineBuffers, Region
from tilewright.ir.tensors.layout import strides

Box = Mapping[str, tuple[int, int]]  # loop -> trips


@dataclass(slots=True)
class OverlayReplay:
    """Bytes count from the start of the output's buffer; that of the value it is over begins `apart_bytes` after it."""

    value: str
    over: str
    apart_bytes: int  # as near as the two may be; may be negative where rows are computed backward
    backward: bool
    buffer: str  # of what it is over
    inner: frozenset[str]  # values that are in no buffer but the region's own
    edge_bytes: int | None = None  # up to where the output is stored, from the side on which its rows begin

    def store(self, step: CheckedStep, box: Box) -> None:
        """What a call writes, where it is the output."""
        for item in step.outputs:
            if item.value != self.value:
                continue
            first, end = _ends(step, item, box)
            if self.backward:
                self.edge_bytes = first if self.edge_bytes is None else min(self.edge_bytes, first)
            else:
                self.edge_bytes = end if self.edge_bytes is None else max(self.edge_bytes, end)

    def fault(self, step: CheckedStep, box: Box) -> str:
        """Why a call would read what is no longer there; the call's own results count as stored."""
        for item in step.operands:
            if item.written or item.buffer != self.buffer or item.value in self.inner:
                continue
            first, end = _ends(step, item, box)
            if first < end and self._taken(first + self.apart_bytes, end + self.apart_bytes):
                return f"step '{step.name}' reads bytes of '{item.value}' that '{self.value}' has taken"
        return ""

    def _taken(self, first: int, end: int) -> bool:
        """Whether the output is stored in some of these bytes."""
        if self.edge_bytes is None:
            return False
        return end > self.edge_bytes if self.backward else first < self.edge_bytes


def overlay_replay(
    plan: CheckedPlan, region: Region, schedule: LineBuffers, steps: Sequence[CheckedStep]
) -> OverlayReplay | None:
    """Of the last step's output, at the beginning; None where it has bytes of its own."""
    output = steps[-1].outputs[0]
    buffer = schedule.buffers.get(output.value)
    over = next(
        (operand for step in steps for operand in step.operands if buffer and _is(plan, operand.value, buffer.aliases)),
        None,
    )
    if buffer is None or over is None:
        return None
    return OverlayReplay(
        value=output.value,
        over=over.value,
        apart_bytes=_apart(plan, buffer, output, over) if schedule.backward else buffer.distance_bytes,
        backward=schedule.backward,
        buffer=over.buffer,
        inner=plan.tiled.scheduled.with_views(region.unmaterialised),
    )


def _is(plan: CheckedPlan, read: str, over: str) -> bool:
    """Whether what is read is a value, or shows its bytes."""
    return over in (read, plan.views.get(read))


def _apart(plan: CheckedPlan, buffer: LineBuffer, output: BackingOperand, over: BackingOperand) -> int:
    """From the start of the output's buffer to that of the other, where it ends just behind the end of that one."""
    sizes = [plan.buffers[item.buffer].size_bytes for item in (output, over)]
    return sizes[0] - buffer.distance_bytes - sizes[1]


def _ends(step: CheckedStep, item: BackingOperand, box: Box) -> tuple[int, int]:
    """The first byte of its buffer that a call touches of an operand, and the end of the last; equal where none."""
    spans = [
        (max(span.low, 0), min(span.high, extent))
        for span, extent in zip(step.access.window(item.name, box), item.shape, strict=True)
    ]
    if any(low >= high for low, high in spans):
        return 0, 0
    steps = strides(item.shape, item.layout)
    first, last = (sum(at * by for at, by in zip(ends, steps, strict=True)) for ends in _corners(spans))
    return item.offset_bytes + first * item.item_bytes, item.offset_bytes + (last + 1) * item.item_bytes


def _corners(spans: Sequence[tuple[int, int]]) -> tuple[list[int], list[int]]:
    return [low for low, _ in spans], [high - 1 for _, high in spans]
