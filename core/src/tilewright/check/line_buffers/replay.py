"""Knows whether a region by rows is sound, by making every call of its order over buffers that hold row numbers.
Does not know how orders are found, and shares no arithmetic with what finds them: windows are asked of the accesses.

A buffer has a slot for each row it has room for. A call first makes room as the program does, then every row that it
reads must be in its slot, then its own rows are put where they belong. Where several inputs arrive in rows, these may
come before the call that reads them: then all calls are made once more, with every such row as early as there is room.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod

from tilewright.check.line_buffers.aliases import OverlayReplay, overlay_replay
from tilewright.check.line_buffers.row_views import rows_through
from tilewright.check.line_buffers.stripes import column_axis, column_faults, computed_columns, stripe_faults
from tilewright.check.tiles.calls import CheckedStep
from tilewright.check.tiles.checked_plan import BackingOperand, CheckedPlan
from tilewright.ir.access.index import bare_loop, mentions
from tilewright.ir.access.index_map import Loop, MapAccess
from tilewright.ir.machines.kernel import TileShape
from tilewright.ir.plans.region import FlattenedRows, LineBuffer, LineBuffers, Region

_COUNTER_BYTES = 4
_NOTHING = -1


@dataclass(slots=True)
class _ReplayedStep:
    """A step, how far it has come, and the rows in its buffer; all of them where the value exists whole."""

    step: CheckedStep
    loop: Loop | None
    call_extent: int
    axis: int | None  # of the output, along which every trip is a row; None: there with the last trip
    backward: bool
    in_parts: bool  # its rows are parts of a reduction
    rows: FlattenedRows  # of its loop
    slots: list[int] = field(default_factory=list)
    readers: list[tuple[_ReplayedStep, BackingOperand]] = field(default_factory=list)
    early: bool = False  # its rows are there as soon as there is room for them
    made: int = 0
    first: int = 0
    due: int = 0  # of early ones: rows that calls have asked for

    @property
    def output(self) -> BackingOperand:
        return self.step.outputs[0]

    @property
    def extent(self) -> int:
        """Trips, or rows where several trips are one."""
        return self.rows.rows(self.loop.extent) if self.loop else 1

    def boxes(self, low: int, high: int) -> Iterator[dict[str, tuple[int, int]]]:
        """What each call of the kernel computes, of the rows after the first `low` up to `high`."""
        if self.loop is None or not self.in_parts:
            yield self.box(low, high)
            return
        part = self.loop.extent // self.rows.runs
        for run in range(0, self.loop.extent, part):
            yield self.box(run + low * self.rows.length, run + high * self.rows.length)

    def box(self, low: int, high: int) -> dict[str, tuple[int, int]]:
        """All trips of every loop but its own; of its own so many as it makes after the first `low`, up to `high`."""
        box = {loop.name: (0, loop.extent) for loop in self.step.access.loops}
        if self.loop is None:
            return box
        ends = (self.loop.extent - high, self.loop.extent - low) if self.backward else (low, high)
        return {**box, self.loop.name: ends}


@dataclass(frozen=True, slots=True)
class LineBufferReplay:
    """One region by rows. `steps` have passed the checks of form that all regions do."""

    plan: CheckedPlan
    region: Region
    order: LineBuffers
    steps: tuple[CheckedStep, ...]

    def faults(self) -> Iterator[str]:
        """What makes no sense, then what goes wrong, then buffers that are not there or too small."""
        form = tuple(self._form_faults())
        yield from form
        if not form:
            yield from self._calls()
            yield from column_faults(self.order, self.steps, self.plan.views)
            yield from self._buffer_faults()

    # --- form

    def _form_faults(self) -> Iterator[str]:
        if not len(self.order.loops) == len(self.order.extents) == len(self.steps):
            yield "its order does not name a loop, and trips, for each step"
            return
        for step, loop, trips in zip(self.steps, self.order.loops, self.order.extents, strict=True):
            yield from self._step_faults(step, loop, trips)
        yield from self._held_faults()
        stray = sorted(set(self.order.buffers) - set(self.region.internal_values))
        yield from (f"'{value}' has a line buffer, and is not held" for value in stray)
        stray = sorted(set(self.order.flattened) - set(self.region.sums))
        yield from (f"step '{step}' reads a flattened image, and is not computed in parts" for step in stray)
        yield from stripe_faults(self.region, self.order, self.steps)
        if self.region.resident:
            yield "it is computed by rows, and keeps values in a scratchpad"
        if self.order.backward and (len(self.steps) > 1 or _axis(self.steps[0], self.order.loops[0]) is None):
            yield "only a step that is alone is computed from its last row to its first"

    def _step_faults(self, step: CheckedStep, name: str, trips: int) -> Iterator[str]:
        if len(step.outputs) != 1 or not isinstance(step.access, MapAccess):
            yield f"step '{step.name}' has no index map, or not one output"
            return
        if step.kernel.memories or step.kernel.wait:
            yield f"the kernel of step '{step.name}' wants operands elsewhere, or runs beside others"
        loop = _loop(step, name)
        if name and loop is None:
            yield f"step '{step.name}' has no loop '{name}'"
            return
        extent, grain = (loop.extent, step.kernel.multiples.get(name, 1)) if loop else (1, 1)
        sums = self.region.sums.get(step.name)
        of_loop = self.order.rows_of(step.name)
        runs, length = of_loop.runs, of_loop.length
        if runs < 1 or length < 1 or extent % (runs * length):
            yield f"{extent} trips of loop '{name}' of step '{step.name}' are not {runs} times some rows of {length}"
            return
        rows = extent // (runs * length)
        uneven = length % grain if runs > 1 else trips < rows and trips * length % grain
        if trips < 1 or uneven or rows > 0xFFFF:
            yield f"step '{step.name}' has {trips} trips of loop '{name}' in a call, of {rows}"
        if loop is None or loop.kind == "parallel":
            if sums is not None or of_loop != FlattenedRows() or (loop and _axis(step, name) is None):
                yield f"rows of step '{step.name}' along loop '{name}' are no rows of its output"
        elif sums is None or loop.kind != "reduce" or sums.loops != (name,) or not self._accumulates(step, name):
            yield f"loop '{name}' of step '{step.name}' cannot be computed in parts"

    def _accumulates(self, step: CheckedStep, name: str) -> bool:
        form, sums = step.kernel.accumulates(step.site), self.region.sums[step.name]
        return form is not None and name in form.loops and form.dtype is sums.dtype and not sums.in_output

    def _held_faults(self) -> Iterator[str]:
        inner, last = {step.outputs[0].value for step in self.steps[:-1]}, self.steps[-1].outputs[0].value
        if inner != {value for value in self.region.internal_values if value != last}:
            yield "what it holds is not what its steps, the last excepted, write"
            return
        read = {item.value for step in self.steps for item in step.operands if not item.written}
        outside = (read | {self.plan.views.get(value, value) for value in read}) - inner
        scheduled = self.plan.tiled.scheduled
        storage, readers = scheduled.storage, self.plan.readers
        for value, held in self.region.internal_values.items():
            buffer = self.order.buffers.get(value, LineBuffer())
            if not held.live_out and readers.needed_outside(value, self.region.steps):
                yield f"'{value}' is needed outside"
            kept = value == last or not held.live_out
            wrong = held.form != ("whole" if held.live_out else "rolling") or (buffer.aliases and buffer.rows)
            if wrong or (value in self.order.buffers) != kept:
                yield f"'{value}' is held as no line-buffered region holds values"
            if bool(buffer.aliases) != (value == last):
                yield f"'{value}' is over '{buffer.aliases}', as only the region's output can be"
            if not buffer.aliases:
                continue
            if buffer.aliases not in outside or buffer.distance_bytes < 0:
                yield f"'{value}' cannot be over '{buffer.aliases}', {buffer.distance_bytes} B before it"
            elif storage[buffer.aliases].buffer == storage[value].buffer:
                yield f"'{value}' cannot be over '{buffer.aliases}', which is in its own buffer"

    # --- calls

    def _calls(self) -> Iterator[str]:
        """Of all columns: which rows are there does not depend on stripes."""
        yield from self._calls_of(self._begun())
        played = self._begun()
        for step in played if self._any_order else ():
            step.early = step.step.site.node.op == "Arrival"
        if any(step.early for step in played):
            yield from self._calls_of(played)

    @property
    def _any_order(self) -> bool:
        """Whether rows of inputs may come before they are read."""
        return sum(node.op == "Arrival" for node in self.plan.nodes.values()) > 1

    def _calls_of(self, played: Sequence[_ReplayedStep]) -> Iterator[str]:
        overlay = overlay_replay(self.plan, self.region, self.order, self.steps)
        for number in self.order.calls:
            if not 0 <= number < len(played):
                yield f"there is no step {number} to call"
                return
            self._take_early(played)
            fault = (overlay and self._overlaid(played[number], overlay)) or self._call(played[number], played)
            if fault:
                yield fault
                return
        for step in played:
            leaves = step.step is self.steps[-1] or self.region.internal_values[step.output.value].live_out
            if leaves and step.made < step.extent:
                yield f"step '{step.step.name}' makes {step.made} of {step.extent} rows"

    def _begun(self) -> tuple[_ReplayedStep, ...]:
        played = tuple(
            _ReplayedStep(
                step=step,
                loop=_loop(step, loop),
                call_extent=trips,
                axis=_axis(step, loop),
                backward=self.order.backward,
                in_parts=step.name in self.region.sums,
                rows=self.order.rows_of(step.name),
            )
            for step, loop, trips in zip(self.steps, self.order.loops, self.order.extents, strict=True)
        )
        for one in played:
            buffer = self.order.buffers.get(one.output.value)
            whole = buffer is None or bool(buffer.aliases) or one.axis is None
            one.slots = [_NOTHING] * (one.extent if whole or buffer is None else buffer.rows)
            one.readers = [
                (other, item) for other in played for item in other.step.operands
                if self.plan.views.get(item.value, item.value) == one.output.value and not item.written
            ]  # fmt: skip
        return played

    def _take_early(self, played: Sequence[_ReplayedStep]) -> None:
        """Rows that there is room for, before anybody asks for them."""
        for step in played:
            if not step.early:
                continue
            if len(step.slots) < step.extent:
                self._make_room(step)
            end = min(step.first + len(step.slots), step.extent)
            step.slots[step.made - step.first : end - step.first] = range(step.made, end)
            step.made = end

    def _call(self, step: _ReplayedStep, played: Sequence[_ReplayedStep]) -> str:
        if step.early:
            step.due = min(step.due + step.call_extent, step.extent)
            return (
                "" if step.made >= step.due else f"there is no room for the rows that '{step.output.value}' waits for"
            )
        end = min(step.made + step.call_extent, step.extent)
        if step.made == step.extent:
            return f"step '{step.step.name}' is called when it has made all its rows"
        for maker in played:
            for reader, item in maker.readers:
                if reader is step and (fault := self._read(maker, step, item, end)):
                    return fault
        if end - step.first > len(step.slots):
            self._make_room(step)
        if end - step.first > len(step.slots):
            return f"'{step.output.value}' has room for {len(step.slots)} rows, and needs it for {end - step.first}"
        step.slots[step.made - step.first : end - step.first] = range(step.made, end)
        step.made = end
        return ""

    def _overlaid(self, step: _ReplayedStep, overlay: OverlayReplay) -> str:
        """Why a call would not find what the last step's output has taken the bytes of: nothing for what arrives."""
        if step.early:
            return ""
        end = min(step.made + step.call_extent, step.extent)
        boxes = list(step.boxes(step.made, end))
        if step.axis is not None or end == step.extent:
            overlay.store(step.step, boxes[-1])
        return next(filter(None, (overlay.fault(step.step, box) for box in boxes)), "")

    def _read(self, maker: _ReplayedStep, step: _ReplayedStep, item: BackingOperand, end: int) -> str:
        """Why not all that a call reads of a value is there."""
        if maker.axis is None:
            whole = maker.made == maker.extent
            return "" if whole else f"step '{step.step.name}' reads '{item.value}', which is not complete"
        for row in self._rows_read(maker, step, item, end):
            slot = row - maker.first
            if not 0 <= slot < len(maker.slots) or maker.slots[slot] != row:
                return f"step '{step.step.name}' reads row {row} of '{item.value}', which is not there"
        return ""

    def _make_room(self, step: _ReplayedStep) -> None:
        """Rows from the first that any reader would read next are moved to the beginning."""
        if step.axis is None:
            return
        first = min([step.made, *(self._first_row(step, reader, item) for reader, item in step.readers)])
        kept = step.slots[first - step.first : step.made - step.first] if first >= step.first else []
        step.slots[:] = [*kept, *[_NOTHING] * (len(step.slots) - len(kept))]
        step.first = first

    def _rows_read(self, maker: _ReplayedStep, step: _ReplayedStep, item: BackingOperand, end: int) -> Sequence[int]:
        """The rows of what `maker` makes that a call up to `end` reads, through a view or not."""
        axis, boxes = maker.axis or 0, list(step.boxes(step.made, end))
        if item.value != maker.output.value:
            return rows_through(maker.output, axis, step.step, item, boxes)
        spans = [step.step.access.window(item.name, box)[axis] for box in boxes]
        return range(min(span.low for span in spans), max(span.high for span in spans))

    def _first_row(self, maker: _ReplayedStep, step: _ReplayedStep, item: BackingOperand) -> int:
        """The first row that a reader would read next."""
        if step.in_parts and step.made == step.extent:
            return maker.made
        result = self._rows_read(maker, step, item, step.made + 1)
        return result.start if isinstance(result, range) else min(result)

    # --- buffers

    def _buffer_faults(self) -> Iterator[str]:
        sink = self.steps[-1]
        home = self.plan.platform.backing_memory().name
        for number, (step, loop) in enumerate(zip(self.steps, self.order.loops, strict=True)):
            output = step.outputs[0]
            buffer, axis = self.order.buffers.get(output.value), _axis(step, loop)
            if buffer is not None and not buffer.aliases:
                memory = self.region.internal_values[output.value].memory
                room = [buffer.rows if at == axis else extent for at, extent in enumerate(self._widest(number))]
                name = f"{step.name}.{output.name}@{memory}#0"
                yield from self.plan.buffer_faults(name, memory, output.bytes_in(room), sink.number)
                yield from self._edge_faults(number, memory)
            sums = self.region.sums.get(step.name)
            if sums is not None:
                size = sums.dtype.size_bytes * prod(output.shape)
                yield from self.plan.buffer_faults(f"{step.name}.acc@{home}#0", home, size, sink.number)
        counters = _COUNTER_BYTES * len(self.steps)
        yield from self.plan.buffer_faults(f"{sink.name}.rows@{home}#0", home, counters, sink.number)
        yield from self._scratch_faults(sink.number)

    def _edge_faults(self, number: int, memory: str) -> Iterator[str]:
        """Of every row of a step its columns at an edge have room."""
        step, stripes = self.steps[number], self.order.stripes
        if stripes is not None and stripes.edge(number):
            axis, output = column_axis(step, stripes.loops[number]), step.outputs[0]
            room = [stripes.edge(number) if at == axis else extent for at, extent in enumerate(output.shape)]
            size, sink = output.bytes_in(room), self.steps[-1].number
            yield from self.plan.buffer_faults(f"{step.name}.edges@{memory}#0", memory, size, sink)

    def _widest(self, number: int) -> tuple[int, ...]:
        """The shape of a step's output, or of what the widest stripe has of it."""
        step, stripes = self.steps[number], self.order.stripes
        shape = step.outputs[0].shape
        if stripes is None:
            return shape
        widest = max(own[number][1] - own[number][0] for own in stripes.bounds)
        axis = column_axis(step, stripes.loops[number])
        return tuple(widest if at == axis else extent for at, extent in enumerate(shape))

    def _scratch_faults(self, number: int) -> Iterator[str]:
        needed = 0
        for columns in computed_columns(self.order, len(self.steps)):
            for step, name, trips, own in zip(self.steps, self.order.loops, self.order.extents, columns, strict=True):
                box = {loop.name: (0, loop.extent) for loop in step.access.loops} | dict(own)
                most = {name: (0, trips * self.order.rows_of(step.name).length)} if name else {}
                shape = TileShape(site=step.site, access=step.access, box={**box, **most})
                needed = max(needed, step.kernel.scratch_bytes(shape))
        buffer = self.plan.buffers.get(f"{self.region.name}.scratch")
        alive = buffer is not None and buffer.first <= number <= buffer.last
        if needed and (buffer is None or buffer.size_bytes < needed or not alive):
            yield f"its calls need {needed} B of scratch, which are not there"


def _loop(step: CheckedStep, name: str) -> Loop | None:
    return next((loop for loop in step.access.loops if loop.name == name), None)


def _axis(step: CheckedStep, name: str) -> int | None:
    """The axis of the output that is this loop, and no other."""
    if not name or not isinstance(step.access, MapAccess):
        return None
    axes: Mapping[int, str] = dict(enumerate(step.loops))
    mine = [at for at, loop in axes.items() if loop == name]
    others = [at for at, axis in enumerate(step.axes(step.outputs[0].name)) if mentions(axis.index, name)]
    return (
        mine[0] if len(mine) == 1 and mine == others and bare_loop(step.axes(step.outputs[0].name)[mine[0]]) else None
    )
