"""Knows where each tile of a plan finds its operands, and has constants packed that hold these places
(`Kernel.pack_placed`). Does not know how a kernel arranges them, nor how pointers are called in C.

What is packed counts from bases that the program is given when it runs: the same constants serve every pool that the
caller hands in, and never have to be written.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from tilewright.ir.access.index_map import Box, Window
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.machines.kernel import OperandPlace, PlacedTile
from tilewright.ir.plans.operand_bases import bases_of
from tilewright.ir.plans.operand_buffers import lone_steps, operand_buffers, scratch_buffer
from tilewright.ir.plans.plan_id import plan_id
from tilewright.ir.plans.region import Copy, Cut, Region, key_of
from tilewright.ir.plans.stages import Allocated
from tilewright.ir.plans.tile_packing import TilePacking, parts_of
from tilewright.ir.tensors.layout import strides
from tilewright.tile.machine import ScheduledMachine, StepOperand


@dataclass(frozen=True, slots=True, kw_only=True)
class TileVisit:
    """One tile of one hop: its number among those that `around` is cut into, and the box of its loops."""

    number: int
    around: Box
    box: Box


def packed_for_places(plan: Allocated, operators: Mapping[str, Operator]) -> Allocated:
    """The plan with the bytes of such constants; nothing else of it changes but its id.

    TilewrightError TW8062 for bytes of another type or shape than a tile reads, TW5067 (exit 5) where tiles that read
    the same bytes need different ones.
    """
    scheduled = plan.tiled.scheduled
    bound, constants = scheduled.bound, dict(scheduled.bound.constants)
    machine: ScheduledMachine | None = None
    for region in lone_steps(plan.tiled):
        layer = bound.layers[region.name]
        if layer.kernel.pack_placed is None:
            continue
        machine = machine or ScheduledMachine(scheduled, operators, plan.decisions)
        tiles = tuple(_StepPlaces(plan, machine, region).tiles())
        names = bound.bindings[region.name].constants
        packed = {operand: constants[names[operand]] for operand in layer.packed}
        packing = TilePacking(kernel=layer.kernel, site=layer.site, access=layer.access, packed=packed)
        for operand, array in packing.placed(tiles, region.name).items():
            array.flags.writeable = False
            constants[names[operand]] = array
    if machine is None:
        return plan
    tiled = replace(plan.tiled, scheduled=replace(scheduled, bound=replace(bound, constants=constants)))
    return replace(plan, tiled=tiled, plan_id=plan_id(tiled, plan.placements))


@dataclass(frozen=True)
class _StepPlaces:
    """Where one step has its operands, which is alone in its region."""

    plan: Allocated
    machine: ScheduledMachine
    region: Region

    def tiles(self) -> Iterator[PlacedTile]:
        """The tiles that are computed, in order."""
        layer = self.machine.bound.layers[self.region.name]
        whole = layer.whole.box
        for visits in _visits(whole, [hop.nest for hop in self.region.hops]):
            places = {operand.name: self._place(operand, visits) for operand in self._operands}
            if self._scratch in self._bases:
                places["scratch"] = self._at(self._scratch, self._job_scratch(visits))
            box = visits[-1].box if visits else whole
            yield PlacedTile(site=layer.site, access=layer.access, box=box, places=places)

    @cached_property
    def _operands(self) -> tuple[StepOperand, ...]:
        return self.machine.operands(self.machine.scheduled.steps[self.machine.numbers[self.region.name]])

    @property
    def _scratch(self) -> str:
        return scratch_buffer(self.region)

    @cached_property
    def _bases(self) -> Mapping[str, int]:
        """By buffer, in the order of the operands."""
        names = [name for own in self._buffers.values() for name in own]
        there = {buffer.name for buffer in self.plan.tiled.buffers}
        return bases_of([*names, *([self._scratch] if self._scratch in there else [])], self.plan)

    @cached_property
    def _buffers(self) -> Mapping[str, tuple[str, ...]]:
        return operand_buffers(self.region, self.machine.scheduled, self.plan.decisions)

    def _copy(self, operand: StepOperand, hop: int) -> Copy | None:
        return self.region.hops[hop].copies.get(key_of(self.region.name, operand.name))

    def _place(self, operand: StepOperand, visits: Sequence[TileVisit]) -> OperandPlace:
        """Of the tile's first element."""
        layer, names = self.machine.bound.layers[self.region.name], self._buffers[operand.name]
        access = layer.access
        window = access.window(operand.name, visits[-1].box if visits else layer.whole.box)
        for at in reversed(range(len(visits))):
            if copy := self._copy(operand, at):
                visit, cuts = visits[at], self.region.hops[at].nest
                still = {cut.loop: visit.box[cut.loop] for cut in cuts[: copy.level]}
                around = access.window(operand.name, {**visit.around, **still})
                steps = strides(self._capacities[at][operand.name], operand.layout)
                number = visit.number // _tiles(visit.around, cuts[copy.level :]) % copy.buffers
                return self._at(names[number], operand.item_bytes * _distance(around, window, steps))
        steps = strides(operand.shape, operand.layout)
        begin = sum(span.low * step for span, step in zip(window, steps, strict=True))
        return self._at(names[0], operand.offset_bytes + operand.item_bytes * begin)

    def _at(self, buffer: str, offset_bytes: int) -> OperandPlace:
        placement = self.plan.placements.get(buffer)
        start, memory = (placement.offset_bytes, placement.memory) if placement else (0, "")
        return OperandPlace(base=self._bases[buffer], offset_bytes=start + offset_bytes, memory=memory)

    @cached_property
    def _capacities(self) -> Sequence[Mapping[str, tuple[int, ...]]]:
        """By hop and operand the elements along each axis that a tile buffer has room for."""
        from tilewright.tile.cost.tile_boxes import boxes_of
        from tilewright.tile.cost.traffic import crossings_of
        from tilewright.tile.tile_buffers import analysis_of_region

        boxes = boxes_of(analysis_of_region(self.machine, self.region), self.region.hops, self.region.forms)
        return [{crossing.item.name: crossing.capacity for crossing in here} for here in crossings_of(boxes)]

    def _job_scratch(self, visits: Sequence[TileVisit]) -> int:
        """Where the part of the scratch begins that a job has; see `Kernel.wait`."""
        binding = self.machine.bound.bindings[self.region.name]
        queue = self.machine.engine(binding.engine).queue if binding.kernel.wait else 1
        size = next(buffer.size_bytes for buffer in self.plan.tiled.buffers if buffer.name == self._scratch)
        return visits[-1].number % queue * (size // queue) if visits else 0


def _visits(around: Box, nests: Sequence[Sequence[Cut]]) -> Iterator[tuple[TileVisit, ...]]:
    """The tiles of the last hop in order, each with those of the hops before that it is in."""
    if not nests:
        yield ()
        return
    for number, box in enumerate(parts_of(around, {cut.loop: cut.size for cut in nests[0]})):
        visit = TileVisit(number=number, around=around, box=box)
        yield from ((visit, *inner) for inner in _visits(box, nests[1:]))


def _tiles(around: Box, cuts: Sequence[Cut]) -> int:
    """How many tiles some loops are cut into."""
    return len(list(parts_of(around, {cut.loop: cut.size for cut in cuts})))


def _distance(around: Window, window: Window, steps: Sequence[int]) -> int:
    """Elements from the first of one window to the first of another."""
    axes = zip(around, window, steps, strict=True)
    return sum((inner.low - outer.low) * step for outer, inner, step in axes)
