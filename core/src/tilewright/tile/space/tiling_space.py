"""Knows what tiles of a step can look like: loops that may be cut, sizes worth trying, operands and their windows.
Does not know what a tile costs, nor which one is chosen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from tilewright.ir.access.index import Axis, bare_loop, mentions
from tilewright.ir.access.index_map import Access, Box, Loop, MapAccess, touched
from tilewright.ir.machines.kernel import Kernel, Matched, PartialSums
from tilewright.ir.machines.platform import CopyPath, Engine
from tilewright.ir.rounding import align_up, ceil_div
from tilewright.ir.tensors.layout import Layout
from tilewright.tile.memory_path import Transfers, transfers
from tilewright.tile.space.spans import counted, ranges, spans, tile_ranges, unique_rows

if TYPE_CHECKING:
    import numpy.typing as npt

    Integers = npt.NDArray[np.int64]

_EVERY_TRIP_COUNT = 32  # up to so many tiles along a loop, each number of tiles is tried


@dataclass(frozen=True, slots=True, kw_only=True)
class CopiedOperand:
    """An operand that is copied into tile buffers. Two are equal when every tile of them costs the same."""

    name: str
    written: bool
    shape: tuple[int, ...]
    layout: Layout
    item_bytes: int
    path: CopyPath  # to the scratchpad, or from it where the operand is written
    loops: tuple[str, ...]  # that may be cut and move its window
    steps: tuple[int, ...] = ()  # along each axis the stride of what is copied; () is every one
    aligned_offset: bool = True  # its first byte lies where the path can reach it
    padded: bool = True  # what a copy moves behind its last byte is padding of its buffer
    in_tile: bool = False  # `shape` is the tile buffer of an outer hop, and not where it lives
    whole: bool = False  # its path cannot take what all trips use: all of it is copied, where that is copied once

    @property
    def any_window(self) -> bool:
        """Whether its path takes every window."""
        return self.path.align == 1 and self.aligned_offset

    def at(self, room: tuple[int, ...] | None) -> CopiedOperand:
        """The same where it comes from a tile buffer of these extents; None: from where it lives."""
        if room is None:
            return self
        whole = self.whole and room == self.shape
        return replace(self, shape=room, aligned_offset=True, padded=True, in_tile=True, whole=whole)

    def entire(self) -> CopiedOperand:
        """The same where all of it is copied, whatever a step uses."""
        return replace(self, steps=()) if self.steps else self

    def transfers(self, extents: Sequence[int], room: Sequence[int]) -> Transfers:
        """Those of one window, into or out of a tile buffer of extents `room`."""
        return transfers(extents, self.shape, room, self.layout, self.item_bytes, self.path, self.steps)


@dataclass(frozen=True, slots=True, kw_only=True)
class TilingSpace:
    """Everything that the choice of a step's tiles over one hop depends on."""

    site: Matched
    kernel: Kernel
    access: Access
    engine: Engine
    extents: Mapping[str, int]  # trips of every loop in one visit: all of them, or those of the tile around this hop
    around: tuple[tuple[str, tuple[int, ...]], ...] = ()  # loop -> tile extents of the hops around this one
    cuts: tuple[Loop, ...]  # loops that may be cut
    copied: tuple[CopiedOperand, ...]
    operations: float  # of the whole step
    available_bytes: int | None  # of the scratchpad; None: no limit
    grain: int  # tile buffers begin at multiples of it
    once: tuple[str, ...] = ()  # inputs that may be fetched only once: the output takes their bytes
    refused: Mapping[str, str] = field(default_factory=dict)  # loop -> why it cannot be cut
    sums: PartialSums | None = None  # of the reductions among `cuts`; None: no reduction is to be cut
    spared_bytes: int = 0  # that would be copied if every value lived in the backing memory
    rolls: Mapping[str, Mapping[str, int]] = field(
        default_factory=dict
    )  # operand -> loop -> axis of which rows may stay

    @property
    def sums_in_output(self) -> bool:
        """Whether the output's own tile has room for its sums: it is copied, and its type is theirs."""
        copied = any(item.written for item in self.copied)
        return self.sums is not None and copied and self.site.outputs[0].dtype is self.sums.dtype

    @property
    def index_map(self) -> MapAccess:
        """The access, where it is an index map. TypeError otherwise: of other accesses no loop is cut."""
        if not isinstance(self.access, MapAccess):
            raise TypeError(f"{self.site.node.name}: loops are cut, but the access is no index map")
        return self.access


