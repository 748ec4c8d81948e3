"""Tables of numbers whose rows are looked at once each."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tilewright.tile.space.spans import counted, different, unique_rows


@given(
    st.integers(0, 3).flatmap(
        lambda width: st.lists(st.lists(st.integers(-3, 3), min_size=width, max_size=width), max_size=40)
    )
)
def test_rows_are_sorted_each_once_and_every_row_is_found(rows: list[list[int]]) -> None:
    """As many rows as are compared one by one, and more."""
    table = np.array(rows, np.int64).reshape(len(rows), len(rows[0]) if rows else 0)
    unique, inverse = unique_rows(table)
    assert unique.tolist() == sorted(map(list, {tuple(row) for row in rows}))
    assert unique[inverse].tolist() == table.tolist() if rows else len(inverse) == 0


@given(st.lists(st.integers(-3, 3), max_size=40))
def test_different_numbers_are_what_numpy_finds(numbers: list[int]) -> None:
    """Where each is first, which of them every number is, and how many there are, too."""
    table = np.array(numbers, np.int64)
    found = np.unique(table, return_index=True, return_inverse=True, return_counts=True)
    assert [part.tolist() for part in different(table)] == [part.tolist() for part in found[:3]]
    assert counted(table) == tuple(zip(found[0].tolist(), found[3].tolist(), strict=True))


def test_numbers_of_a_table_of_more_axes_are_counted() -> None:
    """As tiles of two loops have them."""
    assert counted(np.array([[2, 1], [2, 2]])) == ((1, 1), (2, 3))
