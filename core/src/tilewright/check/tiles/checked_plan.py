"""Knows what the checker of tilings needs: a plan by name, where operands live, who reads a value through its views,
what scratch the cores need together, and what a copy engine would not take. Does not know tiles, and shares no
arithmetic with what reserves scratch.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
import numpy.typing as npt

from tilewright.ir.graphs.graph import Node, Site
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.machines.core_shares import share
from tilewright.ir.machines.kernel import Kernel, TileShape
from tilewright.ir.machines.platform import CopyPath, Platform
from tilewright.ir.plans.stages import Buffer, Scheduled, Tiled
from tilewright.ir.rounding import align_up, ceil_div
from tilewright.ir.tensors.layout import Layout, row_major, strides


@dataclass(frozen=True, slots=True, kw_only=True)
class BackingOperand:
    """An operand and where its bytes are outside the scratchpads."""

    name: str
    value: str  # tensor, or stored constant
    shape: tuple[int, ...]
    layout: Layout
    item_bytes: int
    memories: tuple[str, ...]  # it may come from any of these
    buffer: str
    offset_bytes: int
    written: bool

    def bytes_in(self, shape: Sequence[int]) -> int:
        """Bytes of an array of its elements with this shape."""
        return self.item_bytes * prod(shape)


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedPlan:
    """What is checked, found by name."""

    tiled: Tiled
    operators: Mapping[str, Operator]
    nodes: Mapping[str, Node]
    buffers: Mapping[str, Buffer]
    numbers: Mapping[str, int]  # of steps
    views: Mapping[str, str]  # see `Scheduled.views`
    readers: ViewReaders

    @property
    def platform(self) -> Platform:
        """The machine that it is for."""
        return self.tiled.scheduled.bound.platform

    def buffer_faults(self, name: str, memory: str, needed: int, number: int) -> Iterator[str]:
        """A tile buffer that is there during a step, in that memory, with at least as many bytes."""
        buffer = self.buffers.get(name)
        if buffer is None or buffer.kind != "tile" or buffer.memories != (memory,):
            yield f"tile buffer '{name}' is not there, or not in memory '{memory}'"
        elif buffer.size_bytes < needed:
            yield f"tile buffer '{name}' has {buffer.size_bytes} B, its largest tile {needed} B"
        elif not buffer.first <= number <= buffer.last:
            yield f"tile buffer '{name}' is not alive where the region runs"


def operands_of(plan: CheckedPlan, site: Site) -> tuple[BackingOperand, ...]:
    """Every operand of a step, inputs first; values that no buffer holds have no memories."""
    binding, operator = plan.tiled.scheduled.bound.bindings[site.node.name], plan.operators[site.node.op]
    inputs = [
        _constant(plan, source.operand, binding.constants[source.operand])
        if source.operand in binding.constants
        else _value(plan, source.operand, source.tensor, written=False)
        for source in plan.tiled.scheduled.bound.layers[site.node.name].sources(site)
    ]
    outputs = zip(operator.outputs, site.node.outputs, strict=False)
    return (*inputs, *(_value(plan, name, value, written=True) for name, value in outputs if value))


def _constant(plan: CheckedPlan, operand: str, name: str) -> BackingOperand:
    array = plan.tiled.scheduled.bound.constants[name]
    resident = (buffer for buffer in plan.buffers.values() if buffer.kind == "resident")
    copies = [buffer for buffer in resident if buffer.name.startswith(f"{name}@")]
    return BackingOperand(
        name=operand,
        value=name,
        shape=tuple(array.shape),
        layout=row_major(array.ndim),
        item_bytes=array.itemsize,
        memories=(copies or [plan.buffers[name]])[0].memories,
        buffer=name,
        offset_bytes=0,
        written=False,
    )


def _value(plan: CheckedPlan, operand: str, name: str, *, written: bool) -> BackingOperand:
    scheduled = plan.tiled.scheduled
    tensor, storage = scheduled.bound.graph.tensors[name], scheduled.storage[name]
    return BackingOperand(
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


def copy_path_of(platform: Platform, outer: str, inner: str, written: bool) -> CopyPath | None:
    """What copies an operand over a hop: towards the scratchpad, or back."""
    ends = (inner, outer) if written else (outer, inner)
    return next((path for path in platform.copies if (path.source, path.target) == ends), None)


def transfer_fault(
    item: BackingOperand,
    extents: Sequence[int],
    starts: Sequence[int],
    shapes: Sequence[Sequence[int]],
    path: CopyPath,
    *,
    last: bool = False,
    behind_bytes: int = 0,
) -> str:
    """What the copy engine would not take; empty when nothing. What is too long goes in pieces.

    `starts` is where the far side and the near side begin, in bytes; `shapes` what each has of the operand. What is
    moved beside the window has to be `behind_bytes` that are free for that behind the operand on the far side, which
    the window ends with where it is the `last`; or, of what is read, other bytes of the operand.
    """
    if 0 in extents:
        return ""
    outer, inner = (strides(shape, item.layout) for shape in shapes)
    run = 1
    gaps: list[int] = []
    for axis in reversed(item.layout):  # innermost first: as long as both sides go on without a gap it is one run
        if extents[axis] == 1:
            continue
        if not gaps and outer[axis] == inner[axis] == run:
            run *= extents[axis]
        else:
            gaps.append(axis)
    if path.max_bytes is not None and (path.max_bytes < path.align or path.max_bytes < item.item_bytes):
        return f"no run of {item.name} is short enough: '{path.source}' to '{path.target}' takes {path.max_bytes} B"
    steps = [side[axis] * item.item_bytes for axis in gaps for side in (outer, inner)]
    more = -run * item.item_bytes % path.align
    missing = -item.bytes_in(shapes[0]) % path.align > behind_bytes if not gaps else item.written
    if any(number % path.align for number in (*starts, *steps)) or (more and missing):
        return f"a transfer of {item.name} is not aligned to {path.align} B, as '{path.source}' to " \
               f"'{path.target}' demands"  # fmt: skip
    if more and item.written and not last:
        return f"a transfer of {item.name} stores {more} B too much over what follows"
    return ""


def grain_of(platform: Platform, memory: str) -> int:
    """What tile buffers in a memory are multiples of."""
    return max((path.align for path in platform.copies if memory in (path.source, path.target)), default=1)


class ViewReaders:
    """Who reads each value of a schedule, and which values show the bytes of others."""

    def __init__(self, scheduled: Scheduled) -> None:
        self._outputs = scheduled.bound.graph.outputs
        self._readers: Mapping[str, Sequence[Node]] = scheduled.bound.graph.consumers()
        self._views = scheduled.views

    def needed_outside(self, value: str, inside: Collection[str]) -> bool:
        """Whether a value, or one that shows its bytes, is an output or read by others than the nodes `inside`."""
        return value in self._outputs or any(self._needs(node, inside) for node in self._readers[value])

    def with_views(self, values: Collection[str]) -> frozenset[str]:
        """These values, and those that show their bytes in another shape."""
        return frozenset((*values, *(shown for shown, of in self._views.items() if of in values)))

    def _needs(self, node: Node, inside: Collection[str]) -> bool:
        """A node that makes a view needs nothing itself."""
        if self._views.keys().isdisjoint(node.outputs):
            return node.name not in inside
        return any(self.needed_outside(view, inside) for view in node.outputs)


_ALIGN = 8  # what the scratch of every core begins at a multiple of
_ALIKE: Mapping[str, npt.NDArray[np.int64]] = {}


def core_scratch(
    platform: Platform,
    engine: str,
    kernel: Kernel,
    largest: TileShape,
    extents: Mapping[str, npt.NDArray[np.int64]] = _ALIKE,
) -> int:
    """Bytes from where the first core's scratch begins to where the last one's ends, in the tile of most shares.

    `largest` has the largest extent of every loop, `extents` those of all tiles where they differ. Core i's scratch
    begins at i times what a share of the largest tile needs. Every tile is shared along the same loop, and a smaller
    tile may be shared by more cores: an extent of 41 is 6 each for 7 cores, one of 40 is 5 each for 8.
    """
    most = {loop: largest.extent(loop) for loop in largest.box}
    cores = next(known.cores for known in platform.engines if known.name == engine)
    split = share(kernel, largest.access, most, cores)
    box = {loop: (0, min(split.extent, extent) if loop == split.loop else extent) for loop, extent in most.items()}
    scratch_bytes = kernel.scratch_bytes(TileShape(site=largest.site, access=largest.access, box=box))
    if not scratch_bytes or not split.loop:
        return scratch_bytes
    every = extents.get(split.loop, np.array(most[split.loop])).reshape(-1)
    every = every[every > 0]
    shares = int(ceil_div(every, ceil_div(every, cores * split.grain) * split.grain).max(initial=1))
    return (shares - 1) * align_up(scratch_bytes, _ALIGN) + scratch_bytes
