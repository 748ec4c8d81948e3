"""Knows every buffer of a plan that is no value: tiles, sums, scratch, rows, copies of constants; and the memories in
which the engines that use a buffer reach it. Does not know where buffers are placed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from tilewright.errors import Exit, TilewrightError, unsupported_error
from tilewright.ir.machines.platform import Platform
from tilewright.ir.machines.routes import copy_grain
from tilewright.ir.plans.constant_copies import copies_of, copy_name, copying, read_as
from tilewright.ir.plans.region import Region, key_of
from tilewright.ir.plans.stages import Buffer, Step
from tilewright.ir.rounding import align_up
from tilewright.tile.cost.kernel_costs import scratch_bytes
from tilewright.tile.machine import NOTHING, ScheduledMachine
from tilewright.tile.memory_path import HopMemories

if TYPE_CHECKING:
    from tilewright.tile.space.fusion import RegionAnalysis

Use = Literal["ro", "rw"]
Uses = Mapping[str, Mapping[str, Use]]  # buffer -> engine -> what it does there


def analysis_of_region(
    machine: ScheduledMachine, region: Region, resident: Mapping[str, str] = NOTHING
) -> RegionAnalysis:
    """The steps of a region. TilewrightError TW4042 (exit 5) where they cannot be one."""
    from tilewright.tile.space.fusion import StepAnalyses, region_analysis

    steps = machine.scheduled.steps
    first = machine.numbers[region.steps[0]]
    hops = tuple(HopMemories(outer=hop.outer, inner=hop.inner) for hop in region.hops)
    chosen = steps[first : first + len(region.steps)]
    analysis = region_analysis(machine, first, chosen, resident, analyses=StepAnalyses(machine, hops))
    if isinstance(analysis, str):
        raise not_together(chosen, analysis)
    return analysis


def not_together(steps: Sequence[Step], reason: str) -> TilewrightError:
    """TW4042 (exit 5): these steps cannot be one group, and why. Another order, or other in-place pairs, may do."""
    return TilewrightError(
        "TW4042",
        f"a group of several steps cannot be tiled together: {reason}",
        where=f"group {', '.join(repr(step.name) for step in steps)}" if steps else "",
        fix=("remove the group from the pinned decisions, or end it before that step",),
        exit_code=Exit.DOES_NOT_FIT,
    )


def first_of(names: Sequence[str], numbers: Mapping[str, int]) -> int:
    """The number of the first of some steps. TilewrightError TW4042 (exit 5) where they do not follow one another."""
    at = [numbers.get(name, -1) for name in names]
    if at[0] < 0 or at != list(range(at[0], at[0] + len(at))):
        raise not_together([], f"{', '.join(names)} are not successive steps of the schedule")
    return at[0]


def region_buffers(
    machine: ScheduledMachine, regions: Sequence[Region], resident: Mapping[str, str] = NOTHING
) -> Iterator[Buffer]:
    """Tile buffers, sums and scratch of all regions, in order: alive only where the last step stands, and until its
    engine is waited for.

    `resident` has buffers that are not where decided, and their memory.
    """
    steps: LineBufferAnalysis | None = None
    for region in regions:
        if region.hops:
            yield from _near(machine, region, resident)
            continue
        if region.line_buffers is not None:
            from tilewright.tile.line_buffers.analysis import LineBufferAnalysis
            from tilewright.tile.line_buffers.buffers import line_buffers_of

            steps = steps or LineBufferAnalysis(machine)
            yield from line_buffers_of(steps, region, region.line_buffers)
            continue
        for name in region.steps:
            yield from _scratch(machine, machine.scheduled.steps[machine.numbers[name]])


def _near(machine: ScheduledMachine, region: Region, resident: Mapping[str, str]) -> Iterator[Buffer]:
    from tilewright.tile.cost.footprint import scratchpad_buffers
    from tilewright.tile.cost.tile_boxes import boxes_of
    from tilewright.tile.cost.traffic import traffic_of

    analysis = analysis_of_region(machine, region, resident)
    boxes = boxes_of(analysis, region.hops, region.forms)
    traffic, at = traffic_of(boxes), analysis.sink.index
    ends = machine.ends(region.name)
    for hop in range(len(region.hops)):
        alone = machine.grain(region.hops[hop].inner) if len(region.steps) == 1 else analysis.grains[hop]
        for buffer in scratchpad_buffers(boxes, traffic, region.sums, hop):
            yield Buffer(
                name=buffer.name,
                kind=buffer.kind,
                size_bytes=buffer.size_bytes,
                align=max(alone, buffer.align),
                first=at,
                last=ends,
                memories=(region.hops[hop].inner,),
            )


def _scratch(machine: ScheduledMachine, step: Step) -> Iterator[Buffer]:
    """Of a step that is computed in one piece."""
    binding, access, at = machine.bound.bindings[step.name], machine.access(step), machine.numbers[step.name]
    extents = {loop.name: loop.extent for loop in access.loops}
    cores = machine.engine(binding.engine).cores
    _, size = scratch_bytes(binding.kernel, machine.site(step), access, extents, cores)
    if size:
        yield Buffer(
            name=f"{step.name}.scratch",
            kind="scratch",
            size_bytes=size,
            align=max(machine.platform.buffer_align, 8, binding.kernel.align.get("scratch", 1)),
            first=at,
            last=machine.ends(step.name),
            memories=machine.memory_path.backing_memories,
        )


def persistent_buffers(
    buffers: Sequence[Buffer], machine: ScheduledMachine, regions: Sequence[Region]
) -> Iterator[Buffer]:
    """The buffers of values: what never leaves a region has none, what a region reads lives until its last step."""
    inner = machine.scheduled.with_views({value for region in regions for value in region.unmaterialised})
    until: dict[str, int] = {}
    for region in regions:
        if len(region.steps) > 1:
            for name in region.steps:
                values = (value for value in machine.nodes[name].inputs if value in machine.scheduled.storage)
                until |= {machine.scheduled.storage[value].buffer: machine.numbers[region.name] for value in values}
    for buffer in buffers:
        if not inner.issuperset(buffer.values):
            yield replace(buffer, last=max(buffer.last, until.get(buffer.name, 0)))


def constant_copies(machine: ScheduledMachine) -> Iterator[Buffer]:
    """In the order of the constants, then of the steps."""
    scheduled, bound = machine.scheduled, machine.bound
    final = max(len(scheduled.steps) - 1, 0)
    for name, staging in copies_of(machine.decisions, bound.constants):
        array = bound.constants[name]
        readers = [
            index for index, step in enumerate(scheduled.steps) if name in bound.bindings[step.name].constants.values()
        ]
        used = [(index, machine.ends(scheduled.steps[index].name)) for index in readers]
        lives = [(0, final)] if staging.when == "init" else used
        for first, last in lives if readers else ():
            yield Buffer(
                name=copy_name(name, staging, scheduled.steps[first].name),
                kind="resident" if staging.when == "init" else "staged",
                size_bytes=array.nbytes,
                align=max(machine.platform.buffer_align, array.dtype.itemsize, machine.aligns.get(name, 1)),
                first=first,
                last=last,
                memories=(staging.memory,),
            )


def engine_uses(machine: ScheduledMachine, regions: Sequence[Region]) -> Uses:
    """By buffer. What the run function itself does, copying inputs and outputs, its first engine does, unless the
    platform has copies, which then do it.

    An operand that is copied into tile buffers is used there, and not where it lives. One without elements is used
    nowhere, nor is anything by a step that writes nothing.
    """
    uses: dict[str, dict[str, Use]] = {}
    for buffer, engine, use in _all_uses(machine, regions):
        mine = uses.setdefault(buffer, {})
        mine[engine] = "rw" if "rw" in (use, mine.get(engine)) else "ro"
    return uses


def demand_scratchpad(machine: ScheduledMachine, regions: Sequence[Region]) -> None:
    """Every engine whose steps are tiled can use the scratchpad. TilewrightError TW5032 (exit 4) otherwise."""
    for region in regions:
        for name in region.steps if region.hops else ():
            engine = machine.bound.bindings[name].engine
            near = machine.platform.memory(region.hops[-1].inner)
            if not near.lets(engine, "rw"):
                raise unsupported_error(
                    "TW5032",
                    f"engine '{engine}' cannot compute in memory '{near.name}': it has {near.access_by(engine)}",
                    where=f"step '{name}'",
                    fix=("give the engine access to the scratchpad",),
                )


def padded(buffer: Buffer, platform: Platform) -> Buffer:
    """The buffer with room behind its last byte for what copies move more; what the caller owns stays as it is."""
    size = align_up(buffer.size_bytes, copy_grain(platform, buffer.memories))
    return buffer if size == buffer.size_bytes else replace(buffer, size_bytes=size)


def aligned(buffer: Buffer, platform: Platform) -> Buffer:
    """The buffer with those of its candidates that begin where it may. TilewrightError TW5066 (exit 4): none do."""
    able = tuple(name for name in buffer.memories if platform.memory(name).align % buffer.align == 0)
    if able or not buffer.memories:
        return buffer if able == buffer.memories else replace(buffer, memories=able)
    raise unsupported_error(
        "TW5066",
        f"buffer '{buffer.name}' must begin at a multiple of {buffer.align} bytes, and no memory for it does",
        where=f"{buffer.kind} {', '.join(buffer.values) or buffer.name}",
        details=tuple(
            f"memory '{name}' begins at a multiple of {platform.memory(name).align}" for name in buffer.memories
        ),
        fix=(f"give the memory align={buffer.align} in the target, or the kernel that wants it so a smaller `align`",),
    )


def reachable(buffer: Buffer, uses: Uses, platform: Platform) -> Buffer:
    """The buffer with those of its candidates that every engine which uses it can use so.

    TilewrightError TW5032 (exit 4) where there is none.
    """
    engines = uses.get(buffer.name, {})
    resident = tuple(
        name
        for name in buffer.memories
        if all(platform.memory(name).lets(engine, use) for engine, use in engines.items())
    )
    if resident or not buffer.memories:
        return buffer if resident == buffer.memories else replace(buffer, memories=resident)
    words = {"ro": "reads", "rw": "writes"}
    raise unsupported_error(
        "TW5032",
        f"no memory is left for buffer '{buffer.name}' that its engines can use",
        where=f"{buffer.kind} {', '.join(buffer.values) or buffer.name}",
        details=(
            *(f"engine '{engine}' {words[use]} it" for engine, use in engines.items()),
            *(f"memory '{name}': {_accesses(name, engines, platform)}" for name in buffer.memories),
        ),
        fix=("give an engine access to one of them, or pin the kernel of a step to another engine's",),
    )


def _accesses(name: str, engines: Mapping[str, Use], platform: Platform) -> str:
    memory = platform.memory(name)
    return ", ".join(f"{engine} has {memory.access_by(engine)}" for engine in engines)


def _copied(machine: ScheduledMachine, region: Region) -> set[str]:
    """Operands that cores do not use where they live: keys of copies, values that are held or have crossed whole."""
    keys = {key for hop in region.hops for key in hop.copies}
    whole = {key for hop in region.hops[:-1] if not hop.nest for key in hop.copies}
    steps = [machine.scheduled.steps[machine.numbers[name]] for name in region.steps if whole]
    crossed = {
        operand.value
        for step in steps for operand in machine.operands(step) if key_of(step.name, operand.name) in whole
    }  # fmt: skip
    return (
        keys | crossed | machine.scheduled.with_views(region.internal_values if region.hops else region.unmaterialised)
    )


def _all_uses(machine: ScheduledMachine, regions: Sequence[Region]) -> Iterator[tuple[str, str, Use]]:
    copied = [(region, _copied(machine, region)) for region in regions]
    inside_of = {step: inside for region, inside in copied for step in region.steps}
    storage, graph = machine.scheduled.storage, machine.bound.graph
    for step in machine.scheduled.steps:
        engine, inside = machine.bound.bindings[step.name].engine, inside_of[step.name]
        operands = machine.operands(step)
        if all(0 in operand.shape for operand in operands if operand.written):
            continue
        for operand in operands:
            elsewhere = operand.value in inside or key_of(step.name, operand.name) in inside
            if not elsewhere and 0 not in operand.shape:
                stored = read_as(operand.value, machine.decisions, step.name)
                name = stored if operand.constant else storage[operand.value].buffer
                yield name, engine, "rw" if operand.written else "ro"
        yield f"{step.name}.scratch", engine, "rw"
    runs = machine.platform.engines[0].name
    yield from ((storage[value].buffer, runs, "rw") for value in machine.decisions.state)
    yield from ((storage[value].buffer, runs, "ro") for value in machine.decisions.state.values())
    for name, staging in copies_of(machine.decisions, machine.bound.constants):
        if copying(machine.platform, staging.memory) == "memcpy":
            yield name, runs, "ro"
            yield from ((copy_name(name, staging, step.name), runs, "rw") for step in machine.scheduled.steps)
    if machine.platform.copies:
        return
    yield from ((storage[value].buffer, runs, "rw") for value in graph.inputs)
    yield from ((storage[value].buffer, runs, "ro") for value in graph.outputs if value in storage)
