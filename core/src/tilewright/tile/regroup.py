"""Knows what a plan of single steps becomes when some are tiled together, and which buffers any plan has near.
Does not know how the plan was found.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from tilewright.stages import Buffer, Group, Step
from tilewright.tile.buffers import hop_spaces
from tilewright.tile.cost import nested_costs
from tilewright.tile.cutter import Cut, Cutter
from tilewright.tile.fuse import Lookout
from tilewright.tile.fuse_plan import Fuser
from tilewright.tile.keep import Plan, decided
from tilewright.tile.search import Search
from tilewright.tile.spaces import Machine
from tilewright.tile.stage import tile
from tilewright.tile.tiler import TilingRequest


def regrouped(request: TilingRequest, groups: Sequence[Group]) -> tuple[Group, ...]:
    """The same plan with steps tiled together where that is no slower than layer by layer. Offsets are left out."""
    tiles = {group.name: group.tile for group in groups}
    machine = Machine(request.scheduled, request.operators, decided(request.decisions, request.decisions.tiles))
    settled = Machine(request.scheduled, request.operators, decided(request.decisions, tiles))
    storage = request.scheduled.storage
    kept = {storage[value].buffer: memory for one in tiles.values() for value, memory in one.kept.items()}
    cuts = tuple(
        _cut(settled, index, step, group)
        for index, (step, group) in enumerate(zip(request.scheduled.steps, groups, strict=True))
    )
    fuser = Fuser(
        cutter=Cutter(
            machine,
            lambda space, _, tables, beat: Search(space, request.buffering, tables).best(beat),
            request.known,
            steady=True,
        ),
        plan=Plan(cuts=cuts, kept=kept),
        buffering=request.buffering,
        longest=request.longest,
        known=request.known.setdefault("groups", {}),
        lookout=Lookout(machine),
    )
    return fuser.groups(request.decisions.groups, search=request.longest != 1)


def near_buffers(request: TilingRequest, groups: Sequence[Group]) -> Iterator[Buffer]:
    """Tiles, scratch and values that stay: everything of a plan that is in a memory where tiles are, and in which."""
    machine = Machine(request.scheduled, request.operators, request.decisions)
    near = {way.near for way in machine.hops}
    tiled = tile(request.scheduled, request.operators, _Given(groups=tuple(groups)), request.decisions)
    pinned = request.decisions.memories
    for buffer in tiled.buffers:
        pins = [pinned[name] for name in (buffer.name, *buffer.values) if name in pinned]
        memories = (*pins, *buffer.memories)[:1]
        if near.intersection(memories):
            yield replace(buffer, memories=memories)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Given:
    """A tiler whose answer is known."""

    groups: tuple[Group, ...]
    name: str = "given"
    summary: str = ""

    def plan(self, request: TilingRequest) -> tuple[Group, ...]:
        return self.groups


def _cut(machine: Machine, index: int, step: Step, group: Group) -> Cut:
    costs = nested_costs(tuple(hop_spaces(machine, index, step, group.tile.hops)))
    return Cut(
        hops=group.tile.hops,
        cycles=group.cycles,
        moved_bytes=sum(cost.in_bytes + cost.out_bytes for cost in costs),
        bound_bytes=sum(cost.bound_bytes for cost in costs),
    )
