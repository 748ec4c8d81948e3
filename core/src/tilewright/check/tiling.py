"""Knows whether tilings are sound, by going through every tile: what it reads, writes, keeps and copies. Does not
know any tiler, and trusts none: sizes, windows and limits are worked out here again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from tilewright.check.line_buffers.replay import LineBufferReplay
from tilewright.check.tiles.calls import CheckedStep, calls_of, run_faults
from tilewright.check.tiles.checked_plan import CheckedPlan, ViewReaders, operands_of
from tilewright.check.tiles.copies import Copies
from tilewright.check.tiles.overwriting import overwriting_faults
from tilewright.check.tiles.region_form import CheckedRegion
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.plans.region import Region
from tilewright.ir.plans.stages import Tiled


def check_tiles(tiled: Tiled, operators: Mapping[str, Operator]) -> tuple[str, ...]:
    """Everything that is wrong with the tilings of `tiled`; empty when nothing is."""
    plan = CheckedPlan(
        tiled=tiled,
        operators=operators,
        nodes={node.name: node for node in tiled.scheduled.bound.graph.nodes},
        buffers={buffer.name: buffer for buffer in tiled.buffers},
        numbers={step.name: number for number, step in enumerate(tiled.scheduled.steps)},
        views=tiled.scheduled.views,
        readers=ViewReaders(tiled.scheduled),
    )
    faults: list[str] = []
    for region in tiled.regions:
        where = "step" if len(region.steps) == 1 else "group"
        faults.extend(f"{where} '{region.name}': {fault}" for fault in dict.fromkeys(_region_faults(plan, region)))
    return (*faults, *_limit_faults(tiled))


def _region_faults(plan: CheckedPlan, region: Region) -> Iterator[str]:
    """What is wrong with a region, cheap things first: what makes no sense cannot be gone through."""
    steps = tuple(_checked_step(plan, name) for name in region.steps)
    form = tuple(CheckedRegion(plan=plan, region=region, steps=steps).faults())
    yield from form
    if region.line_buffers is not None and not form:
        yield from LineBufferReplay(plan, region, region.line_buffers, steps).faults()
    if form or not region.hops:
        return
    calls = calls_of(region, steps)
    runs = tuple(run_faults(region, calls))
    yield from runs
    copies = Copies(plan=plan, region=region, calls=calls)
    yield from copies.faults()
    if not runs:
        yield from overwriting_faults(copies)


def _checked_step(plan: CheckedPlan, name: str) -> CheckedStep:
    bound, node = plan.tiled.scheduled.bound, plan.nodes[name]
    site, binding, layer = bound.site(node), bound.bindings[name], bound.layers[name]
    return CheckedStep(
        name=name,
        number=plan.numbers[name],
        engine=binding.engine,
        site=site,
        kernel=binding.kernel,
        access=layer.access,
        operands=operands_of(plan, site),
    )


def _limit_faults(tiled: Tiled) -> Iterator[str]:
    """Everything that can only be in a memory, and lives together, fits there beside the runtime.

    On one memory, where rows are beside whole values, the allocator says what is too much.
    """
    platform = tiled.scheduled.bound.platform
    for memory in platform.memories if platform.inner else ():
        if memory.size_bytes is None or memory.managed_by == "application" or memory.kind == "const":
            continue
        limit = memory.size_bytes - platform.runtime_bytes.get(memory.name, 0)
        confined = [buffer for buffer in tiled.buffers if buffer.memories == (memory.name,) and buffer.kind == "tile"]
        changes = Counter[int]()
        for buffer in confined:
            changes[buffer.first] += buffer.size_bytes
            changes[buffer.last + 1] -= buffer.size_bytes
        used, begins = 0, {buffer.first for buffer in confined}
        for step in sorted(changes):
            used += changes[step]
            if used > limit and step in begins:
                yield f"tiles of step {step} take {used} B of memory '{memory.name}', which has {limit} B for them"
