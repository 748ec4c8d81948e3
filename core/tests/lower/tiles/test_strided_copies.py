"""The transfers of a window, carried out: every byte of it is copied once, in pieces that the path takes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from math import prod
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tilewright.ir.programs.expressions import Name, Number
from tilewright.ir.programs.statements import ByteRange, CopyStart, For, If, Statement
from tilewright.ir.rounding import ceil_div
from tilewright.ir.tensors.layout import strides
from tilewright.lower.operands.c_boxes import CSpan
from tilewright.lower.tiles.strided_copies import CopyEnd, Extent, extents_of, window_copy
from tilewright.testing.cluster import copy_path

ITEM = 2  # bytes
PATH = copy_path("l2", "l1")


def end(pointer: str, shape: Sequence[int]) -> CopyEnd:
    layout = tuple(range(len(shape)))
    region = ByteRange(buffer=pointer, offset_bytes=0, size_bytes=ITEM * prod(shape))
    return CopyEnd(
        pointer=Name(pointer), strides=tuple(ITEM * one for one in strides(shape, layout)), regions=(region,)
    )


def carried_out(body: Sequence[Statement], value_of: Any, names: dict[str, int]) -> Iterator[list[int]]:
    """Of every transfer: target, source, bytes, rows, stride there, stride here; each plane as one."""
    for one in body:
        match one:
            case For():
                for trip in range(*(value_of(each, names) for each in (one.start, one.stop, one.step))):
                    yield from carried_out(one.body, value_of, {**names, one.variable: trip})
            case If():
                if value_of(one.condition, names):
                    yield from carried_out(one.body, value_of, names)
            case CopyStart():
                arguments = [value_of(each, {**names, "slot": 0}) for each in one.code.arguments][1:]
                if one.code.function == "tw_transfer":
                    yield arguments
                    continue
                there, here, size, rows, planes, far, near, far_plane, near_plane = arguments
                for plane in range(planes):
                    yield [there + plane * far_plane, here + plane * near_plane, size, rows, far, near]


def moved(transfers: Sequence[Sequence[int]]) -> list[tuple[int, int]]:
    """(target, source) of every byte."""
    return sorted(
        (there + row * far + byte, here + row * near + byte)
        for there, here, size, rows, far, near in transfers
        for row, byte in product(range(rows), range(size))
    )


def expected(extents: Sequence[int], there: CopyEnd, here: CopyEnd) -> list[tuple[int, int]]:
    def at(one: CopyEnd, place: Sequence[int]) -> int:
        return sum(position * stride for position, stride in zip(place, one.strides, strict=True))

    return sorted(
        (at(there, place) + byte, 5000 + at(here, place) + byte)
        for place in product(*map(range, extents))
        for byte in range(ITEM)
    )


@pytest.mark.slow
@given(st.data())
def test_every_byte_of_a_window_once(value_of: Any, data: st.DataObject) -> None:
    extents = [data.draw(st.integers(1, 4)) for _ in range(data.draw(st.integers(1, 4)))]
    room = [extent + data.draw(st.integers(0, 1)) for extent in extents]
    whole = [extent + data.draw(st.integers(0, 2)) for extent in room]
    varies = [data.draw(st.booleans()) for _ in extents]
    path = replace(
        PATH, dimensions=data.draw(st.integers(1, 3)), max_bytes=data.draw(st.sampled_from([None, 2, 6, 10, 40]))
    )
    spans = [
        CSpan(low=Number(0), extent=Name(f"e{axis}") if one else Number(extents[axis]))
        for axis, one in enumerate(varies)
    ]
    ranges = [
        (0 if one else extent, room[axis] if one else extent)
        for axis, (one, extent) in enumerate(zip(varies, extents, strict=True))
    ]
    here, there = end("here", whole), end("there", room)
    body = window_copy(
        here, there, extents_of(spans, ranges, (1,) * len(extents)), ITEM, path, slot=Name("slot"), name="x"
    )
    names = {"here": 5000, "there": 0, **{f"e{axis}": extent for axis, extent in enumerate(extents)}}
    found = list(carried_out(body, value_of, names))
    assert moved(found) == expected(extents, there, here)
    assert all(rows == 1 for _, _, _, rows, _, _ in found) or path.dimensions > 1
    assert path.max_bytes is None or all(size * rows <= path.max_bytes for _, _, size, rows, _, _ in found)


def copied(extents: Sequence[int], shape: Sequence[int], **limits: Any) -> tuple[Statement, ...]:
    fixed = [Extent(value=Number(extent), least=extent, most=extent) for extent in extents]
    return window_copy(
        end("here", shape), end("there", extents), fixed, ITEM, replace(PATH, **limits), slot=Name("slot"), name="x"
    )


def test_neighbours_without_a_gap_are_one_run() -> None:
    (one,) = copied((2, 3, 4), (2, 3, 4))
    assert isinstance(one, CopyStart) and str(one.code) == "tw_transfer(slot, there, here, 48, 1, 0, 0)"
    (rows,) = copied((2, 3, 4), (2, 5, 4))
    assert isinstance(rows, CopyStart) and str(rows.code) == "tw_transfer(slot, there, here, 24, 2, 24, 40)"


def test_planes_of_rows_are_one_transfer_where_the_path_has_three_dimensions() -> None:
    extents, shape = (2, 3, 4), (3, 4, 5)
    (planes,) = copied(extents, shape, dimensions=3)
    assert isinstance(planes, CopyStart)
    assert str(planes.code) == "tw_transfer_3d(slot, there, here, 8, 3, 2, 8, 10, 24, 40)"
    (loop,) = copied(extents, shape, dimensions=3, max_bytes=47)
    assert isinstance(loop, For) and "tw_transfer(" in str(loop.body[0].code)


def test_what_is_no_multiple_is_moved_with_padding() -> None:
    (fixed,) = copied((2, 3), (2, 3), align=8)
    assert str(fixed.code) == "tw_transfer(slot, there, here, 16, 1, 0, 0)"
    extent = Extent(value=Name("n"), least=1, most=3)
    (moving,) = window_copy(
        end("here", (3,)), end("there", (3,)), [extent], ITEM, replace(PATH, align=8), slot=Name("slot"), name="x"
    )
    assert str(moving.code) == "tw_transfer(slot, there, here, tw_padded(2 * n, 8), 1, 0, 0)"


def test_nothing_is_copied_where_nothing_can_be() -> None:
    assert copied((2, 0, 4), (2, 3, 4)) == ()


def test_what_may_be_empty_is_asked_first() -> None:
    extent = Extent(value=Name("n"), least=0, most=3)
    (asked,) = window_copy(end("here", (3,)), end("there", (3,)), [extent], ITEM, PATH, slot=Name("slot"), name="x")
    assert isinstance(asked, If) and str(asked.condition) == "n > 0"


def test_rows_that_are_too_long_are_cut_where_the_path_may_begin() -> None:
    (rows,) = copied((2, 9), (2, 10), max_bytes=7, align=4)
    assert isinstance(rows, For) and isinstance(rows.body[0], For)
    assert str(rows.body[0].step) == "4"


def test_of_a_strided_access_every_so_manieth_position() -> None:
    assert end("here", (6, 8)).every((2, 3)).strides == (2 * 16, 3 * 2)
    (rows, columns) = extents_of(
        [CSpan(low=Number(0), extent=Number(5)), CSpan(low=Number(0), extent=Name("n"))], [(5, 5), (2, 7)], (2, 3)
    )
    assert (rows.value, rows.least, rows.most) == (Number(ceil_div(5, 2)), 3, 3)
    assert (str(columns.value), columns.least, columns.most) == ("tw_steps(n, 3)", 1, 3)
