"""Knows how a region becomes C for several cores and memories: a pipeline of tiles, or steps in one piece each.
Does not know the order of things inside a pipeline, the other regions, nor the border of the program.

All code of a region with hops is its last step's; the others have a comment, and C at file scope for their kernels.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from tilewright.c_text.fragment_files import fragment_file
from tilewright.c_text.identifiers import safe_identifier, unique_identifiers
from tilewright.ir.code_fragments import CodeFragment
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.machines.platform import Platform
from tilewright.ir.machines.routes import copy_grain
from tilewright.ir.plans.region import Region
from tilewright.ir.programs.program import StepCode
from tilewright.ir.programs.statements import ByteRange
from tilewright.ir.tensors.layout import strides
from tilewright.lower.operands.addresses import AddressBook
from tilewright.lower.operands.operand_bindings import OperandBinding, operand_bindings, scratch_name
from tilewright.lower.operands.scope import called, used
from tilewright.lower.regions.deferred_step import deferred_step
from tilewright.lower.regions.pipeline import Pipeline, pipeline, untiled
from tilewright.lower.steps.core_share import beginning
from tilewright.lower.steps.step_comments import buffer_rows, step_comment, tile_lines
from tilewright.lower.steps.whole_step import Lowered
from tilewright.lower.tiles.region_box import RegionBox, region_box
from tilewright.lower.tiles.tile_operands import (
    STEP_LOCALS,
    OperandLocation,
    TileBuffers,
    TiledStep,
    accumulator_of,
    operand_names,
    unsupported_tile,
)
from tilewright.tile.cost.footprint import tile_buffer_name
from tilewright.tile.cost.traffic import Traffic, crosses_whole, traffic_of
from tilewright.tile.line_buffers.analysis import LineBufferAnalysis
from tilewright.tile.machine import ScheduledMachine
from tilewright.tile.space.fusion import RegionAnalysis
from tilewright.tile.tile_buffers import analysis_of_region


def is_team(platform: Platform) -> bool:
    """Whether programs for the platform are run by several cores, or move data between memories."""
    return bool(platform.inner) or any(engine.cores > 1 for engine in platform.engines)


def rows_section() -> CodeFragment:
    """The C functions of what stays from tile to tile, and of several steps together."""
    return fragment_file("tilewright.lower", "text/group.c")


def keeps_rows(region: Region) -> bool:
    """Whether a region uses them."""
    rolls = any(copy.window == "rolling" for hop in region.hops for copy in hop.copies.values())
    return bool(region.hops) and (len(region.steps) > 1 or rolls)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lowering:
    """What stays the same from region to region."""

    book: AddressBook
    machine: ScheduledMachine
    row_steps: LineBufferAnalysis
    prefix: str

    def function(self, index: int, op: str) -> str:
        """The C function of a step."""
        total = len(self.machine.scheduled.steps)
        return f"{self.prefix}_{index:0{len(str(total - 1))}d}_{safe_identifier(op, 'op').lower()}"


def lowering(book: AddressBook, operators: Mapping[str, Operator], prefix: str) -> Lowering:
    """For one program."""
    machine = ScheduledMachine(book.allocated.tiled.scheduled, operators, book.allocated.decisions)
    return Lowering(book=book, machine=machine, row_steps=LineBufferAnalysis(machine), prefix=prefix)


def lower_region(region: Region, context: Lowering) -> Iterator[Lowered]:
    """The steps of a region, in order. TilewrightError TW4041 (exit 3) for what is sound, but has no code."""
    if region.hops:
        yield from _lowered(region, context)
        return
    for name in region.steps:
        yield from _lowered(Region(steps=(name,)), context)


def _lowered(region: Region, context: Lowering) -> Iterator[Lowered]:
    analysis = analysis_of_region(context.machine, region)
    tilings = _tilings(region, analysis, context)
    made, ending = Pipeline(sources=((),) * len(tilings)), None
    if region.name in context.machine.scheduled.deferred:
        made, ending = deferred_step(tilings[-1])
    elif any(binding.region.size_bytes for binding in tilings[-1].bindings if binding.written):
        made = pipeline(tilings, region) if region.hops else untiled(tilings[-1], region)
    for number, tiling in enumerate(tilings):
        yield Lowered(
            code=_code(number, tilings, made, region, context),
            sources=made.sources[number],
            kernel=tiling.kernel,
            ending=ending,
        )


def _code(number: int, tilings: Sequence[TiledStep], made: Pipeline, region: Region, context: Lowering) -> StepCode:
    tiling, final, book = tilings[number], number + 1 == len(tilings), context.book
    machine = context.machine
    begun = beginning(tilings) if made.body and region.hops else ()
    comment = step_comment(
        machine.numbers[tiling.step.name],
        len(machine.scheduled.steps),
        tiling.site,
        machine.bound.bindings[tiling.step.name],
        [binding for binding in tiling.bindings if binding.operand not in tiling.inner or _leaves(tiling, binding)],
        book,
        tiling.step,
        buffers=list(buffer_rows(tiling, region)),
        tiles=(*tile_lines(tilings, number), *_beside(tiling, machine)),
    )
    if not final:
        return StepCode(step=tiling.step.name, function=tiling.function, comment=comment, parameters=(), body=())
    return StepCode(
        step=tiling.step.name,
        function=tiling.function,
        comment=comment,
        parameters=tuple(sorted(used(book.bases, made.body), key=lambda parameter: parameter.name)),
        body=(*begun, *made.body),
        declarations=_struct(tiling.box) if made.body else (),
        parts=called(made.parts, made.body),
    )


def _beside(tiling: TiledStep, machine: ScheduledMachine) -> Iterator[str]:
    """The steps beside which the engine computes a step."""
    name = tiling.step.name
    if name in machine.scheduled.deferred:
        first, last = machine.numbers[name] + 1, machine.ends(name)
        beside = f"step {first}" if first == last else f"steps {first} to {last}"
        yield f"computed beside {beside}, behind which the engine is waited for"


def _leaves(tiling: TiledStep, binding: OperandBinding) -> bool:
    return binding.written and any(slot.binding is binding for slots in tiling.slots for slot in slots)


def _struct(box: RegionBox) -> tuple[str, ...]:
    members = "".join(f"    tw_range {member};\n" for member in box.members)
    return (f"typedef struct {{\n{members}}} {box.struct};",) if members else ()


# --- operands


def _tilings(region: Region, analysis: RegionAnalysis, context: Lowering) -> tuple[TiledStep, ...]:
    functions = [
        context.function(member.index, context.machine.nodes[member.step.name].op) for member in analysis.members
    ]
    box = region_box(analysis, region, functions[-1])
    traffic = traffic_of(box.boxes) if region.hops else ()
    buffers = {
        member.output.value: tile_buffer_name(member.step.name, member.output.name, region.hops[-1].inner, 0)
        for member in analysis.members[:-1]
        if member.output.value in region.unmaterialised
    }
    bindings = [_bindings(member.step.name, context, buffers) for member in analysis.members]
    names = _names(analysis, bindings, box, context.book)
    made: list[TiledStep] = []
    for number in range(len(analysis.members)):
        made.append(_tiling(number, region, box, context, functions[number], bindings[number], names[number], traffic))
    crossed = tuple(
        {slot.binding.what: slot for tiling in made for slot in tiling.slots[at] if crosses_whole(box.boxes, at)}
        for at in range(len(made[-1].nest.levels))
    )
    return tuple(_with_sums(replace(tiling, crossed=crossed), region) for tiling in made)


def _bindings(step: str, context: Lowering, buffers: Mapping[str, str]) -> tuple[OperandBinding, ...]:
    """The operands of a step; `buffers`: value that is in the scratchpad only -> its buffer."""
    machine, node = context.machine, context.machine.nodes[step]
    site, operator = machine.bound.site(node), machine.operators[node.op]
    return operand_bindings(site, operator, machine.bound.bindings[step], context.book, buffers)


def _names(
    analysis: RegionAnalysis, bindings: Sequence[Sequence[OperandBinding]], box: RegionBox, book: AddressBook
) -> Sequence[Mapping[str, str]]:
    """For each step, operand -> C identifier; no two of a region are the same."""
    if len(bindings) == 1:
        return [operand_names(bindings[0], book)]
    texts = [
        [f"{binding.operand.lower()}_{member.index}" for binding in own]
        for member, own in zip(analysis.members, bindings, strict=True)
    ]
    taken = [*STEP_LOCALS, *box.members, "before", *(parameter.name for parameter in book.bases)]
    names = unique_identifiers([text for own in texts for text in own], taken=taken, fallback="x")
    return [
        {binding.operand: names[text] for binding, text in zip(own, texts[number], strict=True)}
        for number, own in enumerate(bindings)
    ]


def _tiling(
    number: int,
    region: Region,
    box: RegionBox,
    context: Lowering,
    function: str,
    bindings: tuple[OperandBinding, ...],
    names: Mapping[str, str],
    traffic: Sequence[Sequence[Traffic]],
) -> TiledStep:
    member, machine = box.analysis.members[number], context.machine
    inner = dict(member.inside)
    if number + 1 < len(box.analysis.members):
        inner[member.output.name] = number
    nest = box.nest(number)
    return TiledStep(
        step=member.step,
        site=machine.site(member.step),
        operator=machine.operators[machine.nodes[member.step.name].op],
        kernel=machine.bound.bindings[member.step.name].kernel,
        nest=nest,
        bindings=bindings,
        names=names,
        book=context.book,
        platform=machine.platform,
        function=function,
        box=box,
        number=number,
        slots=tuple(
            tuple(_slots(at, here, box, number, bindings, names, machine.platform)) for at, here in enumerate(traffic)
        ),
        inner={operand: _held(box, context.book, maker, region) for operand, maker in inner.items()},
        scratch=scratch_name(box.analysis.sink.step),
    )


def _slots(
    at: int,
    traffic: Sequence[Traffic],
    box: RegionBox,
    number: int,
    bindings: Sequence[OperandBinding],
    names: Mapping[str, str],
    platform: Platform,
) -> Iterator[TileBuffers]:
    """The tile buffers of one step at one level, in the order of its operands."""
    mine = {crossing.item.name: crossing for crossing in traffic if crossing.number == number}
    level, hop = box.nest(number).levels[at], box.boxes.hops[at]
    step = box.analysis.members[number].step
    for binding in bindings:
        crossing = mine.get(binding.operand)
        if crossing is None or not binding.region.size_bytes:
            continue
        if crossing.fault:
            raise unsupported_tile(step, crossing.fault)
        if box.mixed(number, binding.operand, at, crossing.copy.level):
            reason = f"loops inside and outside of level {crossing.copy.level} move operand {binding.operand} together"
            raise unsupported_tile(step, reason)
        single = len(box.levels) == 1
        yield TileBuffers(
            binding=binding,
            level=level,
            copy=crossing.copy,
            name=names[binding.operand] if single else f"{names[binding.operand]}_{safe_identifier(hop.inner, 'near')}",
            buffers=tuple(
                tile_buffer_name(step.name, binding.operand, hop.inner, i) for i in range(crossing.copy.buffers)
            ),
            capacity=crossing.capacity,
            roll=crossing.roll,
            borrowed=not crossing.own,
            whole=crossing.entire,
            grain=copy_grain(platform, (hop.inner,)),
        )


def _held(box: RegionBox, book: AddressBook, number: int, region: Region) -> OperandLocation:
    """Where the output of a step of the region is kept."""
    member, memory = box.analysis.members[number], region.hops[-1].inner
    buffer = tile_buffer_name(member.step.name, member.output.name, memory, 0)
    place, item = book.of_buffer(buffer), member.output.item_bytes
    variable = box.variable(len(box.levels) - 1)
    return OperandLocation(
        parameter=place.parameter,
        memory=memory,
        offset=place.offset,
        strides=tuple(step * item for step in strides(box.boxes.internal_rows(number), member.output.layout)),
        origin=tuple(box.need(number, axis, variable)[0] for axis in range(len(member.output.shape))),
        ranges=(ByteRange(buffer=buffer, offset_bytes=0, size_bytes=book.buffers[buffer].size_bytes),),
    )


def _with_sums(tiling: TiledStep, region: Region) -> TiledStep:
    sums = accumulator_of(tiling, region)
    return tiling if sums is None else replace(tiling, sums=sums)
