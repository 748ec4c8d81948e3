"""Knows where an operand of a tiled step is at every level: in the backing memory, then in the tile buffers of each
hop; and where the sums of a split reduction are. Does not know transfers, kernels or the order in which things
happen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod

from tilewright.c_text.identifiers import unique_identifiers
from tilewright.errors import Exit, TilewrightError
from tilewright.ir.access.index import Axis, Box, mentions
from tilewright.ir.access.index_map import MapAccess
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.machines.kernel import Kernel, Matched
from tilewright.ir.machines.platform import Platform
from tilewright.ir.plans.region import Copy, Region
from tilewright.ir.plans.stages import Step
from tilewright.ir.programs.expressions import Expression, all_of, equal, remainder
from tilewright.ir.programs.program import Parameter
from tilewright.ir.programs.statements import ByteRange
from tilewright.ir.rounding import align_up
from tilewright.ir.tensors.dtypes import DType
from tilewright.ir.tensors.layout import strides
from tilewright.lower.operands.addresses import RUN_LOCALS, AddressBook
from tilewright.lower.operands.c_boxes import NOTHING, lows, whole_box
from tilewright.lower.operands.operand_bindings import OperandBinding
from tilewright.lower.tiles.region_box import RegionBox
from tilewright.lower.tiles.strided_copies import LOOPS
from tilewright.lower.tiles.tile_nest import COUNTERS, HopLevel, Ranges, TileNest, boxes
from tilewright.tile.cost.footprint import SUMS, tile_buffer_name
from tilewright.tile.cost.tile_boxes import RollingAxis

STEP_LOCALS = (*RUN_LOCALS, *COUNTERS, *LOOPS, "mine", "slot", "near", "far", "box", "copies", "scratch", "windows")


@dataclass(frozen=True, slots=True, kw_only=True)
class TileBuffers:
    """The tile buffers of one operand at one level. `borrowed`: they are those of an internal value of the region."""

    binding: OperandBinding
    level: HopLevel
    copy: Copy
    name: str  # C variable: an array of tw_slot in the pipeline, a pointer in the parts
    buffers: tuple[str, ...]
    capacity: tuple[int, ...]  # elements along each axis that a buffer has room for
    roll: RollingAxis | None = None  # of a rolling window
    borrowed: bool = False
    whole: bool = False  # all of the value, whatever the step uses of it
    grain: int = 1  # bytes of which copies move multiples

    @property
    def resident(self) -> bool:
        """Fetched or stored once, outside the loop over tiles."""
        return self.level.period(self.copy.level) == self.level.total

    @property
    def size_bytes(self) -> int:
        """Of one buffer: the largest window, and its padding."""
        return align_up(self.binding.dtype.size_bytes * prod(self.capacity), self.grain)

    @property
    def ranges(self) -> tuple[ByteRange, ...]:
        """All of every buffer."""
        return tuple(ByteRange(buffer=name, offset_bytes=0, size_bytes=self.size_bytes) for name in self.buffers)


@dataclass(frozen=True, slots=True, kw_only=True)
class OperandLocation:
    """Where a part of the step finds an operand: `offset` bytes from `parameter` is the element at `origin`."""

    parameter: Parameter
    memory: str
    offset: Expression
    strides: tuple[int, ...]  # bytes
    origin: tuple[Expression, ...]
    ranges: tuple[ByteRange, ...]

    @property
    def address(self) -> Expression:
        """Of that element."""
        return self.parameter.variable + self.offset


@dataclass(frozen=True, slots=True, kw_only=True)
class Accumulator:
    """The operand `acc`: where it is, its type, and what holds for the first and the last tile of the reduction."""

    output: str  # operand whose tile it has an element for each element of
    dtype: DType
    carried: OperandLocation
    in_output: bool
    first: Expression
    last: Expression


@dataclass(frozen=True, slots=True, kw_only=True)
class TiledStep:
    """Everything about one tiled step that stays the same from level to level."""

    step: Step
    site: Matched
    operator: Operator
    kernel: Kernel
    nest: TileNest
    bindings: tuple[OperandBinding, ...]
    names: Mapping[str, str]  # operand -> C identifier
    book: AddressBook
    platform: Platform
    function: str
    box: RegionBox
    number: int  # of the step in its region
    slots: tuple[tuple[TileBuffers, ...], ...]  # by level
    crossed: tuple[
        Mapping[str, TileBuffers], ...
    ] = ()  # by level: value -> where another step's operand brought it whole
    inner: Mapping[str, OperandLocation] = field(default_factory=dict)  # operand -> where the region keeps it near
    scratch: str = ""  # buffer
    sums: Accumulator | None = None  # of a reduction that is split

    def first(self) -> Expression:
        """Holds for the first tile of those of the last level for which the step computes the same."""
        level, period = self._period()
        return equal(remainder(level.tile, period), 0)

    def last(self) -> Expression:
        """Holds for the last of them."""
        level, period = self._period()
        return equal(remainder(level.tile + 1, period), 0)

    def _period(self) -> tuple[HopLevel, Expression]:
        boxes, level = self.box.boxes, self.nest.levels[-1]
        return level, level.period(boxes.copy_level(self.number) - boxes.starts[-2])

    def internal_value(self, binding: OperandBinding, levels: int) -> OperandLocation:
        """Where `binding` is once `levels` hops have been made."""
        if binding.operand in self.inner and levels == len(self.nest.levels):
            return self.inner[binding.operand]
        for at in reversed(range(levels)):
            for slot in self.slots[at]:
                if slot.binding is binding:
                    return self._in_slot(slot, at)
            if binding.what in self.crossed[at]:
                return self._in_slot(self.crossed[at][binding.what], at)
        place, item = binding.place, binding.dtype.size_bytes
        return OperandLocation(
            parameter=place.parameter,
            memory=self.platform.backing_memory().name if place.where == "caller" else place.where,
            offset=place.offset,
            strides=tuple(step * item for step in strides(binding.shape, binding.layout)),
            origin=(NOTHING,) * len(binding.shape),
            ranges=(binding.region,),
        )

    def _in_slot(self, slot: TileBuffers, at: int) -> OperandLocation:
        """Of a level that crosses whole, on the way, there is one buffer, which everybody finds where it is."""
        level, item = self.nest.levels[at], slot.binding.dtype.size_bytes
        kind = "uint8_t *" if slot.binding.written else "const uint8_t *"
        place = self.book.of_buffer(slot.buffers[0])
        location = OperandLocation(
            parameter=Parameter(type=kind, name=slot.name),
            memory=level.hop.inner,
            offset=NOTHING,
            strides=tuple(step * item for step in strides(slot.capacity, slot.binding.layout)),
            origin=(NOTHING,) * len(slot.capacity) if slot.whole else self.origin(slot, level),
            ranges=slot.ranges,
        )
        if level.moving or at + 1 == len(self.nest.levels):
            return location
        return replace(location, parameter=place.parameter, offset=place.offset)

    def origin(self, slot: TileBuffers, level: HopLevel) -> tuple[Expression, ...]:
        """The first position of a slot's window, along each axis."""
        return lows(self.nest.access, slot.binding.operand, level.around(slot.copy.level))


