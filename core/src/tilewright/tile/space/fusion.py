"""Knows the steps of a region on a machine: how their values depend on each other, and why steps
cannot be fused into one region.
Does not know tiles (`boxes`), costs, or which regions are chosen.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from tilewright.ir.access.index import Index, bare_loop
from tilewright.ir.access.index_map import Access, MapAccess
from tilewright.ir.machines.kernel import PartialSums
from tilewright.ir.plans.region import Copy, Hop, key_of
from tilewright.ir.plans.stages import Step
from tilewright.tile.machine import NOTHING, ScheduledMachine, StepOperand
from tilewright.tile.memory_path import HopMemories
from tilewright.tile.space.step_spaces import SpaceSignature, step_space
from tilewright.tile.space.tiling_space import CopiedOperand, TilingSpace, touched_bytes

UNTAKEN: Mapping[str, int] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class InnerReader:
    """A step of the group, by its number in it, that reads an inner value."""

    member: int
    operand: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StepCallCache:
    """What calls of a step take that were asked for before, and to finish them, by the trips of its loops; scratch by
    the most trips of any tile, and by the loops of which some have fewer. `least`: what calls of so many trips take
    together at least; `gapless`: whether windows of an operand touch each other along these loops.
    """

    cycles: dict[tuple[int, ...], tuple[float, float]] = field(default_factory=dict)
    least: dict[tuple[int, ...], float] = field(default_factory=dict)
    gapless: dict[tuple[str, frozenset[str]], bool] = field(default_factory=dict)
    scratch: dict[tuple[tuple[int, ...], tuple[str, ...]], int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class RegionStep:
    """One step of a region. Of a hop's space `copied` are the operands that come from outside, or leave."""

    index: int  # in the schedule
    step: Step
    access: Access
    spaces: tuple[TilingSpace, ...]  # over each hop, outermost first
    key: Hashable  # see `StepAnalysis`
    operands: tuple[StepOperand, ...]
    output: StepOperand
    inside: Mapping[str, int]  # operand -> number of the member that computes it
    readers: tuple[InnerReader, ...]  # of the output; none for the sink
    live_out: bool  # the output is needed outside, too; the sink's always is
    loops: tuple[str, ...]  # one for each axis of the output; "" where a call always writes the whole axis
    moves: Mapping[str, tuple[tuple[str, ...], ...]]  # operand -> by axis the loops that its index depends on
    calls: StepCallCache
    sums: PartialSums | None = None  # see `Kernel.accumulates`

    @property
    def space(self) -> TilingSpace:
        """Over the last hop."""
        return self.spaces[-1]

    @property
    def index_map(self) -> MapAccess:
        """The access, where it is an index map. TypeError otherwise."""
        if not isinstance(self.access, MapAccess):
            raise TypeError(f"{self.step.name}: the access is no index map")
        return self.access


@dataclass(frozen=True, slots=True, kw_only=True)
class RegionAnalysis:
    """The steps of a region. The last is the sink."""

    members: tuple[RegionStep, ...]
    hops: tuple[HopMemories, ...]  # outermost first
    rooms: tuple[int | None, ...]  # bytes of each hop's scratchpad; None: no limit
    grains: tuple[int, ...]  # tile buffers of each begin at multiples of it

    @property
    def sink(self) -> RegionStep:
        """The step whose loops are cut."""
        return self.members[-1]

    @property
    def inner(self) -> tuple[str, ...]:
        """The values that pass between the steps, in order."""
        return tuple(member.output.value for member in self.members[:-1])

    def available_bytes(self, hop: int = -1) -> float:
        """Bytes of the scratchpad of a hop."""
        room = self.rooms[hop]
        return float("inf") if room is None else float(room)

    def crossing(self, hop: int) -> Iterator[tuple[RegionStep, CopiedOperand]]:
        """What has to cross a hop, each value once."""
        seen: set[str] = set()
        for member in self.members:
            values = {item.name: item.value for item in member.operands}
            for item in member.spaces[hop].copied:
                if values[item.name] not in seen:
                    seen.add(values[item.name])
                    yield member, item