@dataclass(frozen=True, slots=True)
class WindowClasses:
    """The windows of one operand over all tiles of some cuts, by extent: how often each shape occurs."""

    capacity: tuple[int, ...]  # the largest extents, by axis
    classes: tuple[tuple[tuple[int, ...], int], ...]  # (extents by axis, how many tiles)


def cuttable(
    access: Access, kernel: Kernel, sums: PartialSums | None = None
) -> tuple[tuple[Loop, ...], dict[str, str]]:
    """The loops whose trips may be separated into tiles, and why the others may not.

    Reductions are among them where `sums` has them.
    """
    loops, refused = [], {}
    for loop in access.loops:
        if loop.extent < 2:
            continue
        reason = _uncut(loop, access, kernel, sums)
        if reason:
            refused[loop.name] = reason
        else:
            loops.append(loop)
    return tuple(loops), refused


def _uncut(loop: Loop, access: Access, kernel: Kernel, sums: PartialSums | None) -> str:
    """Why a loop cannot be cut; empty where it can."""
    if not isinstance(access, MapAccess):
        return "its windows are no index map"
    if loop.kind == "sequential":
        return "its trips must run in order"
    if loop.kind == "reduce":
        splits = sums is not None and loop.name in sums.loops
        return "" if splits else f"it is a reduction, which {kernel.name} does not split here"
    for output in access.outputs:
        moved = [axis for axis in access.axes[output] if mentions(axis.index, loop.name)]
        if len(moved) != 1 or not _apart(moved[0], loop, access):
            return f"tiles of {output} would overlap"
    return ""


def _apart(axis: Axis, loop: Loop, access: Access) -> bool:
    """Whether the windows of successive trips follow one another without touching."""
    if bare_loop(axis) == loop.name:
        return True
    box = {other.name: (0, other.extent) for other in access.loops}
    trips = np.arange(loop.extent)
    low, high, _, _ = spans(axis, box, {loop.name: (trips, trips + 1)})
    return bool(np.all(high[:-1] <= low[1:]))


def sizes(extent: int, multiple: int = 1) -> tuple[int, ...]:
    """Tile extents worth trying, largest first: the smallest for each number of tiles.

    From `_EVERY_TRIP_COUNT` tiles on only some numbers, each about a quarter larger than the one before. The last is
    the smallest tile there is.
    """
    result: dict[int, None] = {}
    count = 1
    while count <= extent:
        even = (extent + count - 1) // count
        size = min(align_up(even, multiple), extent)
        result[size] = None
        count = count + 1 if count < _EVERY_TRIP_COUNT else count + count // 4
    result[min(multiple, extent)] = None
    return tuple(result)


