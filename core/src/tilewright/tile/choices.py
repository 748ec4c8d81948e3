"""Knows what a tiler can choose from: every step's tilings, what each takes of every memory, what may stay near.
Does not know how tilings are found (`step_tilings`), nor how anybody chooses.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from tilewright.decisions import GroupTile, HopTile
from tilewright.stages import Buffer, Group
from tilewright.tile.tiler import TilingRequest

if TYPE_CHECKING:
    from tilewright.tile.step_tilings import StepTilings

SCRATCH = "scratch"
_NOTHING: Mapping[str, str] = MappingProxyType({})
_NO_OFFSETS: Mapping[str, int] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class TileBuffer:
    """Buffers of one operand of a tiled step in one memory; the operand "scratch" is the kernel's scratch."""

    operand: str
    memory: str
    size_bytes: int  # of one, up to where the next may begin
    count: int = 1

    def names(self, step: str) -> tuple[str, ...]:
        """The buffers' names in the plan, by which `Group.offsets` places them."""
        from tilewright.tile.fuse_buffers import tile_buffer_name

        if self.operand == SCRATCH:
            return (f"{step}.{SCRATCH}",)
        return tuple(tile_buffer_name(step, self.operand, self.memory, number) for number in range(self.count))


@dataclass(frozen=True, slots=True, kw_only=True)
class Tiling:
    """One way to tile a step over all hops, and what it takes."""

    hops: tuple[HopTile, ...]
    cycles: float  # of the whole step: computation and copies, overlapped
    moved_bytes: float  # over all hops
    buffers: tuple[TileBuffer, ...]

    def bytes_in(self, memory: str) -> int:
        """Of all its buffers in a memory."""
        return sum(buffer.size_bytes * buffer.count for buffer in self.buffers if buffer.memory == memory)


@dataclass(frozen=True, slots=True, kw_only=True)
class Needs:
    """Why a step has no tiling: in `memory`, one of these sets of buffers must have room, and none has."""

    memory: str
    smallest: tuple[Mapping[str, int], ...]  # operand -> bytes; none of them larger than another in all operands
    windows: Mapping[str, tuple[int, ...]]  # operand -> extents of its tile in the first of them
    uncut: Mapping[str, str]  # loop -> why it cannot be cut


class TileChoices:
    """The tilings of every step of a request. Equal layers are looked at once.

    `kept`, everywhere: buffer -> near memory where it stays whole while it lives; its reader and writer copy nothing.
    """

    def __init__(self, request: TilingRequest) -> None:
        from tilewright.tile.keep import decided
        from tilewright.tile.spaces import Machine
        from tilewright.tile.step_tilings import StepTilings

        self.request = request
        decisions = decided(request.decisions, request.decisions.tiles)
        self._machine = Machine(request.scheduled, request.operators, decisions)
        self._steps: StepTilings = StepTilings(self._machine, request)

    @property
    def memories(self) -> tuple[str, ...]:
        """Those that tiles are in, outermost first; none on a machine with one memory."""
        return tuple(way.near for way in self._machine.hops)

    def grain(self, memory: str) -> int:
        """Tile buffers in a memory begin at multiples of it."""
        return self._machine.grain(memory)

    def room_bytes(self, memory: str, index: int) -> int | None:
        """What step `index` may use of a memory: its size less the runtime and what is pinned there. None: no limit."""
        return self._machine.room_bytes(memory, index)

    def capacity(self, memory: str) -> int | None:
        """What a plan has of a memory: its size less what the runtime takes. None: no limit."""
        return self._machine.platform.plan_bytes(memory)

    def pinned(self, memory: str) -> tuple[Buffer, ...]:
        """Buffers of values that decisions place in a memory."""
        memories = self._machine.decisions.memories
        return tuple(
            buffer
            for buffer in self.request.scheduled.buffers
            if memory in (memories.get(name) for name in (buffer.name, *buffer.values))
        )

    def keepable(self, memory: str) -> tuple[Buffer, ...]:
        """Buffers that may stay in a memory whole, from their first step to their last."""
        from tilewright.tile.keep import keepable

        return tuple(keepable(self._machine, memory, _NOTHING))

    def kept_bytes(self, buffer: Buffer, memory: str) -> int:
        """What a buffer takes that stays."""
        align = max(buffer.align, self.grain(memory))
        return -(-buffer.size_bytes // align) * align

    def touched(self, index: int) -> tuple[str, ...]:
        """Buffers of what a step reads and writes, constants apart."""
        operands = self._machine.operands(self.request.scheduled.steps[index])
        return tuple(dict.fromkeys(item.buffer for item in operands if not item.constant))

    def quick(self) -> tuple[Group, ...]:
        """The answer of the built-in tiler `cost`. TilewrightError (exit 5) where a step fits in no way."""
        from tilewright.tile.strategies import StepTiler

        return StepTiler(name="cost", summary="").plan(self.request)

    def tilings(self, index: int, kept: Mapping[str, str] = _NOTHING) -> tuple[Tiling, ...]:
        """Tilings of step `index` that are faster than all that take less; none where nothing fits.

        A tiling that is pinned is the only one. What is kept is not taken off the room.
        """
        return self._steps.tilings(index, kept)

    def tiling(self, index: int, hops: Sequence[HopTile], kept: Mapping[str, str] = _NOTHING) -> Tiling:
        """What one way to tile a step takes."""
        return self._steps.tiling(index, hops, kept)

    def together(self, groups: Sequence[Group]) -> tuple[Group, ...]:
        """A plan of single steps, with several tiled together where that is no slower than layer by layer."""
        from tilewright.tile.regroup import regrouped

        return regrouped(self.request, groups)

    def near_buffers(self, groups: Sequence[Group]) -> tuple[Buffer, ...]:
        """Everything of a plan that needs a place in `memories`, and in which: tiles, scratch, values that stay."""
        from tilewright.tile.regroup import near_buffers

        return tuple(near_buffers(self.request, groups))

    def needs(self, index: int) -> Needs | None:
        """Why step `index` has no tiling with nothing kept; None where it has one, or none is legal at all."""
        return self._steps.needs(index)

    def group(
        self, index: int, tiling: Tiling, kept: Mapping[str, str] = _NOTHING, offsets: Mapping[str, int] = _NO_OFFSETS
    ) -> Group:
        """Step `index` tiled, as a tiler answers it; `offsets`: buffer -> its place in its memory, where settled."""
        from tilewright.tile.keep import kept_values

        step = self.request.scheduled.steps[index]
        tile = self.request.decisions.tiles.get(step.name)
        tile = tile or GroupTile(hops=tiling.hops, kept=kept_values(self._machine, kept, index))
        return Group(name=step.name, steps=(step.name,), tile=tile, cycles=tiling.cycles, offsets=offsets)


def asked_again(
    request: TilingRequest, *, sizes: Mapping[str, int] | None = None, without_pin: str = ""
) -> TilingRequest:
    """The same request with other memory sizes, or without the pins of one buffer: to try a way out."""
    scheduled, decisions = request.scheduled, request.decisions
    if sizes:
        bound = scheduled.bound
        scheduled = replace(scheduled, bound=replace(bound, platform=bound.platform.with_limits(sizes)))
    if without_pin:
        values = next(buffer.values for buffer in scheduled.buffers if buffer.name == without_pin)
        names = {without_pin, *values}
        memories = {name: memory for name, memory in decisions.memories.items() if name not in names}
        decisions = replace(decisions, memories=memories)
    return replace(request, scheduled=scheduled, decisions=decisions)
