"""Knows what the tilings of a plan cost, step by step. Does not know how they were chosen."""

from __future__ import annotations

from collections.abc import Mapping

from tilewright.decisions import Decisions
from tilewright.operator import Operator
from tilewright.stages import Tiled
from tilewright.tile.buffers import hop_spaces
from tilewright.tile.cost import HopCost, nested_costs
from tilewright.tile.fuse_buffers import group_chain
from tilewright.tile.fuse_cost import group_costs
from tilewright.tile.spaces import Machine


def step_costs(
    tiled: Tiled, operators: Mapping[str, Operator], decisions: Decisions
) -> Mapping[str, tuple[HopCost, ...]]:
    """For each step the cost of each of its hops, outermost first; nothing for a step in one piece. All of a group of
    several steps stands at its last one.

    Where `decisions` place a value, it travels from there.
    """
    machine = Machine(tiled.scheduled, operators, decisions)
    alone = {group.name: group.tile.hops for group in tiled.groups if len(group.steps) == 1}
    together = {group.name: group for group in tiled.groups if len(group.steps) > 1}
    costs: dict[str, tuple[HopCost, ...]] = {}
    for index, step in enumerate(tiled.scheduled.steps):
        costs[step.name] = ()
        if step.name in alone:
            costs[step.name] = nested_costs(tuple(hop_spaces(machine, index, step, alone[step.name])))
        elif step.name in together:
            group = together[step.name]
            costs[step.name] = group_costs(group_chain(machine, group), group.tile)
    return costs
