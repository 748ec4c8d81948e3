"""Knows where an operand of a tiled step is at every level: at home, then in the tile buffers of each hop.
Does not know transfers, kernels or the order in which things happen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tilewright.access import MapAccess
from tilewright.decisions import TileCopy
from tilewright.dtypes import DType
from tilewright.errors import Exit, TilewrightError
from tilewright.graph import Site
from tilewright.identifiers import unique_identifiers
from tilewright.index import Axis, Box, mentions
from tilewright.kernel import Kernel
from tilewright.layout import strides
from tilewright.lower.addresses import RUN_LOCALS, AddressBook
from tilewright.lower.bonds import Bond
from tilewright.lower.boxes import lows, whole_box
from tilewright.lower.nest import COUNTERS, Level, Nest, Ranges, boxes
from tilewright.lower.sums import Sum
from tilewright.operator import Operator
from tilewright.platform import Platform
from tilewright.program import Parameter
from tilewright.stages import Step
from tilewright.statements import Region
from tilewright.tile.buffers import tile_buffer_name

STEP_LOCALS = (*RUN_LOCALS, *COUNTERS, *"ijklmnop", "mine", "slot", "near", "far", "box", "copies")


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """The tile buffers of one operand at one level."""

    bond: Bond
    level: Level
    copy: TileCopy
    name: str  # C variable: an array of tw_slot in the pipeline, a pointer in the parts
    buffers: tuple[str, ...]
    room: tuple[int, ...]  # elements along each axis that a buffer has room for

    @property
    def resident(self) -> bool:
        """Fetched or stored once, outside the loop over tiles."""
        return self.level.period(self.copy.depth) == self.level.total

    @property
    def size_bytes(self) -> int:
        """Of one buffer: the largest window."""
        size = self.bond.dtype.size_bytes
        for extent in self.room:
            size *= extent
        return size

    @property
    def regions(self) -> tuple[Region, ...]:
        """All of every buffer."""
        return tuple(Region(buffer=name, offset_bytes=0, size_bytes=self.size_bytes) for name in self.buffers)


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """Where a part of the step finds an operand: `parameter + offset_bytes` is the element at `origin`."""

    parameter: Parameter
    memory: str
    offset_bytes: int
    strides: tuple[int, ...]  # bytes
    origin: tuple[Sum, ...]
    regions: tuple[Region, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sums:
    """The operand `acc`: where it is, its type, and C conditions for the first and the last tile of the reduction."""

    output: str  # operand whose tile it has an element for each element of
    dtype: DType
    held: Held
    first: str
    last: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Tiling:
    """Everything about one tiled step that stays the same from level to level."""

    step: Step
    site: Site
    operator: Operator
    kernel: Kernel
    nest: Nest
    bonds: tuple[Bond, ...]
    names: Mapping[str, str]  # operand -> C identifier
    book: AddressBook
    platform: Platform
    function: str
    slots: tuple[tuple[Slot, ...], ...]  # by level
    inner: Mapping[str, Held] = field(default_factory=dict)  # operand -> where the group keeps it near
    scratch: str = ""  # buffer
    sums: Sums | None = None  # of a reduction that is cut

    def held(self, bond: Bond, levels: int) -> Held:
        """Where `bond` is once `levels` hops have been made."""
        if bond.operand in self.inner:
            return self.inner[bond.operand]
        for level, slots in reversed(list(zip(self.nest.levels[:levels], self.slots, strict=False))):
            for slot in slots:
                if slot.bond is bond:
                    return _in_slot(slot, level, self.nest)
        place, item = bond.place, bond.dtype.size_bytes
        return Held(
            parameter=place.parameter,
            memory=self.platform.home_memory().name if place.where == "caller" else place.where,
            offset_bytes=place.offset_bytes,
            strides=tuple(step * item for step in strides(bond.shape, bond.layout)),
            origin=(Sum(),) * len(bond.shape),
            regions=(bond.region,),
        )


def tiling_slots(
    nest: Nest, bonds: Sequence[Bond], names: Mapping[str, str], step: Step
) -> tuple[tuple[Slot, ...], ...]:
    """The tile buffers of every level, in the order of the operands."""
    found = []
    for level in nest.levels:
        slots = []
        for bond in bonds:
            copy = level.hop.copies.get(bond.operand)
            if copy is None or not bond.region.size_bytes:
                continue
            if copy.mode != "box":
                raise unsupported_tile(step, f"operand {bond.operand} keeps rows from tile to tile")
            stem = names[bond.operand]
            slots.append(
                Slot(
                    bond=bond,
                    level=level,
                    copy=copy,
                    name=stem if len(nest.levels) == 1 else f"{stem}_{level.hop.near}",
                    buffers=tuple(
                        tile_buffer_name(step.name, bond.operand, level.hop.near, i) for i in range(copy.buffers)
                    ),
                    room=tuple(most for _, most in extent_ranges(nest, bond, level.ranges_around(copy.depth))),
                )
            )
        found.append(tuple(slots))
    return tuple(found)


def operand_names(bonds: Sequence[Bond], book: AddressBook) -> dict[str, str]:
    """Operand -> C identifier that no parameter of the step has."""
    taken = [*STEP_LOCALS, *(one.name for one in book.bases)]
    texts = {bond.operand: bond.operand.lower() for bond in bonds}
    names = unique_identifiers(texts.values(), taken=taken, fallback="x")
    return {operand: names[text] for operand, text in texts.items()}


def extent_ranges(nest: Nest, bond: Bond, ranges: Ranges) -> tuple[tuple[int, int], ...]:
    """The least and the most positions along each axis that any box in `ranges` touches."""
    access, whole = nest.access, whole_box(nest.access)
    if not isinstance(access, MapAccess):
        return tuple((span.extent, span.extent) for span in access.window(bond.operand, whole))
    found = []
    for axis in access.axes[bond.operand]:
        loops = [loop for loop in ranges if mentions(axis.index, loop)]
        extents = {_extent(axis, box) for box in boxes(ranges, loops)}
        found.append((min(extents), max(extents)))
    return tuple(found)


def _extent(axis: Axis, box: Box) -> int:
    """Positions of a window. Of no trips: from their first on to their last, as the program counts."""
    if axis.index is None or all(low < high for low, high in box.values()):
        return axis.span(box).extent
    low = axis.index.range({loop: (low, low + 1) for loop, (low, _) in box.items()})[0]
    last = axis.index.range({loop: (high - 1, high) for loop, (_, high) in box.items()})[1]
    return max(0, min(max(last + 1, 0), axis.extent) - min(max(low, 0), axis.extent))


def unsupported_tile(step: Step, reason: str) -> TilewrightError:
    """A tiling that is sound, but that no code is generated for."""
    return TilewrightError(
        "TW4041",
        f"the tiling of step '{step.name}' cannot be generated: {reason}",
        fix=("--tiler NAME     chooses another", "change or remove the pinned tiles"),
        exit_code=Exit.UNSUPPORTED,
    )


def _in_slot(slot: Slot, level: Level, nest: Nest) -> Held:
    kind = "uint8_t *" if slot.bond.written else "const uint8_t *"
    item = slot.bond.dtype.size_bytes
    return Held(
        parameter=Parameter(type=kind, name=slot.name, argument=slot.name),
        memory=level.hop.near,
        offset_bytes=0,
        strides=tuple(step * item for step in strides(slot.room, slot.bond.layout)),
        origin=lows(nest.access, slot.bond.operand, level.around(slot.copy.depth)),
        regions=slot.regions,
    )
