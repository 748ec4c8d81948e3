"""Knows the built-in tilers: fastest, smallest, largest and random tiles, and which steps share them.
Does not know how spaces are built or searched.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from tilewright.errors import TilewrightError
from tilewright.ir.stages import Group
from tilewright.ir.tiler import Buffering, TilingRequest
from tilewright.tile.chain import Lookout
from tilewright.tile.cutter import Cutter
from tilewright.tile.grouping import Fuser, nothing_kept
from tilewright.tile.keep import Plan, decided, keep
from tilewright.tile.misfit import does_not_fit
from tilewright.tile.order import Found
from tilewright.tile.pick import pick
from tilewright.tile.problem import Tables
from tilewright.tile.search import Search
from tilewright.tile.space import Space
from tilewright.tile.spaces import Machine
from tilewright.tile.whole import WholeTiler

Strategy = Literal["auto", "cost", "min", "max", "random-max"]


@dataclass(frozen=True, slots=True, kw_only=True)
class StepTiler:
    """Tiles every step on its own, over each hop from the home memory to the near one."""

    name: Strategy
    summary: str

    def plan(self, request: TilingRequest) -> tuple[Group, ...]:
        """See `Tiler.plan`. TilewrightError TW5101 (exit 5) for a step that no tiling makes fit."""
        machine = Machine(request.scheduled, request.operators, decided(request.decisions, request.decisions.tiles))
        if not machine.hops:
            return WholeTiler().plan(request)
        cutter = self.cutter(machine, request)
        plan = keep(cutter, request.longest if cutter.steady else 1)
        if isinstance(plan, int):
            raise _misfit(machine, cutter, plan)
        search = cutter.steady and request.longest != 1
        bases = [plan, *([nothing_kept(cutter)] if search and plan.kept and plan.moves_much else [])]
        return grouped(cutter, request, bases, search=search)

    def cutter(self, machine: Machine, request: TilingRequest) -> Cutter:
        """The tilings that it takes for single steps."""

        def find(
            space: Space, index: int, buffering: Buffering, tables: Tables | None, beat: Sequence[Found]
        ) -> tuple[Found, ...]:
            least = beat[0] if beat else None
            if self.name == "auto" or self.name == "cost":
                found = Search(space, buffering, tables).best(least)
            else:
                found = pick(space, buffering, self.name, request.seed + index, least)
            return () if found is None else (found,)

        return Cutter(machine, find, request, name=self.name, steady=self.name in ("auto", "cost"))


def grouped(cutter: Cutter, request: TilingRequest, bases: Sequence[Plan], *, search: bool) -> tuple[Group, ...]:
    """The best of some plans of single steps, with steps tiled together: pinned ones and with `search` what gains."""
    known, lookout = request.known.setdefault("groups", {}), Lookout(cutter.machine)
    divisions = [
        Fuser(
            cutter=cutter,
            plan=base,
            buffering=request.buffering,
            longest=request.longest,
            known=known,
            lookout=lookout,
        ).division(request.decisions.groups, search=search)
        for base in bases
    ]
    return min(divisions, key=lambda one: one.merit).groups


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
