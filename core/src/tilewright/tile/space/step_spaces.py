"""Knows how a step of the schedule becomes the space of its tilings over one hop, which operand is copied from where,
and when two spaces have the same best tiling, so that one search does for both; when two layers' calls take the same.
Does not know how tiles are chosen.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from tilewright.bind.candidates import operations
from tilewright.ir.access.index_map import Access, Loop, MapAccess, touched
from tilewright.ir.machines.kernel import Kernel, Matched, PartialSums, TileShape
from tilewright.ir.machines.platform import CopyPath
from tilewright.ir.plans.region import Hop, Region, Tiles, Whole, key_of
from tilewright.ir.plans.stages import Step
from tilewright.ir.tensors.layout import strides
from tilewright.tile.machine import NOTHING, ScheduledMachine, StepOperand
from tilewright.tile.memory_path import strided_copy
from tilewright.tile.space.aligned_windows import misfit_of
from tilewright.tile.space.split_reductions import sums_of
from tilewright.tile.space.tiling_space import CopiedOperand, TilingSpace, WindowTable, cuttable, touched_bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class _Visit:
    """One run of a hop: trips of every loop, the tiles around it, and the tile buffers that are its far side."""

    extents: Mapping[str, int]
    around: tuple[tuple[str, tuple[int, ...]], ...]
    rooms: Mapping[str, tuple[int, ...]]


def step_space(
    machine: ScheduledMachine,
    index: int,
    step: Step,
    near: str,
    outer: tuple[Hop, ...] = (),
    resident: Mapping[str, str] = NOTHING,
    *,
    split: bool = False,
) -> TilingSpace:
    """The tilings of one step over the hop to `near`, inside the tiles of the hops `outer` around it.

    `resident`: see `operands`; not taken off its room. `split`: reductions are cut, too, where the kernel can.
    """
    site, binding, access = machine.site(step), machine.bound.bindings[step.name], machine.access(step)
    engine, operands = machine.engine_of(index), machine.operands(step, resident)
    visit = _visit(machine, index, step, access, outer, resident)
    form = machine.bound.layers[step.name].sums if split and near == machine.platform.inner else None
    cuts, refused, sums = _separated(machine, step, form, visit.extents, _askew(machine, step, operands, near))
    return TilingSpace(
        site=site,
        kernel=binding.kernel,
        access=access,
        engine=engine,
        extents=visit.extents,
        around=visit.around,
        cuts=cuts,
        copied=tuple(
            _copied_operand(machine, operand, path, access, cuts, visit.rooms.get(operand.name))
            for operand in operands
            if 0 not in operand.shape and (path := machine.path(operand, binding.kernel, near)) is not None
        ),
        operations=operations(binding.kernel, machine.operators[site.node.op], site, machine.platform, engine),
        available_bytes=machine.available_bytes(near, index),
        grain=machine.tile_grain(step.name, near),
        once=_once(machine, operands),
        refused=refused,
        sums=sums,
        spared_bytes=_spared(machine, operands, binding.kernel, access, near),
    )


def tiled_alone(
    machine: ScheduledMachine, step: Step, hops: tuple[Hop, ...], resident: Mapping[str, str] = NOTHING
) -> Region:
    """A region of one step that is tiled so."""
    access, form = machine.access(step), machine.bound.layers[step.name].sums
    inside = False
    if form and hops:
        same = machine.bound.graph.tensors[machine.nodes[step.name].outputs[0]].dtype is form.dtype
        inside = same and key_of(step.name, access.outputs[0]) in hops[-1].copies
    sums = sums_of(access, form, (hop.nest for hop in hops), in_output=inside)
    return Region(
        steps=(step.name,),
        schedule=Tiles(hops=hops) if hops else Whole(),
        sums={step.name: sums} if sums else {},
        resident=resident,
    )


def _spared(
    machine: ScheduledMachine, operands: tuple[StepOperand, ...], kernel: Kernel, access: Access, near: str
) -> int:
    """Bytes of the values that live at the near end or beyond, but would cross this hop from the backing memory."""
    home = machine.platform.backing_memory().name
    return sum(
        touched_bytes(access, operand.name, operand.item_bytes)
        for operand in operands
        if not operand.constant and operand.memory != home and machine.path(operand, kernel, near) is None
        if 0 not in operand.shape and machine.path(operand, kernel, near, home) is not None
    )


def _visit(
    machine: ScheduledMachine,
    index: int,
    step: Step,
    access: Access,
    outer: tuple[Hop, ...],
    resident: Mapping[str, str],
) -> _Visit:
    """What the hops `outer` leave to the next one."""
    extents = {loop.name: loop.extent for loop in access.loops}
    around: dict[str, tuple[int, ...]] = {}
    rooms: dict[str, tuple[int, ...]] = {}
    for number, hop in enumerate(outer):
        space = step_space(machine, index, step, hop.inner, outer[:number], resident)
        table = WindowTable(space)
        for operand in space.copied:
            copy = hop.copies.get(key_of(step.name, operand.name))
            if copy is not None:
                rooms[operand.name] = table.windows(operand, dict(hop.nest[: copy.level])).capacity
        for name, size in hop.nest:
            extents[name] = min(size, extents[name])
            around[name] = (*around.get(name, ()), extents[name])
    return _Visit(extents=extents, around=tuple(around.items()), rooms=rooms)


def _once(machine: ScheduledMachine, operands: tuple[StepOperand, ...]) -> tuple[str, ...]:
    """Inputs whose bytes an output takes."""
    taken = {machine.scheduled.storage[item.value].buffer for item in operands if item.written and not item.constant}
    return tuple(
        item.name
        for item in operands
        if not item.written and not item.constant and machine.scheduled.storage[item.value].buffer in taken
    )


def _askew(machine: ScheduledMachine, step: Step, operands: tuple[StepOperand, ...], near: str) -> dict[str, str]:
    """Loops whose tiles would not begin where a kernel wants it, of operands that it uses where they live; and why."""
    result: dict[str, str] = {}
    kernel, access = machine.bound.bindings[step.name].kernel, machine.access(step)
    moves = access.moves if isinstance(access, MapAccess) else {}
    for operand in operands if moves else ():
        align = kernel.align.get(operand.name, 1)
        if align == 1 or machine.path(operand, kernel, near) is not None:
            continue
        for pitch, loops in zip(strides(operand.shape, operand.layout), moves[operand.name], strict=True):
            if pitch * operand.item_bytes % align:
                reason = (
                    f"its tiles of {operand.name}, which no copy moves, would not begin at multiples of {align} bytes"
                )
                result |= dict.fromkeys(loops, reason)
    return result


def _separated(
    machine: ScheduledMachine,
    step: Step,
    form: PartialSums | None,
    trips: Mapping[str, int],
    askew: Mapping[str, str],
) -> tuple[tuple[Loop, ...], Mapping[str, str], PartialSums | None]:
    """The loops of several trips that may be cut, why others may not, and `form` where a reduction is among them."""
    access = machine.access(step)
    if step.name in machine.scheduled.deferred:
        return (), {loop.name: "the engine is waited for behind a later step" for loop in access.loops}, None
    allowed, refused = cuttable(access, machine.bound.bindings[step.name].kernel, form)
    cuts = tuple(loop for loop in allowed if trips[loop.name] > 1 and loop.name not in askew)
    return cuts, {**refused, **askew}, form if any(loop.kind == "reduce" for loop in cuts) else None


def _copied_operand(
    machine: ScheduledMachine,
    operand: StepOperand,
    path: CopyPath,
    access: Access,
    cuts: tuple[Loop, ...],
    room: tuple[int, ...] | None,
) -> CopiedOperand:
    """`room` is the tile buffer of an outer hop that it is copied from or to, in elements; None: where it lives."""
    made = CopiedOperand(
        name=operand.name,
        written=operand.written,
        shape=operand.shape if room is None else room,
        layout=operand.layout,
        item_bytes=operand.item_bytes,
        path=path,
        loops=_moving(access, operand.name, cuts),
        steps=strided_copy(touched(access, operand.name), operand.shape, operand.layout, operand.item_bytes, path),
        aligned_offset=room is not None or operand.offset_bytes % path.align == 0,
        padded=room is not None or machine.has_padding(operand),
        in_tile=room is not None,
    )
    return replace(made, whole=True) if _is_partial(made, access) and room in (None, operand.shape) else made


def _is_partial(item: CopiedOperand, access: Access) -> bool:
    """Whether an input's path cannot take all that any trip uses."""
    if item.written or item.any_window:
        return False
    used = [(np.array(span.low), np.array(span.low + span.extent)) for span in touched(access, item.name)]
    return bool(misfit_of(item, used, [int(high - low) for low, high in used], held=False))


