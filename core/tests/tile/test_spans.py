"""Tables of numbers whose rows are looked at once each."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tilewright.tile.spans import unique_rows


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
