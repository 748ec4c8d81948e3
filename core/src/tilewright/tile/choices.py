"""Knows what a tiler can choose from: every step's tilings, what each takes of every memory, what may be resident.
Does not know how tilings are found, nor how anybody chooses.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from tilewright.ir.plans.region import Hop
from tilewright.ir.plans.stages import Buffer, Group
from tilewright.ir.plans.tiler import Buffering, TilingRequest
from tilewright.tile.cost.tiling_problem import SpaceTables
from tilewright.tile.machine import NOTHING, ScheduledMachine
from tilewright.tile.search.loop_orders import EstimatedTiling
from tilewright.tile.search.no_tiling import Needs, needs_of
from tilewright.tile.search.residency import ResidencyPlan, decided, may_be_resident, resident_values
from tilewright.tile.search.step_tilings import HopTilings, StepTiling, StepTilings
from tilewright.tile.search.tiling_search import TilingSearch, pareto_tilings
from tilewright.tile.space.step_spaces import tiled_alone
from tilewright.tile.space.tiling_space import TilingSpace, WindowTable
from tilewright.tile.strategies import StepTiler, grouped
from tilewright.tile.tile import listed
from tilewright.tile.tile_buffers import region_buffers

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
    """The tilings of every step of a request. Equal layers are searched once.

    `resident`, everywhere: buffer -> scratchpad that has it whole while it lives; its reader and writer copy nothing.
    """

    def __init__(self, request: TilingRequest) -> None:
        self.request = request
        decisions = decided(request.decisions, request.decisions.tiles)
        self._machine = ScheduledMachine(request.scheduled, request.operators, decisions)
        self._step_tilings = StepTilings(self._machine, self._menu, request, name="menu", steady=True)

    @property
    def memories(self) -> tuple[str, ...]:
        """Those that tiles are in, outermost first; none on a machine with one memory."""
        return tuple(hop.inner for hop in self._machine.hops)

    def grain(self, memory: str) -> int:
        """Tile buffers in a memory begin at multiples of it."""
        return self._machine.grain(memory)

    def taken_bytes(self, buffer: Buffer, memory: str) -> int:
        """What a buffer takes of a memory: its size, up to where the next may begin."""
        return self._machine.taken_bytes(buffer, memory)

    def pinned(self, memory: str) -> tuple[Buffer, ...]:
        """Buffers of values that decisions place in a memory."""
        return self._machine.pinned.get(memory, ())

    def may_be_resident(self, memory: str) -> tuple[Buffer, ...]:
        """Buffers that may stay in a memory whole, from their first step to their last."""
        return tuple(may_be_resident(self._machine, memory, NOTHING))

    def touched(self, index: int) -> tuple[str, ...]:
        """Buffers of what a step reads and writes, constants apart."""
        operands = self._machine.operands(self.request.scheduled.steps[index])
        return tuple(dict.fromkeys(item.buffer for item in operands if not item.constant))

    def quick(self) -> tuple[Group, ...]:
        """The answer of the built-in tiler `cost`. TilewrightError (exit 5) where a step fits in no way."""
        return _COST.plan(self.request)

    def tilings(self, index: int, resident: Mapping[str, str] = NOTHING) -> tuple[Tiling, ...]:
        """Tilings of step `index` that are faster than all that take less; none where nothing fits.

        A tiling that is pinned is the only one. The bytes of `resident` are not taken off the room.
        """
        return tuple(
            self._tiling(index, hop_tilings, resident) for hop_tilings in self._step_tilings.candidates(index, resident)
        )

    def tiling(self, index: int, hops: Sequence[Hop], resident: Mapping[str, str] = NOTHING) -> Tiling:
        """What a given tiling of a step takes."""
        return self._tiling(index, self._step_tilings.hop_tilings(index, hops, resident), resident)

    def needs(self, index: int) -> Needs | None:
        """Why step `index` has no tiling with no value resident; None where it has one, or none is legal at all."""
        blocked = self._step_tilings.blocked(index)
        return needs_of(blocked) if blocked else None

    def together(self, groups: Sequence[Group]) -> tuple[Group, ...]:
        """A plan of single steps, with several tiled together where that is no slower than layer by layer.

        Offsets are left out.
        """
        step_tilings = _COST.step_tilings(self._machine, self.request)
        request, storage = self.request, self.request.scheduled.storage
        resident = {storage[value].buffer: where for group in groups for value, where in group.region.resident.items()}
        tilings = []
        for index, group in enumerate(groups):
            here = {name: resident[name] for name in self.touched(index) if name in resident}
            tilings.append(step_tilings.priced(index, step_tilings.hop_tilings(index, group.region.hops, here)))
        return grouped(
            step_tilings,
            request,
            [ResidencyPlan(tilings=tuple(tilings), resident=resident)],
            search=request.longest != 1,
        )

    def scratchpad_buffers(self, groups: Sequence[Group]) -> tuple[Buffer, ...]:
        """Everything of a plan that needs a place in `memories`, and in which: tiles, scratch, resident values."""
        request, pins = self.request, self.request.decisions.memories
        result = []
        for buffer in listed(request.scheduled, request.operators, tuple(groups), request.decisions).buffers:
            wanted = (pins[name] for name in (buffer.name, *buffer.values) if name in pins)
            result.append(replace(buffer, memories=(*wanted, *buffer.memories)[:1]))
        return tuple(buffer for buffer in result if set(self.memories).intersection(buffer.memories))

    def _tiling(self, index: int, hop_tilings: HopTilings, resident: Mapping[str, str]) -> Tiling:
        step, step_tiling = self.request.scheduled.steps[index], self._step_tiling(index, hop_tilings)
        made = tiled_alone(self._machine, step, step_tiling.hops, resident_values(self._machine, resident, index))
        region = self.request.decisions.tiles.get(step.name, made)
        group = Group(region=region, cycles=step_tiling.cycles)
        return Tiling(
            group=group, moved_bytes=step_tiling.moved_bytes, buffers=self._buffers(index, hop_tilings, resident)
        )

    def _step_tiling(self, index: int, hop_tilings: HopTilings) -> StepTiling:
        """Its cost: of a single hop in very many tiles as the search believes, otherwise played."""
        if len(hop_tilings) == 1 and (estimate := hop_tilings[0].estimate) is not None:
            space, hop = hop_tilings[0].space, hop_tilings[0].hop
            if WindowTable(space).visits(space.extents, dict(hop.nest)) > _PLAYED_TILES:
                return StepTiling(hops=(hop,), cycles=estimate.cycles, moved_bytes=round(estimate.moved_bytes))
        return self._step_tilings.priced(index, hop_tilings)

    def _buffers(self, index: int, hop_tilings: HopTilings, resident: Mapping[str, str]) -> tuple[Buffer, ...]:
        """Those that a plan has of a step that is tiled so."""
        step, hops = self.request.scheduled.steps[index], tuple(part.hop for part in hop_tilings)
        return tuple(region_buffers(self._machine, [tiled_alone(self._machine, step, hops)], resident)) if hops else ()

    def _menu(
        self,
        space: TilingSpace,
        index: int,
        buffering: Buffering,
        tables: SpaceTables | None,
        beat: Sequence[EstimatedTiling],
    ) -> tuple[EstimatedTiling, ...]:
        most = _MOST if len(self._machine.hops) == 1 else _MOST_NESTED
        return pareto_tilings(TilingSearch(space, buffering, tables), most, beat)
