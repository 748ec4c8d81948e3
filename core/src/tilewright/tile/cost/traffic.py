"""Knows what a region copies: for every operand, hop and window how large it is, what it costs, where it goes.
Does not know when transfers begin or who waits for them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from tilewright.ir.access.index_map import touched
from tilewright.ir.plans.region import Copy, key_of
from tilewright.ir.rounding import align_up
from tilewright.tile.cost.tile_boxes import Boxes, RollingAxis, most, new_rows, roll_along
from tilewright.tile.space.aligned_windows import misfit_of
from tilewright.tile.space.fusion import RegionStep
from tilewright.tile.space.spans import rows_of, unique_rows
from tilewright.tile.space.tiling_space import CopiedOperand

if TYPE_CHECKING:
    import numpy.typing as npt

    from tilewright.tile.cost.tile_boxes import Reach

    Integers = npt.NDArray[np.int64]
    Numbers = npt.NDArray[np.float64]

MOVED_BYTES_PER_CYCLE = 4  # of one core that moves rows which stay: a word read and written


@dataclass(frozen=True, slots=True, kw_only=True)
class Crossing:
    """One operand over one hop: `windows`, where the first `copy_level` loops are, those of hops before included.

    `own` is whether it has tile buffers of its own: what one step writes and another reads leaves from where it is.
    """

    member: RegionStep
    number: int
    item: CopiedOperand
    copy: Copy
    copy_level: int
    windows: tuple[Reach, ...]
    capacity: tuple[int, ...]
    own: bool
    entire: bool = False  # all of the operand, whatever the step uses of it
    roll: RollingAxis | None = None  # of a rolling window
    fault: str = ""

    @property
    def key(self) -> str:
        """In `Hop.copies`."""
        return key_of(self.member.step.name, self.item.name)

    @property
    def tile_bytes(self) -> int:
        """Of one tile buffer."""
        return align_up(self.item.item_bytes * prod(self.capacity), self.item.path.align)


_OF_CROSSING = tuple(one.name for one in fields(Crossing))


@dataclass(frozen=True, slots=True, kw_only=True)
class Traffic(Crossing):
    """The same with its transfers. Arrays have an axis for each loop around them."""

    cycles: Numbers
    sizes: Integers  # bytes
    numbers: Integers  # of transfers
    shifts: Numbers  # cycles that it takes one core to move the rows that stay, before this window
    legal: bool

    @property
    def size_bytes(self) -> int:
        """All bytes together."""
        return int(self.sizes.sum())


def crossings_of(boxes: Boxes) -> tuple[tuple[Crossing, ...], ...]:
    """What every hop copies, in the order of the steps. What comes from a tile buffer begins where transfers may."""
    crossings: list[tuple[Crossing, ...]] = []
    brought: dict[str, tuple[int, ...]] = {}  # operand by key, or value that crossed whole -> room of its buffer
    for hop in range(len(boxes.hops)):
        here = tuple(_crossing(boxes, hop, brought))
        crossings.append(here)
        for crossing in here:
            brought[crossing.key] = crossing.capacity
            if not boxes.hops[hop].nest:
                brought[_value(crossing.member, crossing.item.name)] = crossing.capacity
    return tuple(crossings)


def traffic_of(boxes: Boxes, crossings: Sequence[Sequence[Crossing]] | None = None) -> tuple[tuple[Traffic, ...], ...]:
    """The transfers of what crosses, of every hop."""
    return tuple(tuple(_traffic(boxes, crossing) for crossing in here) for here in crossings or crossings_of(boxes))


def _crossing(boxes: Boxes, hop: int, brought: Mapping[str, tuple[int, ...]]) -> Iterator[Crossing]:
    for number, member in enumerate(boxes.analysis.members):
        for item in member.spaces[hop].copied:
            key = key_of(member.step.name, item.name)
            copy = boxes.hops[hop].copies.get(key)
            if copy is not None:
                far = brought.get(key) or brought.get(_value(member, item.name))
                yield _window(boxes, hop, number, item.at(far), copy)


def _value(member: RegionStep, operand: str) -> str:
    return next(item.value for item in member.operands if item.name == operand)


def _window(boxes: Boxes, hop: int, number: int, item: CopiedOperand, copy: Copy) -> Crossing:
    member, copy_level = boxes.analysis.members[number], boxes.starts[hop] + copy.level
    inner = item.written and bool(member.readers) and hop + 1 == len(boxes.hops)
    entire = crosses_whole(boxes, hop) or (item.whole and copy_level == 0)
    windows = _whole(boxes, item) if entire else boxes.windows(number, item.name, copy_level)
    roll, fault = None, ""
    if copy.window == "rolling":
        roll, fault = _roll(member, item, windows, range(max(boxes.starts[hop], boxes.starts[-2]), copy_level))
    return Crossing(
        member=member,
        number=number,
        item=item.entire() if entire else item,
        copy=copy,
        copy_level=copy_level,
        windows=windows,
        capacity=boxes.internal_rows(number) if inner else most(windows),
        own=not inner,
        entire=entire,
        roll=roll,
        fault=fault,
    )


def _traffic(boxes: Boxes, crossing: Crossing) -> Traffic:
    item, roll, copy_level = crossing.item, crossing.roll, crossing.copy_level
    copied = [
        new_rows(reach, roll.loop) if roll and axis == roll.axis else reach
        for axis, reach in enumerate(crossing.windows)
    ]
    shape = tuple(trips if at < copy_level else 1 for at, trips in enumerate(boxes.extents))
    unique, inverse = unique_rows(rows_of([high - low for low, high in copied], shape))
    each = [item.transfers(tuple(row), crossing.capacity) for row in unique.tolist()]
    there = boxes.exists.any(axis=tuple(range(copy_level, boxes.exists.ndim)), keepdims=True).astype(np.int64)
    cycles = np.array([transfer.cycles(item.path) for transfer in each], np.float64)[inverse].reshape(shape)
    numbers = np.array([transfer.number for transfer in each], np.int64)[inverse].reshape(shape)
    sizes = np.array([transfer.size_bytes for transfer in each], np.int64)[inverse].reshape(shape)
    return Traffic(
        **{name: getattr(crossing, name) for name in _OF_CROSSING},
        cycles=(cycles * there).reshape(shape[:copy_level]),
        sizes=(sizes * there).reshape(shape[:copy_level]),
        numbers=(numbers * there).reshape(shape[:copy_level]),
        shifts=_shifts(crossing, copied, shape).reshape(shape[:copy_level]),
        legal=not misfit_of(item, crossing.windows, crossing.capacity, held=not crossing.own),
    )


def crosses_whole(boxes: Boxes, hop: int) -> bool:
    """Whether values cross in one piece, for all steps that use them."""
    return len(boxes.analysis.members) > 1 and hop + 1 < len(boxes.hops) and not boxes.hops[hop].nest


def _whole(boxes: Boxes, item: CopiedOperand) -> tuple[Reach, ...]:
    shape = (1,) * len(boxes.extents)
    return tuple((np.zeros(shape, np.int64), np.full(shape, extent, np.int64)) for extent in item.shape)


def _roll(
    member: RegionStep, item: CopiedOperand, windows: Sequence[Reach], loops: range
) -> tuple[RollingAxis | None, str]:
    """Along which axis an operand from outside keeps rows, and why it cannot."""
    roll = roll_along(windows, loops)
    if isinstance(roll, str) or roll is None:
        return None, f"{item.name} cannot keep rows: {roll or 'no loop moves it'}"
    whole = touched(member.access, item.name)
    if item.path.align > 1:
        return None, f"{item.name} cannot keep rows: its copies move multiples of {item.path.align} bytes"
    if item.written or whole[roll.axis].step > 1:
        return None, f"{item.name} cannot keep rows: it is written, or copied with gaps"
    return roll, ""


def _shifts(crossing: Crossing, copied: Sequence[Reach], shape: Sequence[int]) -> Numbers:
    """What it takes one core to move the rows of each window that the one before has left."""
    if crossing.roll is None:
        return np.zeros(shape)
    axis = crossing.roll.axis
    stay = copied[axis][0] - crossing.windows[axis][0]
    row_bytes = crossing.tile_bytes / max(1, crossing.capacity[axis])
    return np.broadcast_to(stay * (row_bytes / MOVED_BYTES_PER_CYCLE), shape).astype(np.float64)
