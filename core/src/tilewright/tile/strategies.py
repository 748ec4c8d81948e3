"""Knows the built-in tilers: fastest, smallest, largest and random tiles for every step on its own.
Does not know how spaces are built or searched.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from tilewright.errors import TilewrightError
from tilewright.stages import Group
from tilewright.tile.cutter import Cutter
from tilewright.tile.fuse import Lookout
from tilewright.tile.fuse_plan import Fuser, nothing_kept
from tilewright.tile.keep import decided, keep
from tilewright.tile.misfit import does_not_fit
from tilewright.tile.order import Found
from tilewright.tile.pick import pick
from tilewright.tile.search import Search, Tables
from tilewright.tile.space import Space
from tilewright.tile.spaces import Machine
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
        decisions = decided(request.decisions, request.decisions.tiles)
        machine = Machine(request.scheduled, request.operators, decisions)
        if not machine.hops:
            return WholeTiler().plan(request)
        steady = self.name in ("auto", "cost")
        cutter = Cutter(machine, lambda *asked: self._found(request, *asked), request.known, steady=steady)
        plan = keep(cutter, request.longest if steady else 1)
        if isinstance(plan, int):
            raise _misfit(machine, cutter, plan)
        search = steady and request.longest != 1
        bases = [plan, *([nothing_kept(cutter)] if search and plan.kept and plan.moves_much else [])]
        known = request.known.setdefault("groups", {})
        divisions, lookout = [], Lookout(machine)
        for base in bases:
            fuser = Fuser(
                cutter=cutter,
                plan=base,
                buffering=request.buffering,
                longest=request.longest,
                known=known,
                lookout=lookout,
            )
            divisions.append(fuser.division(request.decisions.groups, search=search))
        return min(divisions, key=lambda one: one.merit).groups

    def _found(
        self, request: TilingRequest, space: Space, index: int, tables: Tables | None, beat: Found | None
    ) -> Found | None:
        """Where not every operand that travels again can have two buffers, those have them that gain most."""
        found = self._with_buffers(request, space, index, tables, beat)
        if found is None and beat is None and request.buffering == "double":
            return self._with_buffers(replace(request, buffering="auto"), space, index, tables, beat)
        return found

    def _with_buffers(
        self, request: TilingRequest, space: Space, index: int, tables: Tables | None, beat: Found | None
    ) -> Found | None:
        if self.name == "auto" or self.name == "cost":
            return Search(space, request.buffering, tables).best(beat)
        return pick(space, request.buffering, self.name, request.seed + index, beat)


def _misfit(machine: Machine, cutter: Cutter, index: int) -> TilewrightError:
    """The step's error, with the least memory that does for it."""
    blocked = cutter.blocked(index)
    if blocked is None:
        raise ValueError(f"step {index} fits")
    return does_not_fit(machine, machine.scheduled.steps[index], blocked.space, blocked.way.near)


TILERS = (
    StepTiler(name="auto", summary="cost on machines with a near memory, whole on others"),
    StepTiler(name="cost", summary="the fastest tiles: computation and copies with their overlap"),
    StepTiler(name="min", summary="the smallest tiles: the least near memory that works"),
    StepTiler(name="max", summary="the largest tiles that fit"),
    StepTiler(name="random-max", summary="large tiles in random directions; --seed chooses"),
)
