"""How rows of a window lie in their buffer, and what the box of the tile before is called."""

from __future__ import annotations

from itertools import product
from types import SimpleNamespace
from typing import Any

import pytest

from tilewright.ir.programs.expressions import Field, Name, Number
from tilewright.lower.operands.c_boxes import ends_of
from tilewright.lower.tiles.rolling import in_box_before, rolling_window, rows_of

ROOM = (1, 2, 5, 4)


def test_a_buffer_is_blocks_of_rows_around_the_axis_that_moves() -> None:
    """Channels, rows of 4 elements of 2 bytes."""
    assert rows_of(ROOM, (0, 1, 2, 3), 2, 2) == (Number(2), Number(5), Number(8))
    assert rows_of(ROOM, (0, 2, 3, 1), 2, 2) == (Number(1), Number(5), Number(16)), "channels last"
    assert rows_of(ROOM, (0, 1, 2, 3), 3, 2) == (Number(10), Number(4), Number(2))


@pytest.mark.parametrize("axis", range(4))
def test_rows_are_all_of_the_buffer(axis: int) -> None:
    for layout in ((0, 1, 2, 3), (0, 2, 3, 1)):
        blocks, rows, row_bytes = (one.number or 0 for one in rows_of(ROOM, layout, axis, 4))
        starts = {(block * rows + row) * row_bytes for block, row in product(range(blocks), range(rows))}
        assert len(starts) == blocks * rows and blocks * rows * row_bytes == 2 * 5 * 4 * 4


def test_the_box_before_has_its_own_name() -> None:
    box = {"h": ends_of(Field(Name("box"), "h")), "w": (Number(0), Number(4))}
    before = in_box_before(box, Name("box"))
    assert [str(end) for end in before["h"]] == ["before.h.low", "before.h.high"]
    assert before["w"] == box["w"]


def test_what_keeps_no_rows_has_no_new_ones() -> None:
    slot: Any = SimpleNamespace(roll=None, name="x")
    with pytest.raises(ValueError, match="x keeps no rows"):
        rolling_window(SimpleNamespace(), SimpleNamespace(), slot, ())