class WindowTable:
    """Windows of operands for any cuts, over all visits; each is worked out once."""

    def __init__(self, space: TilingSpace) -> None:
        self.space = space
        self.whole = {loop.name: loop.extent for loop in space.access.loops}
        self.around = dict(space.around)
        self._box = {name: (0, extent) for name, extent in self.whole.items()}
        self._known: dict[tuple[str, tuple[int, ...]], WindowClasses] = {}
        self._axes: dict[tuple[str, int, tuple[int, ...]], tuple[tuple[int, int], ...]] = {}

    def windows(self, operand: CopiedOperand, cuts: Mapping[str, int]) -> WindowClasses:
        """The windows of all tiles; `cuts` is loop -> tile extent, and a loop left out is not cut."""
        names = self.moving(operand)
        if self.is_entire(operand, cuts):
            return WindowClasses(operand.shape, ((operand.shape, 1),))
        sizes_here = tuple(cuts.get(name, self.space.extents[name]) for name in names)
        key = (operand.name, sizes_here)
        if key not in self._known:
            self._known[key] = self._windows(operand, dict(zip(names, sizes_here, strict=True)))
        return self._known[key]

    def is_entire(self, operand: CopiedOperand, cuts: Mapping[str, int]) -> bool:
        """Whether all of an operand is copied, which no loop moves then."""
        moving = self.moving(operand) if operand.whole and not self.around else ()
        return operand.whole and not self.around and all(cuts.get(n, self.whole[n]) == self.whole[n] for n in moving)

    def moving(self, operand: CopiedOperand) -> tuple[str, ...]:
        """The loops that move an operand: those that may be cut here, and those of which hops around leave one trip."""
        if not self.around or not isinstance(self.space.access, MapAccess):
            return operand.loops
        axes = self.space.access.axes[operand.name]
        held = (name for name in self.around if any(mentions(axis.index, name) for axis in axes))
        return tuple(dict.fromkeys((*operand.loops, *held)))

    def _windows(self, operand: CopiedOperand, cuts: Mapping[str, int]) -> WindowClasses:
        access = self.space.access
        if not isinstance(access, MapAccess):
            extents = tuple(span.extent for span in access.window(operand.name, self._box))
            return WindowClasses(extents, ((extents, 1),))
        axes = access.axes[operand.name]
        by_axis = [tuple(name for name in cuts if mentions(axis.index, name)) for axis in axes]
        moved = [name for names in by_axis for name in names]
        if len(set(moved)) != len(moved):
            return self._jointly(axes, cuts)
        choices = [self._along(operand.name, position, by_axis[position], cuts) for position in range(len(axes))]
        classes = []
        for chosen in product(*choices):
            count = 1
            for _, times in chosen:
                count *= times
            classes.append((tuple(extent for extent, _ in chosen), count))
        return WindowClasses(tuple(max(extent for extent, _ in choice) for choice in choices), tuple(classes))

    def _along(
        self, operand: str, position: int, names: Sequence[str], cuts: Mapping[str, int]
    ) -> tuple[tuple[int, int], ...]:
        """Extents along one axis and how many tiles have each; the loops in `names` move it."""
        key = (operand, position, tuple(cuts[name] for name in names))
        if key not in self._axes:
            axes = self.space.index_map.axes[operand]
            ranges = np.ix_(*(range(len(self.tiles(name, cuts[name])[0])) for name in names))
            tiles = {
                name: (self.tiles(name, cuts[name])[0][at], self.tiles(name, cuts[name])[1][at])
                for name, at in zip(names, ranges, strict=True)
            }
            low, high, _, _ = spans(axes[position], self._box, tiles)
            self._axes[key] = counted(np.maximum(high - low, 0))
        return self._axes[key]

    def new_rows(self, operand: str, position: int, loop: str, size: int) -> tuple[tuple[int, int], ...]:
        """The same of what a tile of a loop has and the one before has not, along an axis that only that loop moves."""
        key = (f"{operand} rolls", position, (size,))
        if key not in self._axes:
            low, high, _, _ = spans(
                self.space.index_map.axes[operand][position], self._box, {loop: self.tiles(loop, size)}
            )
            low, high = np.broadcast_arrays(low, high)
            done = np.minimum(np.concatenate([low[:1], high[:-1]]), high)
            self._axes[key] = counted(high - np.maximum(low, done))
        return self._axes[key]

    def capacity(self, operand: str, cuts: Mapping[str, int]) -> tuple[int, ...]:
        """The largest extents of an operand, copied or not, of which no loop moves two axes: an output."""
        axes = self.space.index_map.axes[operand]
        cuts = {**{name: self.space.extents[name] for name in self.around}, **cuts}
        names = [tuple(name for name in cuts if mentions(axis.index, name)) for axis in axes]
        return tuple(
            max(extent for extent, _ in self._along(operand, position, moving, cuts))
            for position, moving in enumerate(names)
        )

    def rooms(self, operand: CopiedOperand, points: Integers) -> Integers:
        """Bytes of a tile buffer for many tile sizes at once; `points` is [points, loops of the operand]."""
        if operand.loops and not operand.whole and self.is_separable(operand):
            return operand.item_bytes * self.elements(operand.name, operand.loops, points)
        unique, inverse = unique_rows(points)
        keys = [dict(zip(operand.loops, row, strict=True)) for row in unique.tolist()]
        result = [np.prod(self.windows(operand, cuts).capacity, dtype=np.int64) for cuts in keys]
        return operand.item_bytes * np.array(result)[inverse]

    def elements(self, operand: str, loops: Sequence[str], points: Integers) -> Integers:
        """Elements of the largest tile of an operand, copied or not, of which no loop moves two axes.

        `points` is [points, loops]: extents of those loops that may be cut and move it.
        """
        return self._by_axis(operand, loops, points, lambda along, _: max(extent for extent, _ in along))

    def moved(self, operand: CopiedOperand, points: Integers) -> Integers:
        """Elements of all tiles of an operand together; arguments as those of `elements`."""
        every = operand.steps or (1,) * len(operand.shape)
        return self._by_axis(
            operand.name,
            operand.loops,
            points,
            lambda along, axis: sum(ceil_div(n, every[axis]) * times for n, times in along),
        )

    def _by_axis(
        self,
        operand: str,
        loops: Sequence[str],
        points: Integers,
        number: Callable[[tuple[tuple[int, int], ...], int], int],
    ) -> Integers:
        """The product over all axes of a number that depends on the extents along one."""
        result = np.ones(len(points), np.int64)
        for position, axis in enumerate(self.space.index_map.axes[operand]):
            columns = [at for at, name in enumerate(loops) if mentions(axis.index, name)]
            cut = [loops[at] for at in columns]
            names = [name for name in dict.fromkeys((*loops, *self.around)) if mentions(axis.index, name)]
            held = {name: self.space.extents[name] for name in names}
            unique, inverse = unique_rows(points[:, columns])
            keys = [{**held, **dict(zip(cut, row, strict=True))} for row in unique.tolist()]
            numbers = [number(self._along(operand, position, names, cuts), position) for cuts in keys]
            result = result * np.array(numbers, np.int64)[inverse]
        return result

    def is_separable(self, operand: CopiedOperand) -> bool:
        """Whether `elements` and `moved` are known of an operand: a map, no loop of which moves two of its axes."""
        return isinstance(self.space.access, MapAccess) and not self._is_joint(operand)

    def _is_joint(self, operand: CopiedOperand) -> bool:
        """Whether a loop moves several axes of the operand."""
        axes = self.space.index_map.axes[operand.name]
        moved = [name for axis in axes for name in self.moving(operand) if mentions(axis.index, name)]
        return len(set(moved)) != len(moved)

    def visits(self, names: Iterable[str], cuts: Mapping[str, int]) -> int:
        """Combinations of tiles of some loops, over all visits."""
        count = 1
        for name in names:
            count *= len(self.tiles(name, cuts.get(name, self.space.extents[name]))[0])
        return count

    def tiles(self, name: str, size: int) -> tuple[Integers, Integers]:
        """The ranges of trips of all tiles of a loop that is cut so."""
        return ranges(self.whole[name], (*self.around.get(name, ()), size))

    def _jointly(self, axes: Sequence[Axis], cuts: Mapping[str, int]) -> WindowClasses:
        """The same where one loop moves several axes: every combination of tiles is looked at."""
        result: dict[tuple[int, ...], int] = {}
        for box in self._boxes(cuts):
            extents = tuple(axis.span(box).extent for axis in axes)
            result[extents] = result.get(extents, 0) + 1
        room = tuple(max(extents[axis] for extents in result) for axis in range(len(axes)))
        return WindowClasses(room, tuple(result.items()))

    def _boxes(self, cuts: Mapping[str, int]) -> Iterator[Box]:
        names = list(cuts)
        ranges = [zip(*(side.tolist() for side in self.tiles(name, cuts[name])), strict=True) for name in names]
        for tile in product(*map(list, ranges)):
            yield {**self._box, **dict(zip(names, tile, strict=True))}


