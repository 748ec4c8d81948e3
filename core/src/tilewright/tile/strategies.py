"""Knows the built-in tilers: fastest, smallest, largest and random tiles for every step on its own.
Does not know how spaces are built or searched.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import Literal

from tilewright.decisions import GroupTile, HopTile
from tilewright.stages import Group, Step
from tilewright.tile.buffers import hop_spaces
from tilewright.tile.cost import nested_costs
from tilewright.tile.misfit import does_not_fit
from tilewright.tile.pick import pick
from tilewright.tile.search import Found, Search
from tilewright.tile.space import Space
from tilewright.tile.spaces import Machine, structural_key
from tilewright.tile.tiler import TilingRequest
from tilewright.tile.whole import WholeTiler

Strategy = Literal["auto", "cost", "min", "max", "random-max"]


@dataclass(frozen=True, slots=True, kw_only=True)
class StepTiler:
    """Tiles every step on its own, over each hop from the home memory to the near one."""

    name: Strategy
    summary: str

    def plan(self, request: TilingRequest) -> tuple[Group, ...]:
        """See `Tiler.plan`. TilewrightError TW5101 (exit 5) for a step that no tiling makes fit."""
        machine = Machine(request.scheduled, request.operators, request.decisions)
        if not machine.hops:
            return WholeTiler().plan(request)
        known: dict[Hashable, Found | None] = {}
        groups = []
        for index, step in enumerate(request.scheduled.steps):
            pinned = request.decisions.tiles.get(step.name)
            tile = pinned or self._tile(machine, index, step, request, known)
            cycles = _cycles(machine, index, step, tile)
            groups.append(Group(name=step.name, steps=(step.name,), tile=tile, cycles=cycles))
        return tuple(groups)

    def _tile(
        self, machine: Machine, index: int, step: Step, request: TilingRequest, known: dict[Hashable, Found | None]
    ) -> GroupTile:
        hops: list[HopTile] = []
        for way in machine.hops:
            space = machine.space(index, step, (way.far, way.near), tuple(hops))
            if not space.travellers:
                continue
            key = structural_key(space)
            if key not in known:
                known[key] = self._found(space, request, index)
            found = known[key]
            if found is None:
                rest = request.scheduled.steps[index + 1 :] if len(machine.hops) == 1 else ()
                later = [machine.space(index + 1 + at, one, (way.far, way.near)) for at, one in enumerate(rest)]
                spaces = {structural_key(one): one for one in (space, *later) if one.travellers}
                raise does_not_fit(machine, step, tuple(spaces.values()), way.near)
            hops.append(found.on(way.far, way.near))
        return GroupTile(hops=tuple(hops))

    def _found(self, space: Space, request: TilingRequest, index: int) -> Found | None:
        """Where not every operand that travels again can have two buffers, those have them that gain most."""
        found = self._with_buffers(space, request, index)
        if found is None and request.buffering == "double":
            return self._with_buffers(space, replace(request, buffering="auto"), index)
        return found

    def _with_buffers(self, space: Space, request: TilingRequest, index: int) -> Found | None:
        if self.name == "auto" or self.name == "cost":
            return Search(space, request.buffering).best()
        return pick(space, request.buffering, self.name, request.seed + index)


def _cycles(machine: Machine, index: int, step: Step, tile: GroupTile) -> float:
    if not tile.hops:
        binding = machine.bound.bindings[step.name]
        return next(item.cycles for item in binding.candidates if item.kernel.name == binding.kernel.name)
    return nested_costs(tuple(hop_spaces(machine, index, step, tile.hops)))[0].total_cycles


TILERS = (
    StepTiler(name="auto", summary="cost on machines with a near memory, whole on others"),
    StepTiler(name="cost", summary="the fastest tiles: computation and copies with their overlap"),
    StepTiler(name="min", summary="the smallest tiles: the least near memory that works"),
    StepTiler(name="max", summary="the largest tiles that fit"),
    StepTiler(name="random-max", summary="large tiles in random directions; --seed chooses"),
)
