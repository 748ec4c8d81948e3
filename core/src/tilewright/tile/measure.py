"""Knows what the tilings of a plan cost, step by step, and what is executed. Does not know how they were chosen."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from tilewright.bind.candidates import engine_of, whole_cycles
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.machines.platform import Engine
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.plans.region import Region, key_of
from tilewright.ir.plans.stages import Bound, Tiled
from tilewright.tile.machine import ScheduledMachine
from tilewright.tile.tile_buffers import analysis_of_region

if TYPE_CHECKING:
    from tilewright.tile.cost.region_cost import HopCost
    from tilewright.tile.space.fusion import RegionAnalysis


def step_costs(
    tiled: Tiled, operators: Mapping[str, Operator], decisions: Decisions
) -> Mapping[str, tuple[HopCost, ...]]:
    """For each step the cost of each of its hops, outermost first; nothing for a step in one piece. All of a region of
    several steps stands at its last one. Equal layers that are tiled alike are played once.

    Where `decisions` place a value, it is copied from there.
    """
    costs: dict[str, tuple[HopCost, ...]] = {step.name: () for step in tiled.scheduled.steps}
    if not any(region.hops for region in tiled.regions):
        return costs
    from tilewright.tile.cost.region_cost import region_costs

    machine = ScheduledMachine(tiled.scheduled, operators, decisions)
    known: dict[Hashable, tuple[HopCost, ...]] = {}
    for region in tiled.regions:
        if region.hops:
            analysis = analysis_of_region(machine, region)
            key = _key(analysis, region)
            if key not in known:
                known[key] = region_costs(analysis, region)
            costs[region.name] = known[key]
    return costs


def step_instructions(tiled: Tiled, operators: Mapping[str, Operator], decisions: Decisions) -> Mapping[str, float]:
    """For each step what is executed, where engines are cores that say so: what cycles would be if every instruction
    took one. All of a region stands at its last step. Nothing for a target that knows no instructions.
    """
    bound = tiled.scheduled.bound
    if all(engine.instructions is None for engine in bound.platform.engines):
        return {}
    platform = replace(bound.platform, engines=tuple(map(_counting, bound.platform.engines)))
    scheduled = replace(tiled.scheduled, bound=replace(bound, platform=platform))
    machine = ScheduledMachine(scheduled, operators, decisions)
    return {region.name: _executed(machine, region) for region in tiled.regions}


def deepest_stack(tiled: Tiled) -> int | None:
    """Bytes of stack that a run takes at most, by what steps with the same kernels took; None where no target says."""
    bound = tiled.scheduled.bound
    result = [_stack(bound, region) for region in tiled.regions]
    return None if not result or None in result else max(stack for stack in result if stack is not None)


def _stack(bound: Bound, region: Region) -> int | None:
    kernels = [bound.bindings[name].kernel for name in region.steps]
    costs = [engine_of(kernel, bound.platform).instructions for kernel in kernels]
    known = [cost.stack_bytes(kernel) for cost, kernel in zip(costs, kernels, strict=True) if cost is not None]
    by_rows = max((cost.row_stack_bytes for cost in costs if cost is not None), default=0) if region.line_buffers else 0
    return max(known) + by_rows if len(known) == len(kernels) else None


def _counting(engine: Engine) -> Engine:
    return replace(engine, instructions=engine.instructions.counted() if engine.instructions else None)


def _executed(machine: ScheduledMachine, region: Region) -> float:
    if region.line_buffers is not None:
        from tilewright.tile.line_buffers.analysis import LineBufferAnalysis
        from tilewright.tile.line_buffers.buffers import line_buffered_cycles

        return line_buffered_cycles(LineBufferAnalysis(machine), region, region.line_buffers)
    layers = [machine.bound.layers[name] for name in region.steps]
    return sum(whole_cycles(layer, machine.platform) for layer in layers)


def _key(analysis: RegionAnalysis, region: Region) -> Hashable:
    """Equal for regions that cost the same: all but names."""
    steps = tuple(
        (member.key, member.readers, member.live_out, tuple(member.inside.items())) for member in analysis.members
    )
    names = [key_of(member.step.name, item.name) for member in analysis.members for item in member.operands]
    hops = tuple((hop.outer, hop.inner, hop.nest, tuple(map(hop.copies.get, names))) for hop in region.hops)
    return steps, hops, tuple(region.forms.values()), tuple(region.sums.values())