def whole_hops(analysis: RegionAnalysis) -> tuple[Hop, ...]:
    """The hops before the last where nothing is cut on them: all that crosses is resident."""
    return tuple(
        Hop(
            outer=hop.outer,
            inner=hop.inner,
            copies={key_of(member.step.name, item.name): Copy(level=0) for member, item in analysis.crossing(at)},
        )
        for at, hop in enumerate(analysis.hops[:-1])
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class StepAnalysis:
    """What fusion must know of a step. `key` is equal where spaces have the same tilings in the same room."""

    step: Step
    spaces: tuple[TilingSpace, ...]  # over each hop, outermost first
    key: Hashable
    operands: tuple[StepOperand, ...]
    moves: Mapping[str, tuple[tuple[str, ...], ...]]  # see `RegionStep`
    not_fusible: str  # why it can be in no region of several steps; empty where it can
    not_internal: str  # why what it writes cannot pass to another step of one
    calls: StepCallCache
    sums: PartialSums | None  # see `Kernel.accumulates`

    @property
    def output(self) -> StepOperand:
        """What it writes; the first of several."""
        return next(item for item in self.operands if item.written)


class StepAnalyses:
    """The steps of a machine's schedule: each is analysed once for each set of resident operands that it has.

    `hops`: those that regions are copied over; None: all of the machine's. `calls`: what is known of steps whose calls
    are alike; None: each is for itself.
    """

    def __init__(
        self,
        machine: ScheduledMachine,
        hops: Sequence[HopMemories] | None = None,
        calls: dict[Hashable, StepCallCache] | None = None,
    ) -> None:
        self.machine, self.hops, self.calls = machine, machine.hops if hops is None else tuple(hops), calls
        self._analyses: dict[tuple[int, frozenset[tuple[str, str]]], StepAnalysis] = {}
        self._touched: dict[int, frozenset[str]] = {}

    def at(self, index: int, resident: Mapping[str, str] = NOTHING) -> StepAnalysis:
        """`resident` has buffers that are not where decided, and their memory."""
        step = self.machine.scheduled.steps[index]
        if index not in self._touched:
            self._touched[index] = frozenset(item.buffer for item in self.machine.operands(step))
        here = {name: resident[name] for name in self._touched[index].intersection(resident)}
        key = index, frozenset(here.items())
        if key not in self._analyses:
            self._analyses[key] = self._analyse(index, step, here)
        return self._analyses[key]

    def _analyse(self, index: int, step: Step, resident: Mapping[str, str]) -> StepAnalysis:
        machine = self.machine
        spaces = tuple(step_space(machine, index, step, hop.inner, resident=resident) for hop in self.hops)
        operands = machine.operands(step, resident)
        access, key = machine.access(step), tuple(SpaceSignature(hop_space) for hop_space in spaces)
        return StepAnalysis(
            step=step,
            spaces=spaces,
            key=key,
            operands=operands,
            moves=_moves(access),
            not_fusible=_not_fusible(machine, access, step, operands),
            not_internal=_not_held(access),
            calls=StepCallCache() if self.calls is None else self.calls.setdefault(key[-1].calls, StepCallCache()),
            sums=machine.bound.layers[step.name].sums,
        )


def region_analysis(
    machine: ScheduledMachine,
    index: int,
    steps: Sequence[Step],
    resident: Mapping[str, str] = NOTHING,
    taken: Mapping[str, int] = UNTAKEN,
    analyses: StepAnalyses | None = None,
) -> RegionAnalysis | str:
    """The steps from `index` on as a group, or a sentence that says why they are none.

    `resident` has buffers that are not where decided, and their memory; `taken` is what they take of memories.
    """
    analyses = analyses or StepAnalyses(machine)
    if len(steps) > 1 and not analyses.hops:
        return "several steps are tiled together only where values can stay in a scratchpad"
    seen = [analyses.at(index + number, resident) for number in range(len(steps))]
    for number, seen_step in enumerate(seen if len(seen) > 1 else ()):
        held = number + 1 < len(seen)
        not_fusible = (
            seen_step.not_fusible
            or (held and (seen_step.not_internal or _wanted_elsewhere(analyses, seen_step, seen)))
            or ""
        )
        if not_fusible:
            return f"step '{seen_step.step.name}': {not_fusible}"
    made = {seen_step.output.value: number for number, seen_step in enumerate(seen[:-1])}
    analysis = RegionAnalysis(
        members=tuple(_member(analyses, index + number, number, seen, made) for number in range(len(seen))),
        hops=analyses.hops,
        rooms=tuple(_room(machine, hop.inner, index, len(seen), taken) for hop in analyses.hops),
        grains=tuple(max(machine.tile_grain(step.name, hop.inner) for step in steps) for hop in analyses.hops),
    )
    return _conflict(machine, analysis) or analysis


def single_step_analysis(
    machine: ScheduledMachine, index: int, hops: Sequence[HopMemories], spaces: Sequence[TilingSpace]
) -> RegionAnalysis:
    """A step alone, over some hops. `spaces` are its tilings over each of them."""
    step, access = machine.scheduled.steps[index], machine.access(machine.scheduled.steps[index])
    operands = machine.operands(step)
    member = RegionStep(
        index=index,
        step=step,
        access=access,
        spaces=tuple(spaces),
        key=(),
        operands=operands,
        output=next(item for item in operands if item.written),
        inside={},
        readers=(),
        live_out=True,
        loops=(),
        moves=_moves(access),
        calls=StepCallCache(),
    )
    return RegionAnalysis(
        members=(member,),
        hops=tuple(hops),
        rooms=tuple(space.available_bytes for space in spaces),
        grains=tuple(machine.tile_grain(step.name, hop.inner) for hop in hops),
    )


def _moves(access: Access) -> Mapping[str, tuple[tuple[str, ...], ...]]:
    return access.moves if isinstance(access, MapAccess) else {}


def _not_fusible(machine: ScheduledMachine, access: Access, step: Step, operands: Sequence[StepOperand]) -> str:
    """Why a step can be in no region of several."""
    node = machine.nodes[step.name]
    kernel = machine.bound.bindings[step.name].kernel
    if kernel.packs_late or kernel.banks:
        return "its constants are packed for tiles of its own, or operands in banks"
    wanted, near = [item for item in operands if item.name in kernel.align], machine.platform.inner
    if near and any(machine.path(item, kernel, near) is None for item in wanted):
        return "it wants operands aligned that no copy brings"
    if not isinstance(access, MapAccess):
        return "its windows are no index map"
    if len(node.outputs) != 1 or len(step.nodes) != 1:
        return "it is more than one node, or has more than one output"
    if any(0 in operand.shape for operand in operands):
        return "it computes nothing"
    return ""


def _not_held(access: Access) -> str:
    """Why the output of a step cannot pass to another step of a region."""
    if isinstance(access, MapAccess):
        output = access.outputs[0]
        if any(not _is_loop(axis.index, bare_loop(axis), axis.extent) for axis in access.axes[output]):
            return f"{output} is not written with one loop to each axis"
    return ""


def _wanted_elsewhere(analyses: StepAnalyses, analysis: StepAnalysis, seen: Sequence[StepAnalysis]) -> str:
    """That no step of the region reads the output of one, that one wants it in a memory where it is not, or that others
    read it whole where the region would hold parts of it: resident, or pinned there.
    """
    value, near = analysis.output.value, analyses.machine.platform.inner
    if analysis.output.memory == near and _leaves(analyses, analysis, {other.step.name for other in seen}):
        return f"'{value}' is to be whole in '{near}'"
    if analyses.machine.aligns.get(value, 1) > analysis.output.item_bytes:
        return f"'{value}' is to begin at multiples of {analyses.machine.aligns[value]} bytes"
    if not any(operand.value == value and not operand.written for user in seen for operand in user.operands):
        return f"no step of the group reads '{value}'"
    for user in seen:
        memories = analyses.machine.bound.bindings[user.step.name].kernel.memories
        for operand in user.operands:
            if operand.value == value and near not in memories.get(operand.name, (near,)):
                return f"'{user.step.name}' wants '{value}' in another memory than '{near}'"
    return ""


def _leaves(analyses: StepAnalyses, analysis: StepAnalysis, names: set[str]) -> bool:
    """Whether anything outside these steps needs what a step writes."""
    value = analysis.output.value
    readers = (node.name for node in analyses.machine.consumers.get(value, ()))
    return value in analyses.machine.bound.graph.outputs or any(name not in names for name in readers)


def _is_loop(index: Index | None, loop: str, extent: int) -> bool:
    return index is None or bool(loop) or (extent == 1 and not index.terms)


def _member(
    analyses: StepAnalyses, index: int, number: int, seen: Sequence[StepAnalysis], made: Mapping[str, int]
) -> RegionStep:
    here, last = seen[number], number + 1 == len(seen)
    inside = {item.name: made[item.value] for item in here.operands if not item.written and item.value in made}
    output = here.output
    leaves = last or _leaves(analyses, here, {analysis.step.name for analysis in seen})
    readers = tuple(
        InnerReader(member=at, operand=item.name)
        for at, analysis in enumerate(seen)
        for item in analysis.operands
        if item.value == output.value and not item.written
    )
    access = analyses.machine.access(here.step)
    axes = access.axes[output.name] if isinstance(access, MapAccess) else ()
    inside_region = {*inside, *(() if leaves else (output.name,))}
    return RegionStep(
        index=index,
        step=here.step,
        access=access,
        spaces=tuple(_without(space, inside_region) for space in here.spaces) if inside_region else here.spaces,
        key=here.key,
        operands=here.operands,
        output=output,
        inside=inside,
        readers=readers,
        live_out=leaves,
        loops=tuple(bare_loop(axis) for axis in axes),
        moves=here.moves,
        calls=here.calls,
        sums=here.sums,
    )


def _without(space: TilingSpace, inside_region: set[str]) -> TilingSpace:
    """The space with operands that stay in the region: they are not copied, but would be, layer by layer."""
    spared = (item for item in space.copied if item.name in inside_region)
    return replace(
        space,
        copied=tuple(item for item in space.copied if item.name not in inside_region),
        spared_bytes=space.spared_bytes
        + sum(touched_bytes(space.access, item.name, item.item_bytes) for item in spared),
    )


def _room(machine: ScheduledMachine, memory: str, index: int, count: int, taken: Mapping[str, int]) -> int | None:
    """Bytes of a memory that `count` steps from `index` on may all take."""
    rooms = [machine.available_bytes(memory, index + number) for number in range(count)]
    known = [room for room in rooms if room is not None]
    return min(known) - taken.get(memory, 0) if known else None


def _conflict(machine: ScheduledMachine, analysis: RegionAnalysis) -> str:
    """Indices that do not rise, and outputs that take the bytes of something the region reads or writes."""
    if len(analysis.members) == 1:
        return ""
    taken: dict[str, str] = {}  # buffer -> value that is written to it
    storage = machine.scheduled.storage
    for member in analysis.members:
        for operand, maker in member.inside.items():
            moved = {loop for loop in analysis.members[maker].loops if loop}
            if moved and not all(rises(axis.index) for axis in member.index_map.axes[operand]):
                return f"step '{member.step.name}': it reads {operand} with an index that does not rise with its loops"
        value = member.output.value
        if member.live_out and taken.setdefault(storage[value].buffer, value) != value:
            return f"the outputs '{taken[storage[value].buffer]}' and '{value}' share bytes"
    for member in analysis.members:
        for item in member.operands:
            if item.constant or item.written or item.name in member.inside:
                continue
            over = taken.get(storage[item.value].buffer)
            if over is not None:
                return f"the output '{over}' takes the bytes of '{item.value}', which the group reads"
    return ""


def rises(index: Index | None) -> bool:
    """Whether a later trip of any loop never means an earlier position."""
    if index is None:
        return True
    return all(
        term.coefficient >= 0 and term.operation != "%" and (term.inner is None or rises(term.inner))
        for term in index.terms
    )
