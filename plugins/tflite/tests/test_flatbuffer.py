"""FlatBuffers are read as they were written, and nothing outside of the file ever is."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from flat_models import flatbuffer
from hypothesis import given
from hypothesis import strategies as st

from tilewright_tflite.flatbuffer import BudgetError, Buffer, DamagedError, Table

FIELDS: dict[int, Any] = {
    0: ("<i", -7),
    1: ("<B", 1),
    3: "a text",
    4: np.array([1, -2, 3], "<i8"),
    5: [{0: ("<b", -1)}, {}],
    6: ("<f", 0.5),
    7: {2: "inside"},
}


def root_of(data: bytes, **budget: int) -> Table:
    return Buffer(data=data, **{"tables": 100, "numbers": 100, "letters": 100, "longest_name": 20, **budget}).root()


def test_what_is_written_is_read() -> None:
    root = root_of(flatbuffer(FIELDS))
    assert (root.integer(0), root.flag(1), root.text(3), root.real(6)) == (-7, True, "a text", 0.5)
    assert root.array(4, "<i8").tolist() == [1, -2, 3]
    assert root.count(5) == 2 and [each.byte(0, 9) for each in root.children(5)] == [-1, 9]
    inside = root.child(7)
    assert inside is not None and inside.text(2) == "inside"


def test_what_is_absent_has_its_default() -> None:
    root = root_of(flatbuffer({3: ("<i", 1)}))
    assert (root.integer(0, 4), root.byte(9, -1), root.flag(2), root.real(1, 1.5), root.text(0)) == (
        4,
        -1,
        False,
        1.5,
        "",
    )
    assert root.child(1) is None and root.children(2) == [] and root.count(2) == 0 and root.array(1, "<f4").size == 0


def test_arrays_are_the_files_own_bytes() -> None:
    data = flatbuffer(FIELDS)
    assert np.shares_memory(root_of(data).array(4, "<i8"), np.frombuffer(data, np.uint8))


def damaged(data: bytes, at: int, form: str, value: int) -> bytes:
    made = bytearray(data)
    struct.pack_into(form, made, at, value)
    return bytes(made)


@pytest.mark.parametrize(
    ("form", "value", "place"),
    [
        ("<I", 1 << 31, lambda root: 0),  # the root is outside
        ("<i", 1 << 30, lambda root: root.at),  # its description is outside
        ("<H", 3, lambda root: root.vtable),  # which is of odd length
        ("<H", 65535, lambda root: root.vtable),  # or longer than the file
        ("<H", 2, lambda root: root.vtable + 2),  # the table has no room for itself
        ("<H", 65535, lambda root: root.vtable + 2),  # or is longer than the file
        ("<H", 65535, lambda root: root.vtable + 4 + 2 * 3),  # a field is outside of the table
        ("<H", 2, lambda root: root.vtable + 4 + 2 * 3),  # or in front of it
        ("<I", 0, lambda root: root.place(3, 4)),  # a text is where its offset is
        ("<I", 1 << 30, lambda root: root.place(3, 4)),  # or outside of the file
        ("<I", 1 << 31, lambda root: root.buffer.follow(root.place(3, 4))),  # or too long
        ("<B", 255, lambda root: root.buffer.follow(root.place(3, 4)) + 4),  # or no text
    ],
)
def test_what_leads_out_of_the_file_is_refused(form: str, value: int, place: Callable[[Table], int]) -> None:
    data = flatbuffer(FIELDS)
    broken = damaged(data, place(root_of(data)), form, value)
    with pytest.raises(DamagedError):
        root_of(broken).text(3)


def test_a_vector_of_more_than_the_file_is_refused() -> None:
    data = flatbuffer(FIELDS)
    root = root_of(data)
    for field, read in ((4, lambda table: table.array(4, "<i8")), (5, lambda table: table.children(5))):
        at = root.buffer.follow(root.place(field, 4) or 0)
        with pytest.raises(DamagedError):
            read(root_of(damaged(data, at, "<I", len(data))))


def test_many_offsets_to_one_place_are_counted() -> None:
    data = flatbuffer({0: [{} for _ in range(50)]})
    assert len(root_of(data, tables=51).children(0)) == 50
    with pytest.raises(BudgetError, match="tables"):
        root_of(data, tables=50).children(0)


def test_texts_are_made_once_and_counted() -> None:
    root = root_of(flatbuffer({0: "x" * 20}), letters=20)
    assert root.text(0) is root.text(0)
    with pytest.raises(BudgetError, match="names"):
        root_of(flatbuffer({0: "x" * 20, 1: "y"}), letters=20).text(1) + root_of(
            flatbuffer({0: "x" * 20}), letters=19
        ).text(0)
    with pytest.raises(BudgetError, match="name"):
        root_of(flatbuffer({0: "x" * 21})).text(0)


@given(st.binary(max_size=200))
def test_any_bytes_are_a_table_or_damaged(data: bytes) -> None:
    try:
        root = root_of(data)
        for number in range(min(root.fields, 40)):
            for read in (root.integer, root.real, root.text, root.child, root.children):
                try:
                    read(number)
                except (DamagedError, BudgetError):
                    continue
    except (DamagedError, BudgetError):
        return