def bound_bytes(space: TilingSpace) -> int:
    """Bytes of the elements copied layer by layer if each is read or written once; what is spared counts, too."""
    moved = sum(touched_bytes(space.access, item.name, item.item_bytes) for item in space.copied)
    return space.spared_bytes + moved


def touched_bytes(access: Access, operand: str, item_bytes: int, box: Box | None = None) -> int:
    """Bytes of the elements of an operand that any trip uses; or any in `box`."""
    total = item_bytes
    for span in access.window(operand, box) if box else touched(access, operand):
        total *= len(range(span.low, span.high, span.step))
    return total


def rolling_loops(space: TilingSpace) -> dict[str, dict[str, int]]:
    """For each input the loops along which rows of its windows may stay, and the axis that they move: where windows of
    neighbouring tiles overlap along that axis and no other.
    """
    if not isinstance(space.access, MapAccess) or space.around:
        return {}
    result: dict[str, dict[str, int]] = {}
    for item in space.copied:
        askew = item.path.align > 1  # the rows that stay would move by no multiple
        loops = {} if item.written or askew or item.name in space.once else _overlapping(space, item)
        if loops:
            result[item.name] = loops
    return result


def _overlapping(space: TilingSpace, item: CopiedOperand) -> dict[str, int]:
    axes = space.index_map.axes[item.name]
    box = {loop.name: (0, loop.extent) for loop in space.access.loops}
    result = {}
    for name in item.loops:
        moved = [at for at, axis in enumerate(axes) if mentions(axis.index, name)]
        if len(moved) != 1 or space.access.window(item.name, box)[moved[0]].step > 1:
            continue
        size = space.kernel.multiples.get(name, 1)
        low, high, _, _ = spans(axes[moved[0]], box, {name: tile_ranges(space.extents[name], size)})
        if len(low) > 1 and np.all(low[1:] >= low[:-1]) and np.any(high[:-1] > low[1:]):
            result[name] = moved[0]
    return result
