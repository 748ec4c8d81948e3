"""Knows what the tilings of a plan cost, step by step. Does not know how they were chosen."""

from __future__ import annotations

from collections.abc import Mapping

from tilewright.decisions import Decisions
from tilewright.operator import Operator
from tilewright.stages import Tiled
from tilewright.tile.buffers import region_chain
from tilewright.tile.cost import HopCost, region_costs
from tilewright.tile.spaces import Machine


def step_costs(
    tiled: Tiled, operators: Mapping[str, Operator], decisions: Decisions
) -> Mapping[str, tuple[HopCost, ...]]:
    """For each step the cost of each of its hops, outermost first; nothing for a step in one piece. All of a region of
    several steps stands at its last one.

    Where `decisions` place a value, it is copied from there.
    """
    machine = Machine(tiled.scheduled, operators, decisions)
    costs: dict[str, tuple[HopCost, ...]] = {step.name: () for step in tiled.scheduled.steps}
    for region in tiled.regions:
        if region.hops:
            costs[region.name] = region_costs(region_chain(machine, region), region)
    return costs
