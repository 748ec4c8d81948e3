"""Knows whether a region is well-formed: its steps, hops, cuts, copies and internal values, each by its name. Does
not go through tiles: what it finds is cheap to find, and the rest of the check relies on it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from tilewright.check.tiles.calls import CheckedStep
from tilewright.check.tiles.checked_plan import CheckedPlan
from tilewright.ir.access.index_map import MapAccess
from tilewright.ir.plans.region import Copy, Cut, Hop, LineBuffers, Region, Tiles, key_of


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedRegion:
    """A region and its steps."""

    plan: CheckedPlan
    region: Region
    steps: tuple[CheckedStep, ...]

    @property
    def sink(self) -> CheckedStep:
        """The last step."""
        return self.steps[-1]

    @property
    def inner(self) -> dict[str, CheckedStep]:
        """By the value that it writes, every step but the last."""
        return {item.value: step for step in self.steps[:-1] for item in step.outputs}

    def faults(self) -> Iterator[str]:
        """Everything that makes no sense."""
        numbers = [step.number for step in self.steps]
        if numbers != list(range(numbers[0], numbers[0] + len(numbers))):
            yield "its steps do not follow one another in the schedule"
        yield from self._resident_faults()
        if isinstance(self.region.schedule, LineBuffers):
            return
        if not self.region.hops:
            if isinstance(self.region.schedule, Tiles):
                yield "its tiles go over no hop"
            yield from (f"it goes over no hop, and holds '{value}'" for value in self.region.internal_values)
            yield from (f"it goes over no hop, and splits a reduction of '{step}'" for step in self.region.sums)
            return
        yield from self._inner_faults()
        yield from self._held_faults()
        yield from self._nest_faults()
        for hop in self.region.hops:
            for key, copy in hop.copies.items():
                yield from self._copy_faults(hop, key, copy)
        yield from self._crossing_faults()
        yield from self._sums_faults()

    def _resident_faults(self) -> Iterator[str]:
        scheduled = self.plan.tiled.scheduled
        written = {item.value for step in self.steps for item in step.outputs}
        for value, memory in self.region.resident.items():
            storage = scheduled.storage.get(value)
            buffer = self.plan.buffers.get(storage.buffer) if storage else None
            if value not in written:
                yield f"it does not write '{value}', which is to stay in memory '{memory}'"
            elif buffer is None or buffer.memories != (memory,):
                yield f"'{value}' is to stay in memory '{memory}', and may be placed elsewhere"

    # --- values inside

    def _inner_faults(self) -> Iterator[str]:
        """They are exactly what the steps before the sink write; read inside, and by others only where they leave."""
        if sorted(self.region.internal_values) != sorted(
            item.value for step in self.steps[:-1] for item in step.outputs
        ):
            yield "its inner values are not those that its steps, the last excepted, write"
        if len(self.steps) > 1:
            for step in self.steps:
                if len(step.outputs) != 1:
                    yield f"step '{step.name}' has {len(step.outputs)} outputs"
                elif step.outputs[0].shape and not isinstance(step.access, MapAccess):
                    yield f"step '{step.name}' has no index map"
        graph, copied = self.plan.tiled.scheduled.bound.graph, self.region.hops[-1].copies
        for value, step in self.inner.items():
            item = step.outputs[0]
            readers = {node.name for node in graph.nodes if value in node.inputs}
            needed = readers - set(self.region.steps) or value in graph.outputs
            if needed and key_of(step.name, item.name) not in copied:
                yield f"'{value}' is needed outside"
            if readers.isdisjoint(self.region.steps):
                yield f"'{value}' is read by no step of it"
            loops = [
                loop for loop, axis, extent in zip(step.loops, step.axes(item.name), item.shape, strict=False)
                if axis.index is not None and (loop or extent > 1)
            ]  # fmt: skip
            if len(set(loops)) != len(loops) or "" in loops:
                yield f"'{value}' is not written with one loop to each axis"

    def _held_faults(self) -> Iterator[str]:
        memories = {memory.name: memory for memory in self.plan.platform.memories}
        for value, internal_value in self.region.internal_values.items():
            using = [step for step in self.steps if any(item.value == value for item in step.operands)]
            if internal_value.memory not in memories:
                yield f"there is no memory '{internal_value.memory}' to hold '{value}' in"
                continue
            unable = [step for step in using if not memories[internal_value.memory].lets(step.engine, "rw")]
            yield from (f"'{step.engine}' cannot use '{value}' in memory '{internal_value.memory}'" for step in unable)

    # --- cuts

    def _nest_faults(self) -> Iterator[str]:
        extents = {loop.name: loop.extent for loop in self.sink.access.loops}
        for hop in self.region.hops:
            cut = [name for name, _ in hop.nest]
            if len(set(cut)) != len(cut):
                yield f"a loop is cut twice on the hop to '{hop.inner}'"
            for single_cut in hop.nest:
                if single_cut.loop not in extents:
                    yield f"there is no loop '{single_cut.loop}' to cut"
                    continue
                yield from self._cut_faults(single_cut, extents[single_cut.loop])
                extents[single_cut.loop] = min(single_cut.size, extents[single_cut.loop])

    def _cut_faults(self, cut: Cut, around: int) -> Iterator[str]:
        grain = self.sink.kernel.multiples.get(cut.loop, 1)
        if cut.size < 1 or (cut.size < around and cut.size % grain):
            yield f"tiles of {cut.size} trips of loop '{cut.loop}' are no multiple of {grain}"
        kind = next(loop.kind for loop in self.sink.access.loops if loop.name == cut.loop)
        sums = self.region.sums.get(self.sink.name)
        allowed = kind == "parallel" or (kind == "reduce" and sums is not None and cut.loop in sums.loops)
        if cut.size < around and not allowed:
            yield f"loop '{cut.loop}' is a {kind} loop and cannot be cut"
        if cut.size < around and not isinstance(self.sink.access, MapAccess):
            yield f"loop '{cut.loop}' is cut, though its windows are no index map"

    def _sums_faults(self) -> Iterator[str]:
        """Reductions are split as the kernel can, on the last hop, inside every other cut, and leave when complete."""
        sums, hop = self.region.sums.get(self.sink.name), self.region.hops[-1]
        yield from (f"a reduction of '{step}' is split" for step in self.region.sums if step != self.sink.name)
        if sums is None:
            return
        form = self.sink.kernel.accumulates(self.sink.site)
        for loop in sums.loops:
            if form is None or loop not in form.loops:
                yield f"loop '{loop}' is a reduce loop and cannot be cut: its kernel does not accumulate"
        if form is not None and form.dtype is not sums.dtype:
            yield f"partial results are {sums.dtype.value}, the kernel has {form.dtype.value}"
        if any(cut.loop in sums.loops for outer in self.region.hops[:-1] for cut in outer.nest):
            yield f"a reduction is cut on another hop than that to '{hop.inner}'"
        output, inside = self.sink.outputs[0], [cut.loop in sums.loops for cut in hop.nest]
        if len(self.sink.outputs) != 1:
            yield "a reduction is cut, and there is more than one output"
        extents = {loop.name: loop.extent for loop in self.sink.access.loops}
        for outer in self.region.hops[:-1]:
            extents |= {cut.loop: min(cut.size, extents.get(cut.loop, 0)) for cut in outer.nest}
        several = [(cut.loop in sums.loops) for cut in hop.nest if cut.size < extents.get(cut.loop, 0)]
        if several != sorted(several):
            yield f"tiles of a reduction of {output.name} do not follow one another"
        copy = hop.copies.get(key_of(self.sink.name, output.name))
        if copy is not None and any(inside[: copy.level]):
            yield f"{output.name} is stored before its sums are complete"
        tensors = self.plan.tiled.scheduled.bound.graph.tensors
        if sums.in_output and (copy is None or tensors[output.value].dtype is not sums.dtype):
            yield f"sums of {output.name} are to be in its tile, which is not there or of another type"

    # --- copies

    def _copy_faults(self, hop: Hop, key: str, copy: Copy) -> Iterator[str]:
        operands = {key_of(step.name, item.name): (step, item) for step in self.steps for item in step.operands}
        step, item = operands.get(key, (None, None))
        if step is None or item is None or (item.value in self.inner and not item.written):
            yield f"there is no operand '{key}' to copy"
            return
        if not 0 <= copy.level <= len(hop.nest) or copy.buffers < 1:
            yield f"{key} is copied at level {copy.level} of {len(hop.nest)} into {copy.buffers} buffers"
        if copy.window == "rolling" and (item.written or copy.buffers != 1 or copy.level < 1):
            yield f"{key} keeps rows at level {copy.level} in {copy.buffers} buffers, or is written"
        if item.value in self.inner and hop is self.region.hops[-1]:
            internal_value = self.region.internal_values.get(item.value)
            if copy.buffers != 1 or internal_value is None or internal_value.form == "recomputed":
                yield f"'{item.value}' leaves from {copy.buffers} buffers, or is computed again"

    def _crossing_faults(self) -> Iterator[str]:
        values = {key_of(step.name, item.name): item.value for step in self.steps for item in step.operands}
        for before, after in pairwise(self.region.hops):
            if before.inner != after.outer:
                yield f"it goes to '{before.inner}', and on from '{after.outer}'"
        for hop in self.region.hops:
            crossing = [values[key] for key in hop.copies if key in values and not hop.nest and len(self.steps) > 1]
            twice = sorted({value for value in crossing if crossing.count(value) > 1})
            if hop is not self.region.hops[-1]:
                yield from (f"'{value}' goes to '{hop.inner}' twice" for value in twice)
