"""Knows how a step is computed row by row: which loop its rows are trips of, which rows of others each trip reads.
Does not know in which order steps are called (`call_schedule`), nor which steps are computed so (`line_buffer_search`).

No axis is special: a value's rows are along the axis that most values around it can be cut along, as the index maps
say; in an image network the height, in a network over time the time.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from types import MappingProxyType

from tilewright.ir.access.index import Axis, bare_loop, mentions
from tilewright.ir.access.index_map import Access, Loop, MapAccess, Span
from tilewright.ir.plans.region import FlattenedRows, SplitReduction
from tilewright.ir.plans.stages import Step
from tilewright.tile.line_buffers.buffered_step import BufferedStep, RowRead
from tilewright.tile.line_buffers.call_costs import BufferedCallCosts, CallCostCache
from tilewright.tile.line_buffers.streamed_io import arrivals, departures
from tilewright.tile.machine import ScheduledMachine, StepOperand
from tilewright.tile.space.split_reductions import Flattened, flattened

MOST_ROWS = 0xFFFF  # of a value: counters have 16 bits

Place = tuple[str, int]  # a value and one of its axes
_Ends = tuple[tuple[int, ...], tuple[int, ...]]  # see `RowRead`
NOTHING: Mapping[str, int] = MappingProxyType({})


class LineBufferAnalysis:
    """The steps of a machine's schedule; each is looked at once. `costs` may be known from another schedule of the same
    binding: what shares bytes there changes nothing about them.
    """

    def __init__(self, machine: ScheduledMachine, costs: CallCostCache | None = None) -> None:
        self.machine = machine
        self.calls = BufferedCallCosts(machine, costs or CallCostCache())
        self._steps: dict[int, BufferedStep] = {}
        self._windows: dict[Hashable, _Ends | None] = {}  # by axis, loop and extents: many layers have equal ones
        self.spans: dict[tuple[str, str, str], dict[tuple[int, int], Span]] = {}  # step, operand, loop -> by its trips

    @cached_property
    def operands(self) -> Sequence[Sequence[StepOperand]]:
        """Of every step."""
        return [self.machine.operands(step) for step in self.machine.scheduled.steps]

    @cached_property
    def axes(self) -> Mapping[str, int]:
        """By value the axis of its rows. Some values have none."""
        return _row_axes(self.machine, self.operands)

    @cached_property
    def views(self) -> Mapping[str, str]:
        """By value that shows the bytes of another in another shape, and has no rows of its own, that other one."""
        return {shown: of for shown, of in self.machine.scheduled.views.items() if shown not in self.axes}

    @cached_property
    def column_axes(self) -> Mapping[str, int]:
        """By value the axis of its columns: the next best after that of its rows. Some values have none."""
        return _row_axes(self.machine, self.operands, self.axes)

    @cached_property
    def arriving(self) -> Mapping[str, str]:
        """By step, the input whose rows it takes as they arrive."""
        return arrivals(self.machine.scheduled, self.machine.decisions.io)

    @cached_property
    def departing(self) -> Mapping[str, str]:
        """By step, the output whose rows it gives as they are taken."""
        return departures(self.machine.scheduled, self.machine.decisions.io)

    def at(self, index: int) -> BufferedStep:
        """By its number in the schedule."""
        if index not in self._steps:
            self._steps[index] = self._looked_at(index)
        return self._steps[index]

    def _looked_at(self, index: int) -> BufferedStep:
        machine, step = self.machine, self.machine.scheduled.steps[index]
        access, operands = machine.access(step), self.operands[index]
        output = next(operand for operand in operands if operand.written)
        axis = self.axes.get(output.value)
        loop, flat = parallel_loop(access, output.name, axis), None
        if loop is None or not self._moves_rows(access, operands, loop):
            summed = self._summed(step, access, operands)
            flat = None if summed else self._flattened(step, access, operands)
            loop = summed or (flat.loop if flat else loop)
        sums, rows = self._sums(step, loop), flat.rows if flat else FlattenedRows()
        return BufferedStep(
            index=index,
            step=step,
            loop=loop.name if loop else "",
            extent=rows.rows(loop.extent) if loop else 1,
            grain=self._grain(step, loop) if loop and not flat else 1,
            axis=axis if loop and not sums else None,
            rows=1 if axis is None else output.shape[axis],
            output=output,
            reads=tuple(
                self._read(access, operand, loop, flat)
                for operand in operands
                if not operand.written and not operand.constant
            ),
            sums=sums,
            flattened=rows,
            cannot=_cannot(machine, step, operands),
            departs=step.name in self.departing,
        )

    def _summed(self, step: Step, access: Access, operands: Sequence[StepOperand]) -> Loop | None:
        """The reduction along the rows of what the step reads, where its kernel can compute that in parts."""
        form = self.machine.bound.layers[step.name].sums
        if form is None or not isinstance(access, MapAccess) or len(access.outputs) != 1:
            return None
        loops = [loop for loop in access.loops if loop.name in form.loops and loop.extent > 1]
        return next((loop for loop in loops if self._moves_rows(access, operands, loop)), None)

    def _flattened(self, step: Step, access: Access, operands: Sequence[StepOperand]) -> Flattened | None:
        """The reduction through an image that the step reads flattened, where its kernel can compute that in parts."""
        form = self.machine.bound.layers[step.name].sums
        images = [operand for operand in operands if self.axes.get(self.views.get(operand.value, "")) is not None]
        loops = [loop for loop in access.loops if form and loop.name in form.loops and len(access.outputs) == 1]
        ways = (self._through(access, image, loop) for image in images for loop in loops)
        return next((way for way in ways if way and way.rows.length % self._grain(step, way.loop) == 0), None)

    def _through(self, access: Access, image: StepOperand, loop: Loop) -> Flattened | None:
        value, bound = self.views[image.value], self.machine.bound
        return flattened(
            access, image.name, loop, bound.graph.tensors[value].shape, bound.layouts[value], self.axes[value]
        )

    def _sums(self, step: Step, loop: Loop | None) -> SplitReduction | None:
        form = self.machine.bound.layers[step.name].sums
        if form is None or loop is None or loop.kind != "reduce":
            return None
        return SplitReduction(loops=(loop.name,), dtype=form.dtype)

    def _grain(self, step: Step, loop: Loop) -> int:
        return self.machine.bound.bindings[step.name].kernel.multiples.get(loop.name, 1)

    def _moves_rows(self, access: Access, operands: Sequence[StepOperand], loop: Loop) -> bool:
        """Whether a loop goes through the rows of something that the step reads."""
        read = [operand for operand in operands if not operand.written and self.axes.get(operand.value) is not None]
        return isinstance(access, MapAccess) and any(
            _moves(access, access.axes[operand.name][self.axes[operand.value]], loop) for operand in read
        )

    def _read(self, access: Access, operand: StepOperand, loop: Loop | None, flat: Flattened | None) -> RowRead:
        """All of it, where windows along the rows do not move on with the loop."""
        value, trips = self.views.get(operand.value, operand.value), loop.extent if loop else 1
        view = operand.value if value != operand.value else ""
        axis = self.axes.get(value)
        rows = 1 if axis is None else self.machine.bound.graph.tensors[value].shape[axis]
        ends: _Ends | None = None
        if flat and operand.name == flat.operand:
            ends = tuple(range(rows + 1)), tuple(range(1, rows + 1))
        elif axis is not None and loop is not None and not (view or flat):
            ends = self._windows_of(access, operand, axis, loop)
        low, high = ends or ((0,) * (trips + 1), (rows,) * trips)
        return RowRead(operand=operand.name, value=value, low=low, high=high, view=view)

    def _windows_of(self, access: Access, operand: StepOperand, axis: int, loop: Loop) -> _Ends | None:
        """See `_windows`."""
        if not isinstance(access, MapAccess):
            return None
        key = access.axes[operand.name][axis], loop, access.loops
        if key not in self._windows:
            self._windows[key] = _windows(access, operand, axis, loop)
        return self._windows[key]


def _windows(access: MapAccess, operand: StepOperand, axis: int, loop: Loop) -> _Ends | None:
    """Where each trip of a loop begins and ends to read along an axis; None where a later one reads lower."""
    whole = {axis_loop.name: (0, axis_loop.extent) for axis_loop in access.loops}
    index = access.axes[operand.name][axis]
    spans = [index.span({**whole, loop.name: (trip, trip + 1)}) for trip in range(loop.extent + 1)]
    if any(item.low > two.low or item.high > two.high for item, two in pairwise(spans)):
        return None
    return tuple(span.low for span in spans), tuple(span.high for span in spans[:-1])


def _cannot(machine: ScheduledMachine, step: Step, operands: Sequence[StepOperand]) -> str:
    """Why a step is computed in one piece."""
    if len(step.nodes) != 1 or sum(operand.written for operand in operands) != 1:
        return "it is more than one node, or has more than one output"
    if any(0 in operand.shape for operand in operands):
        return "it computes nothing"
    if any(max(operand.shape, default=0) > MOST_ROWS for operand in operands if not operand.constant):
        return f"an axis has more than {MOST_ROWS} positions, which the counters of rows have no room for"
    if any(operand.constant and _copied_before(machine, operand.value) for operand in operands):
        return "its constants are copied to another memory before it uses them"
    kernel = machine.bound.bindings[step.name].kernel
    if kernel.memories or kernel.wait or kernel.packs_late or kernel.align or kernel.banks:
        return "its kernel wants operands in places of their own, packs them by tiles, or runs beside the others"
    if not isinstance(machine.access(step), MapAccess):
        return "its windows are no index map"
    return ""


def _copied_before(machine: ScheduledMachine, constant: str) -> bool:
    staging = machine.decisions.staged.get(constant)
    return staging is not None and staging.when == "use"


def parallel_loop(access: Access, output: str, axis: int | None) -> Loop | None:
    """The parallel loop that alone is an axis of the output."""
    if axis is None or not isinstance(access, MapAccess):
        return None
    name = bare_loop(access.axes[output][axis])
    result = [loop for loop in access.loops if loop.name == name and loop.kind == "parallel"]
    return result[0] if result and result[0].extent == access.axes[output][axis].extent > 1 else None


def _moves(access: MapAccess, axis: Axis, loop: Loop) -> bool:
    """Whether the first and the last trip of a loop are at different places of an axis."""
    if not mentions(axis.index, loop.name):
        return False
    whole = {axis_loop.name: (0, axis_loop.extent) for axis_loop in access.loops}
    first, last = ({**whole, loop.name: (trip, trip + 1)} for trip in (0, loop.extent - 1))
    return axis.span(first).low < axis.span(last).low


def _row_axes(
    machine: ScheduledMachine, operands: Sequence[Sequence[StepOperand]], taken: Mapping[str, int] = NOTHING
) -> Mapping[str, int]:
    """By value the axis of its rows: that of the most axes which loops move together; of several the outermost stored.

    Values of which no loop moves an axis have none, nor any the one that is `taken`.
    """
    group: dict[Place, list[Place]] = {}
    for step, own in zip(machine.scheduled.steps, operands, strict=True):
        for left, right in _moved_together(machine.access(step), own):
            if any(taken.get(value) == axis for value, axis in (left, right)):
                continue
            mine, theirs = group.setdefault(left, [left]), group.setdefault(right, [right])
            if mine is not theirs:
                fewer, more = sorted((mine, theirs), key=len)
                more.extend(fewer)
                group.update(dict.fromkeys(fewer, more))
    layouts = machine.bound.layouts
    best: dict[str, tuple[int, int, int]] = {}
    for (value, axis), members in group.items():
        mine_ = (-len(members), layouts[value].index(axis), axis)
        best[value] = min(best.get(value, mine_), mine_)
    return {value: axis for value, (_, _, axis) in best.items()}


def _moved_together(access: Access, operands: Sequence[StepOperand]) -> Iterator[tuple[Place, Place]]:
    """Axes of the output, and of what is read, that the same parallel loop moves."""
    if not isinstance(access, MapAccess):
        return
    output = next(operand for operand in operands if operand.written)
    for axis, index in enumerate(access.axes[output.name]):
        loop = parallel_loop(access, output.name, axis)
        for operand in operands if loop else ():
            if operand.written or operand.constant or loop is None:
                continue
            axes = [at for at, place in enumerate(access.axes[operand.name]) if _moves(access, place, loop)]
            if len(axes) == 1 and index.extent > 1 and operand.shape[axes[0]] > 1:
                yield (output.value, axis), (operand.value, axes[0])
