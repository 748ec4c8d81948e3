"""Knows what a tiling of one space costs and takes when it is played, without a schedule around it.
Does not know how tilings are found.
"""

from __future__ import annotations

from tilewright.ir.access.index import mentions
from tilewright.ir.plans.region import Hop, Region, SplitReduction, Tiles
from tilewright.ir.plans.stages import Step
from tilewright.tile.cost.region_cost import HopCost, region_costs
from tilewright.tile.machine import StepOperand
from tilewright.tile.memory_path import HopMemories
from tilewright.tile.space.fusion import RegionAnalysis, RegionStep, StepCallCache
from tilewright.tile.space.split_reductions import cut_reductions
from tilewright.tile.space.tiling_space import TilingSpace


def space_cost(space: TilingSpace, hop: Hop) -> HopCost:
    """Of a step alone over its only hop."""
    return region_costs(space_chain(space, hop), space_region(space, hop))[0]


def space_region(space: TilingSpace, hop: Hop) -> Region:
    """The step of a space, tiled so."""
    name, split = space.site.node.name, cut_reductions(space.access, hop.nest, space.extents)
    sums = {}
    if split and space.sums is not None:
        sums = {name: SplitReduction(loops=split, dtype=space.sums.dtype, in_output=space.sums_in_output)}
    return Region(steps=(name,), schedule=Tiles(hops=(hop,)), sums=sums)


def space_chain(space: TilingSpace, hop: Hop) -> RegionAnalysis:
    """The step of a space as a region has it; operands that are not copied are left out."""
    name = space.site.node.name
    operands = tuple(
        StepOperand(
            name=item.name,
            value=item.name,
            shape=item.shape,
            layout=item.layout,
            item_bytes=item.item_bytes,
            memory=hop.inner if item.written else hop.outer,
            offset_bytes=0,
            written=item.written,
            constant=False,
        )
        for item in space.copied
    )
    loops = [loop.name for loop in space.access.loops]
    member = RegionStep(
        index=0,
        step=Step(name=name, nodes=(name,)),
        access=space.access,
        spaces=(space,),
        key=(),
        operands=operands,
        output=next(item for item in operands if item.written),
        inside={},
        readers=(),
        live_out=True,
        loops=(),
        moves={
            operand: tuple(tuple(loop for loop in loops if mentions(axis.index, loop)) for axis in axes)
            for operand, axes in space.index_map.axes.items()
        },
        calls=StepCallCache(),
    )
    way = HopMemories(outer=hop.outer, inner=hop.inner)
    return RegionAnalysis(members=(member,), hops=(way,), rooms=(space.available_bytes,), grains=(space.grain,))
