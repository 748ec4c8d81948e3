"""Knows which constants of a plan are packed for the tiles that were chosen, and packs them.
Does not know how a kernel arranges them, nor who chooses tiles.
"""

from __future__ import annotations

from dataclasses import replace

from tilewright.ir.plans.plan_id import plan_id
from tilewright.ir.plans.stages import Allocated
from tilewright.ir.plans.tile_packing import boxes_of


def packed_for_tiles(plan: Allocated) -> Allocated:
    """The plan with the bytes of such constants (`Kernel.pack_tile`); nothing else of it changes but its id."""
    scheduled = plan.tiled.scheduled
    bound, constants = scheduled.bound, dict(scheduled.bound.constants)
    for group in plan.tiled.groups:
        binding = bound.bindings[group.name]
        if binding.kernel.pack_tile is None or not group.region.hops:
            continue
        layer = bound.layers[group.name]
        nests = [{cut.loop: cut.size for cut in hop.nest} for hop in group.region.hops]
        for operand, array in layer.packed_for(tuple(boxes_of(layer.access, nests))).items():
            array.flags.writeable = False
            constants[binding.constants[operand]] = array
    if all(constants[name] is array for name, array in bound.constants.items()):
        return plan
    tiled = replace(plan.tiled, scheduled=replace(scheduled, bound=replace(bound, constants=constants)))
    return replace(plan, tiled=tiled, plan_id=plan_id(tiled, plan.placements))
