"""Knows what a tiler can choose from: every step's tilings, what each takes of every memory, what may stay near.
Does not know how tilings are found, nor how anybody chooses.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from tilewright.ir.regions import Hop
from tilewright.ir.stages import Buffer, Group
from tilewright.ir.tiler import Buffering, TilingRequest
from tilewright.tile.buffers import region_buffers
from tilewright.tile.cutter import Cut, Cutter, Parts
from tilewright.tile.keep import Plan, decided, keepable, kept_values
from tilewright.tile.menu import menu
from tilewright.tile.misfit import Needs, needs_of
from tilewright.tile.order import Found
from tilewright.tile.problem import Tables
from tilewright.tile.search import Search
from tilewright.tile.space import Space, WindowTable
from tilewright.tile.spaces import NOTHING, Machine
from tilewright.tile.stage import listed
from tilewright.tile.strategies import StepTiler, grouped

_MOST = 20  # tilings of one step over the only hop
_MOST_NESTED = 6  # over each of several: their combinations are listed
_PLAYED_TILES = 128  # of a single hop: beyond, cycles are as the search believes
_COST = StepTiler(name="cost", summary="")


@dataclass(frozen=True, slots=True, kw_only=True)
class Tiling:
    """One way to tile a step over all hops, and what it takes. `group` is what a tiler answers."""

    group: Group
    moved_bytes: int  # over all hops
    buffers: tuple[Buffer, ...]  # of the plan that takes it, each with its memory

    @property
    def cycles(self) -> float:
        """Of the whole step: computation and copies, overlapped."""
        return self.group.cycles


class TileChoices:
    """The tilings of every step of a request. Equal layers are looked at once.

    `kept`, everywhere: buffer -> near memory where it stays whole while it lives; its reader and writer copy nothing.
    """

    def __init__(self, request: TilingRequest) -> None:
        self.request = request
        decisions = decided(request.decisions, request.decisions.tiles)
        self._machine = Machine(request.scheduled, request.operators, decisions)
        self._cutter = Cutter(self._machine, self._menu, request, name="menu", steady=True)

    @property
    def memories(self) -> tuple[str, ...]:
        """Those that tiles are in, outermost first; none on a machine with one memory."""
        return tuple(way.near for way in self._machine.hops)

    def grain(self, memory: str) -> int:
        """Tile buffers in a memory begin at multiples of it."""
        return self._machine.grain(memory)

    def taken_bytes(self, buffer: Buffer, memory: str) -> int:
        """What a buffer takes of a memory: its size, up to where the next may begin."""
        return self._machine.taken_bytes(buffer, memory)

    def pinned(self, memory: str) -> tuple[Buffer, ...]:
        """Buffers of values that decisions place in a memory."""
        return self._machine.pinned.get(memory, ())

    def keepable(self, memory: str) -> tuple[Buffer, ...]:
        """Buffers that may stay in a memory whole, from their first step to their last."""
        return tuple(keepable(self._machine, memory, NOTHING))

    def touched(self, index: int) -> tuple[str, ...]:
        """Buffers of what a step reads and writes, constants apart."""
        operands = self._machine.operands(self.request.scheduled.steps[index])
        return tuple(dict.fromkeys(item.buffer for item in operands if not item.constant))

    def quick(self) -> tuple[Group, ...]:
        """The answer of the built-in tiler `cost`. TilewrightError (exit 5) where a step fits in no way."""
        return _COST.plan(self.request)

    def tilings(self, index: int, kept: Mapping[str, str] = NOTHING) -> tuple[Tiling, ...]:
        """Tilings of step `index` that are faster than all that take less; none where nothing fits.

        A tiling that is pinned is the only one. What is kept is not taken off the room.
        """
        return tuple(self._tiling(index, parts, kept) for parts in self._cutter.ways(index, kept))

    def tiling(self, index: int, hops: Sequence[Hop], kept: Mapping[str, str] = NOTHING) -> Tiling:
        """What one way to tile a step takes."""
        return self._tiling(index, self._cutter.parts(index, hops, kept), kept)

    def needs(self, index: int) -> Needs | None:
        """Why step `index` has no tiling with nothing kept; None where it has one, or none is legal at all."""
        blocked = self._cutter.blocked(index)
        return needs_of(blocked) if blocked else None

    def together(self, groups: Sequence[Group]) -> tuple[Group, ...]:
        """A plan of single steps, with several tiled together where that is no slower than layer by layer.

        Offsets are left out.
        """
        cutter, request, storage = (
            _COST.cutter(self._machine, self.request),
            self.request,
            self.request.scheduled.storage,
        )
        kept = {storage[value].buffer: where for group in groups for value, where in group.region.resident.items()}
        cuts = []
        for index, group in enumerate(groups):
            here = {name: kept[name] for name in self.touched(index) if name in kept}
            cuts.append(cutter.priced(index, cutter.parts(index, group.region.hops, here)))
        return grouped(cutter, request, [Plan(cuts=tuple(cuts), kept=kept)], search=request.longest != 1)

    def near_buffers(self, groups: Sequence[Group]) -> tuple[Buffer, ...]:
        """Everything of a plan that needs a place in `memories`, and in which: tiles, scratch, values that stay."""
        request, pins = self.request, self.request.decisions.memories
        found = []
        for buffer in listed(request.scheduled, request.operators, tuple(groups), request.decisions).buffers:
            wanted = (pins[name] for name in (buffer.name, *buffer.values) if name in pins)
            found.append(replace(buffer, memories=(*wanted, *buffer.memories)[:1]))
        return tuple(buffer for buffer in found if set(self.memories).intersection(buffer.memories))

    def _tiling(self, index: int, parts: Parts, kept: Mapping[str, str]) -> Tiling:
        step, cut = self.request.scheduled.steps[index], self._cut(index, parts)
        made = self._machine.alone(step, cut.hops, kept_values(self._machine, kept, index))
        region = self.request.decisions.tiles.get(step.name, made)
        group = Group(region=region, cycles=cut.cycles)
        return Tiling(group=group, moved_bytes=cut.moved_bytes, buffers=self._buffers(index, parts, kept))

    def _cut(self, index: int, parts: Parts) -> Cut:
        """Its cost: of a single hop in very many tiles as the search believes, otherwise played."""
        if len(parts) == 1 and (believed := parts[0].believed) is not None:
            space, hop = parts[0].space, parts[0].hop
            if WindowTable(space).visits(space.extents, dict(hop.nest)) > _PLAYED_TILES:
                return Cut(hops=(hop,), cycles=believed.cycles, moved_bytes=round(believed.moved_bytes))
        return self._cutter.priced(index, parts)

    def _buffers(self, index: int, parts: Parts, kept: Mapping[str, str]) -> tuple[Buffer, ...]:
        """Those that a plan has of a step that is tiled so."""
        step, hops = self.request.scheduled.steps[index], tuple(part.hop for part in parts)
        return tuple(region_buffers(self._machine, [self._machine.alone(step, hops)], kept)) if hops else ()

    def _menu(
        self, space: Space, index: int, buffering: Buffering, tables: Tables | None, beat: Sequence[Found]
    ) -> tuple[Found, ...]:
        most = _MOST if len(self._machine.hops) == 1 else _MOST_NESTED
        return menu(Search(space, buffering, tables), most, beat)
