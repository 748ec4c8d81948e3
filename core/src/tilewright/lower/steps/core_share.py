"""Knows which part of a tile a core computes, and what it declares to find out.
Does not know operands or buffers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tilewright.ir.access.index_map import MapAccess
from tilewright.ir.machines.core_shares import Share, share
from tilewright.ir.machines.platform import Engine, Platform
from tilewright.ir.programs.expressions import Expression, FunctionCall, Name, Number, all_of, equal, less
from tilewright.ir.programs.statements import Charge, Declare, Statement
from tilewright.lower.operands.c_boxes import CBox, ends_of, range_of
from tilewright.lower.tiles.tile_nest import TileNest, extents_of

if TYPE_CHECKING:
    from tilewright.lower.tiles.tile_operands import TiledStep

MINE = Name("mine")  # C variable: the core's own range
FIRST_CORE = equal(FunctionCall("tw_rt_core"), Number(0, unsigned=True))


@dataclass(frozen=True, slots=True, kw_only=True)
class CoreShare:
    """`box` is what one core runs, where `condition` holds: at most `extent` of `loop`. No loop: core 0 runs all."""

    engine: Engine
    loop: str
    extent: int
    box: CBox
    declared: tuple[Statement, ...]
    condition: Expression
    comment: str  # with `{tile}` where the tile is named

    @property
    def cores(self) -> int:
        """How many share the tile at most."""
        return self.engine.cores


def core_share(tiling: TiledStep) -> CoreShare:
    """A core's share of the innermost tile: along the kernel's first `parallel` loop that is long enough."""
    nest, kernel = tiling.nest, tiling.kernel
    engine = _engine(tiling.platform, kernel.engine)
    split = Share()
    if isinstance(nest.access, MapAccess):
        split = share(kernel, nest.access, extents_of(nest.ranges), engine.cores)
    if not split.loop:
        return CoreShare(
            engine=engine,
            loop="",
            extent=0,
            box=nest.box,
            declared=(),
            condition=all_of(FIRST_CORE, *_not_empty(nest)),
            comment="Computes all{tile}.",
        )
    low, high = ends_of(MINE)
    mine = FunctionCall("tw_share", (range_of(nest.box[split.loop]), Number(split.grain)))
    return CoreShare(
        engine=engine,
        loop=split.loop,
        extent=split.extent,
        box={**nest.box, split.loop: (low, high)},
        declared=(Declare(type="const tw_range", name=MINE.text, value=mine),),
        condition=all_of(less(low, high), *_not_empty(nest, split.loop)),
        comment=f"Computes this core's share{{tile}}, along loop {split.loop}.",
    )


def _not_empty(nest: TileNest, shared: str = "") -> list[Expression]:
    """The conditions that no loop but the shared one is empty in the tile; none where no tile has an empty loop.

    A reduction of no elements at all runs: its outputs are what it begins with.
    """
    nothing = {loop.name for loop in nest.access.loops if loop.kind != "parallel" and not loop.extent}
    maybe = [loop for loop, ranges in nest.ranges.items() if any(low >= high for low, high in ranges)]
    return [less(*nest.box[loop]) for loop in maybe if loop != shared and loop not in nothing]


def beginning(tilings: Sequence[TiledStep]) -> tuple[Statement, ...]:
    """What steps that are tiled together take before anything else."""
    cycles = round(
        sum(
            (_engine(tiling.platform, tiling.kernel.engine).step_cycles + tiling.kernel.step_cycles)
            for tiling in tilings
        )
    )
    return (Charge(code=FunctionCall("tw_rt_charge", (Number(cycles, unsigned=True),))),) if cycles else ()


def _engine(platform: Platform, name: str) -> Engine:
    return next((engine for engine in platform.engines if engine.name == name), platform.engines[0])
