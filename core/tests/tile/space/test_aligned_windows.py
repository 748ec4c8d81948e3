"""Copies that move multiples of some bytes: what they take is what a byte by byte look at every transfer allows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from math import prod
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tilewright.ir.machines.platform import Platform
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.rounding import align_up
from tilewright.ir.tensors.layout import strides
from tilewright.testing.cluster import cluster
from tilewright.testing.one_step import one_step, vocabulary
from tilewright.tile.machine import ScheduledMachine
from tilewright.tile.space.aligned_windows import misfit, misfit_of
from tilewright.tile.space.step_spaces import step_space
from tilewright.tile.space.tiling_space import CopiedOperand, TilingSpace, WindowTable

pytestmark = pytest.mark.slow


def machine(align: int) -> Platform:
    """The cluster with copies that move multiples of so many bytes."""
    near = cluster()
    memories = tuple(replace(memory, align=max(memory.align, align)) for memory in near.memories)
    return replace(near, memories=memories, copies=tuple(replace(path, align=align) for path in near.copies))


def space_of(align: int, op: str, *shapes: tuple[int, ...], dtype: Any = np.float32, **attributes: Any) -> TilingSpace:
    scheduled = one_step(op, [np.zeros(shape, dtype) for shape in shapes], machine(align), attributes)
    made = ScheduledMachine(scheduled, vocabulary(), Decisions())
    return step_space(made, 0, made.scheduled.steps[0], "l1")


def item_of(space: TilingSpace, name: str) -> CopiedOperand:
    return next(item for item in space.copied if item.name == name)


def windows(space: TilingSpace, item: CopiedOperand, cuts: dict[str, int]) -> Iterator[list[tuple[int, int]]]:
    """The first position and the extent along each axis, tile by tile."""
    sizes = {loop.name: cuts.get(loop.name, loop.extent) for loop in space.access.loops}
    ranges = {
        loop.name: [(low, min(low + sizes[loop.name], loop.extent)) for low in range(0, loop.extent, sizes[loop.name])]
        for loop in space.access.loops
    }
    for tile in product(*ranges.values()):
        yield [(span.low, span.extent) for span in space.access.window(item.name, dict(zip(ranges, tile, strict=True)))]


def runs(
    item: CopiedOperand, window: list[tuple[int, int]], room: tuple[int, ...], varying: list[bool]
) -> Iterator[tuple[int, int, int]]:
    """Where each run of a window begins on the far and on the near side, and how long it is, in bytes. Around an axis
    along which tiles are not alike, the generated code begins a new one.
    """
    order = item.layout
    apart = max((at for at, axis in enumerate(order) if varying[axis]), default=0)
    begun: list[int] = []
    before: tuple[int, ...] = ()
    for index in np.ndindex(*(window[axis][1] for axis in order)):
        far, near = 0, 0
        for at, axis in zip(index, order, strict=True):
            far += (window[axis][0] + at) * strides(item.shape, order)[axis] * item.item_bytes
            near += at * strides(room, order)[axis] * item.item_bytes
        follows = index[:apart] == before[:apart]
        before = index
        if begun and follows and (far, near) == (begun[0] + begun[2], begun[1] + begun[2]):
            begun[2] += item.item_bytes
            continue
        if begun:
            yield begun[0], begun[1], begun[2]
        begun = [far, near, item.item_bytes]
    if begun:
        yield begun[0], begun[1], begun[2]


def sound(item: CopiedOperand, window: list[tuple[int, int]], room: tuple[int, ...], varying: list[bool]) -> bool:
    """Whether every run can be moved so that nothing but padding, or bytes that are read anyway, is touched beside."""
    align, total = item.path.align, item.item_bytes * prod(item.shape)
    every = list(runs(item, window, room, varying))
    taken = {byte for _, near, size in every for byte in range(near, near + size)}
    for far, near, size in every:
        whole = align_up(size, align)
        if far % align or near % align:
            return False
        if item.written and whole > size and far + size < total:
            return False
        if far + whole > align_up(total, align) or near + whole > align_up(item.item_bytes * prod(room), align):
            return False
        if not item.written and taken.intersection(range(near + size, near + whole)):
            return False
    return True


CASES = st.one_of(
    st.tuples(st.just("Add"), st.lists(st.integers(1, 7), min_size=1, max_size=3).map(lambda s: (tuple(s),) * 2)),
    st.tuples(
        st.just("MatMul"),
        st.tuples(st.integers(1, 6), st.integers(1, 9), st.integers(1, 9)).map(lambda n: (n[:2], n[1:])),
    ),
    st.tuples(st.just("Softmax"), st.tuples(st.integers(1, 6), st.integers(1, 9)).map(lambda s: (s,))),
)


@settings(max_examples=150, deadline=None)
@given(CASES, st.sampled_from([2, 4, 8, 16, 32]), st.data())
def test_tiles_are_taken_whose_every_byte_may_be_moved(case: Any, align: int, data: Any) -> None:
    op, shapes = case
    space = space_of(align, op, *shapes, **({"axis": 1} if op == "Softmax" else {}))
    table = WindowTable(space)
    for item in space.copied:
        extents = {loop.name: loop.extent for loop in space.cuts if loop.name in item.loops}
        cuts = {name: data.draw(st.integers(1, extent)) for name, extent in extents.items()}
        room = table.windows(item, cuts).capacity
        every = list(windows(space, item, cuts))
        varying = [len({window[axis][1] for window in every}) > 1 for axis in range(len(item.shape))]
        taken = all(sound(item, window, room, varying) for window in every)
        assert (misfit(table, item, cuts) == "") == taken, (item, cuts)
        lows = [np.array([window[axis][0] for window in every]) for axis in range(len(item.shape))]
        highs = [np.array([sum(window[axis]) for window in every]) for axis in range(len(item.shape))]
        assert (misfit_of(item, list(zip(lows, highs, strict=True)), room, held=False) == "") == taken


def test_windows_that_overlap_begin_where_they_may() -> None:
    """Rows of 4 floats: a convolution of three rows begins one row before each tile."""
    attributes = {
        "kernel_shape": (3, 1),
        "strides": (1, 1),
        "dilations": (1, 1),
        "pads": (1, 0, 1, 0),
        "group": 1,
        "ceil_mode": 0,
    }
    faults = []
    for align in (16, 32):
        space = space_of(align, "Conv", (1, 1, 16, 4), (1, 1, 3, 1), **attributes)
        table, x = WindowTable(space), item_of(space, "X")
        assert misfit(table, x, {}) == ""
        faults.append(misfit(table, x, {"h": 2}))
    assert faults == ["", "a tile of X begins at no multiple of 32 bytes"]


@pytest.mark.parametrize(
    ("changes", "shape", "reason"),
    [
        ({}, (3, 5), ""),
        ({"aligned_offset": False}, (3, 5), "X begins at no multiple of 8 bytes"),
        ({"padded": False}, (3, 5), "behind the last byte of X is nothing that a copy may move, too"),
        ({"padded": False}, (2, 5), ""),
    ],
)
def test_the_whole_of_an_operand_is_taken_where_padding_is_behind_it(
    changes: dict[str, Any], shape: tuple[int, int], reason: str
) -> None:
    space = space_of(8, "Softmax", shape, axis=1)
    item = replace(item_of(space, "X"), **changes)
    assert misfit(WindowTable(space), item, {}) == reason


def test_what_is_stored_is_longer_than_a_tile_only_at_the_end() -> None:
    space = space_of(8, "Softmax", (3, 5), axis=1)
    table, y = WindowTable(space), item_of(space, "Y")
    assert misfit(table, y, {"i0": 2}) == ""  # 40 bytes, and 20
    assert misfit(table, y, {"i0": 1}) != ""
    first, last = (np.array(0), np.array(2)), (np.array(2), np.array(3))
    columns = np.array(0), np.array(5)
    assert misfit_of(y, [first, columns], (2, 5), held=False) == misfit_of(y, [last, columns], (2, 5), held=False) == ""
    assert misfit_of(y, [last, columns], (2, 5), held=True) == "a part of a tile of Y is stored"


def test_a_tile_of_an_outer_hop_has_padding_behind_all_of_it() -> None:
    space = space_of(8, "Softmax", (6, 5), axis=1)
    y = item_of(space, "Y").at((3, 5))
    part, whole = (np.array(3), np.array(5)), (np.array(3), np.array(6))
    columns = np.array(0), np.array(5)
    assert misfit_of(y, [whole, columns], (3, 5), held=False) == "a tile of Y begins at no multiple of 8 bytes"
    whole = (np.array(0), np.array(3))
    assert misfit_of(y, [whole, columns], (3, 5), held=False) == ""
    assert misfit_of(y, [part, columns], (2, 5), held=False) != ""
