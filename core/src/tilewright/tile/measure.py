"""Knows what the tilings of a plan cost, step by step. Does not know how they were chosen."""

from __future__ import annotations

from collections.abc import Mapping

from tilewright.decisions import Decisions
from tilewright.operator import Operator
from tilewright.stages import Tiled
from tilewright.tile.buffers import hop_spaces
from tilewright.tile.cost import HopCost, nested_costs
from tilewright.tile.spaces import Machine


def step_costs(
    tiled: Tiled, operators: Mapping[str, Operator], decisions: Decisions
) -> Mapping[str, tuple[HopCost, ...]]:
    """For each step the cost of each of its hops, outermost first; nothing for a step in one piece.

    Where `decisions` place a value, it travels from there.
    """
    machine = Machine(tiled.scheduled, operators, decisions)
    hops = {step: group.tile.hops for group in tiled.groups for step in group.steps}
    return {
        step.name: nested_costs(tuple(hop_spaces(machine, index, step, hops[step.name])))
        for index, step in enumerate(tiled.scheduled.steps)
    }