def _moving(access: Access, operand: str, cuts: tuple[Loop, ...]) -> tuple[str, ...]:
    """The loops whose tiles have windows of their own in an operand."""
    if not isinstance(access, MapAccess):
        return ()
    moving = {name for names in access.moves[operand] for name in names}
    return tuple(cut.name for cut in cuts if cut.name in moving)


class SpaceSignature:
    """What decides the best tiling of a space, the room apart: equal for spaces that have the same one in as much room.
    Who starts copies is no part of it: the search does not ask, only the clocks of what it finds do.

    It is looked up far more often than it is made, so it is worked out and hashed once; and not before: of tiles that
    are decided nobody asks for it.
    """

    __slots__ = ("_decisive", "_hash", "_space")

    def __init__(self, space: TilingSpace) -> None:
        self._space = space
        self._decisive: tuple[Hashable, ...] = ()  # () until it is asked for
        self._hash = 0

    def __hash__(self) -> int:
        if not self._decisive:
            self._decisive = _decisive(self._space)
            self._hash = hash(self._decisive)
        return self._hash

    @property
    def calls(self) -> Hashable:
        """What decides the cycles and the scratch of any call: on an engine, whoever starts copies for it."""
        hash(self)
        return self._decisive[:3]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SpaceSignature):
            return NotImplemented
        return self is other or (hash(self) == hash(other) and self._decisive == other._decisive)


def call_signature(kernel: Kernel, site: Matched, access: Access, extents: Mapping[str, int]) -> tuple[Hashable, ...]:
    """What decides the cycles and the scratch of any call of a kernel, beside the engine. `extents`: of all of it."""
    axes = tuple(access.axes.items()) if isinstance(access, MapAccess) else site.node.name
    shape = TileShape(site=site, access=access, box={name: (0, trips) for name, trips in extents.items()})
    attributes = tuple((name, repr(value)) for name, value in site.node.attributes.items() if name != "requant")
    stated = kernel.cycles or kernel.instructions
    cycles = stated and (stated(shape), attributes)
    return kernel.name, cycles, kernel.scratch_bytes(shape), axes, access.loops, tuple(extents.items())


def _decisive(space: TilingSpace) -> tuple[Hashable, ...]:
    return (
        call_signature(space.kernel, space.site, space.access, space.extents),
        space.operations,
        replace(space.engine, dma_core=False) if space.engine.dma_core else space.engine,
        space.around,
        space.copied,
        space.grain,
        space.once,
        space.spared_bytes,
        space.sums,
        tuple(cut.name for cut in space.cuts),
    )
