"""What is fetched and stored in each tile: together all of the output, and of the input what tiles need."""

from __future__ import annotations

from itertools import product
from types import SimpleNamespace
from typing import Any

import pytest

from tilewright.ir.programs.expressions import Field, Name, Number
from tilewright.ir.programs.program import Parameter, Part
from tilewright.lower.operands.c_boxes import ends_of
from tilewright.lower.tiles.parts import call_part, in_box_before, rolling_window, rows_of, whole_spans

BUFFER = 4000  # where the slot's bytes are


def transfer(made: Any, function: str, tile: int) -> list[int]:
    """Target, source, bytes, rows, stride of the target, stride of the source."""
    ((name, given),) = made.done_by(function, t=tile, slot=SimpleNamespace(bytes=BUFFER))
    assert name == "tw_transfer"
    return list(given[1:])


def test_tiles_of_the_output_are_all_of_it_once(pools: Any) -> None:
    place, written = pools.plan.placements["c:0"].offset_bytes, []
    for tile in range(3):
        target, source, size, rows, stride, near = transfer(pools, "net_2_maxpool_store_y_2", tile)
        assert (source, rows, stride, near) == (BUFFER, 2, 8 * 16, 3 * 16)
        written += [target + row * stride + byte for row, byte in product(range(rows), range(size))]
    assert sorted(written) == list(range(place, place + 256))


@pytest.mark.parametrize(("tile", "first", "rows"), [(0, 0, 5), (1, 3, 5), (2, 6, 2)])
def test_windows_of_the_input_are_clipped(pools: Any, tile: int, first: int, rows: int) -> None:
    place = pools.plan.placements["x"].offset_bytes
    assert transfer(pools, "net_0_maxpool_fetch_x_0", tile) == [
        BUFFER, place + 16 * first, 16 * rows, 2, 5 * 16, 8 * 16
    ]  # fmt: skip


def test_parts_are_named_by_what_they_do(pools: Any) -> None:
    comments = {one.function: one.comment for step in pools.program.steps for one in step.parts}
    assert comments["net_0_maxpool_fetch_x_0"] == ("Brings X of tile t from l2.",)
    assert comments["net_2_maxpool_store_y_2"] == ("Takes Y of tile t to l2.",)


def test_a_part_is_called_with_variables_of_the_same_names() -> None:
    parameters = tuple(Parameter(type="int32_t", name=name) for name in ("t", "slot"))
    part = Part(role="fetch", function="fetch", comment=(), parameters=parameters, body=())
    called = call_part(part, {"t": Name("t") + 1}, Name("t") + 1)
    assert (called.function, [str(one) for one in called.arguments]) == ("fetch", ["t + 1", "slot"])


def test_all_of_a_value() -> None:
    assert [(one.low, one.extent) for one in whole_spans((2, 5))] == [(Number(0), Number(2)), (Number(0), Number(5))]


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