def operand_names(bindings: Sequence[OperandBinding], book: AddressBook) -> dict[str, str]:
    """Operand -> C identifier that no parameter of the step has."""
    taken = [*STEP_LOCALS, *(parameter.name for parameter in book.bases)]
    texts = {binding.operand: binding.operand.lower() for binding in bindings}
    names = unique_identifiers(texts.values(), taken=taken, fallback="x")
    return {operand: names[text] for operand, text in texts.items()}


def extent_ranges(nest: TileNest, binding: OperandBinding, ranges: Ranges) -> tuple[tuple[int, int], ...]:
    """The least and the most positions along each axis that any box in `ranges` touches."""
    access, whole = nest.access, whole_box(nest.access)
    if not isinstance(access, MapAccess):
        return tuple((span.extent, span.extent) for span in access.window(binding.operand, whole))
    ranges_by_axis = []
    for axis in access.axes[binding.operand]:
        loops = [loop for loop in ranges if mentions(axis.index, loop)]
        extents = {_extent(axis, box) for box in boxes(ranges, loops)}
        ranges_by_axis.append((min(extents), max(extents)))
    return tuple(ranges_by_axis)


def _extent(axis: Axis, box: Box) -> int:
    """Positions of a window. Of an empty loop: from its first position to its last, as the program counts."""
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
        fix=("choose another tiler with --tiler", "change or remove the pinned tiles"),
        exit_code=Exit.UNSUPPORTED,
    )


def accumulator_of(tiling: TiledStep, region: Region) -> Accumulator | None:
    """The sums of a step; None where no reduction of it is split."""
    form = region.sums.get(tiling.step.name)
    if form is None:
        return None
    nest, book = tiling.nest, tiling.book
    (output,) = [binding for binding in tiling.bindings if binding.written]
    if form.in_output:
        location = tiling.internal_value(output, len(nest.levels))
    else:
        shape = tuple(most for _, most in extent_ranges(nest, output, nest.ranges))
        memory, item = region.hops[-1].inner, form.dtype.size_bytes
        name = tile_buffer_name(tiling.step.name, SUMS, memory, 0)
        place = book.of_buffer(name)
        location = OperandLocation(
            parameter=place.parameter,
            memory=memory,
            offset=place.offset,
            strides=tuple(stride * item for stride in strides(shape, output.layout)),
            origin=lows(nest.access, output.operand, nest.box),
            ranges=(ByteRange(buffer=name, offset_bytes=0, size_bytes=item * prod(shape)),),
        )
    extents = {name: high for name, (_, high) in whole_box(nest.access).items()}
    return Accumulator(
        output=output.operand,
        dtype=form.dtype,
        carried=location,
        in_output=form.in_output,
        first=_all_at(nest, form.loops, dict.fromkeys(form.loops, 0), end=0),
        last=_all_at(nest, form.loops, extents, end=1),
    )


def _all_at(nest: TileNest, loops: Sequence[str], values: Mapping[str, int], *, end: int) -> Expression:
    """That the tile's range of every loop begins, or ends, at its value."""
    return all_of(*(equal(nest.box[loop][end], values[loop]) for loop in loops))
