"""The slot of a window, and the tiles at which a window begins and ends."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from tilewright.ir.access.index_map import parse_map
from tilewright.ir.plans.region import Copy, Cut, Hop, Tiles
from tilewright.ir.programs.expressions import ALWAYS, NEVER, Name, Number
from tilewright.ir.programs.program import Part
from tilewright.ir.programs.statements import Barrier, If
from tilewright.lower.regions.operand_moves import FIRST, OperandMove, when
from tilewright.lower.tiles.tile_nest import nest_of
from tilewright.lower.tiles.tile_operands import TileBuffers

MAP = parse_map("o h : X[h] -> Y[o,h]").bind({"X": (16,), "Y": (4, 16)})
TILE = Name("t")


def move(level: int, buffers: int = 2, *, keep: bool = False, borrowed: bool = False) -> OperandMove:
    """X in four rows of four tiles: a copy at level 1 is renewed with every row, at level 2 with every tile."""
    nest = nest_of(MAP, [Hop(outer="l2", inner="l1", nest=(Cut("h", 4), Cut("o", 1)))], "box_t")
    binding: Any = SimpleNamespace(
        operand="X", shape=(16,), layout=(0,), dtype=SimpleNamespace(size_bytes=4), written=False
    )
    part = Part(role="fetch", function="fetch", comment=(), parameters=(), body=())
    slot = TileBuffers(
        binding=binding,
        level=nest.levels[0],
        copy=Copy(level=level, buffers=buffers),
        name="x",
        buffers=tuple(f"x#{number}" for number in range(buffers)),
        capacity=(4,),
        borrowed=borrowed,
    )
    return OperandMove(slot=slot, part=part, level=nest.levels[0], keep=part if keep else None)


def value(expression: Any, tile: int) -> Any:
    """Of a C expression in `t`."""
    return eval(str(expression).replace("/", "//"), {"t": tile})


@pytest.mark.parametrize(("level", "period"), [(0, 16), (1, 4), (2, 1)])
def test_a_window_lasts_for_the_tiles_of_the_loops_inside(level: int, period: int) -> None:
    one = move(level)
    assert one.period == Number(period)
    assert [tile for tile in range(16) if value(one.first(TILE), tile)] == list(range(0, 16, period))
    assert [tile for tile in range(16) if value(one.last(TILE), tile)] == list(range(period - 1, 16, period))


@pytest.mark.parametrize("buffers", [1, 2, 3])
def test_windows_take_slots_in_turn(buffers: int) -> None:
    one = move(1, buffers)
    for ahead in range(buffers + 1):
        slots = [value(str(one.element(TILE, ahead)).split("[")[1][:-1], tile) for tile in range(16)]
        assert slots == [(tile // 4 + ahead) % buffers for tile in range(16)]


def test_what_is_resident_has_one_slot() -> None:
    assert str(move(0).element(TILE, 1)) == "x[0]"


def test_a_later_window_exists_while_there_are_tiles() -> None:
    one = move(1)
    assert [tile for tile in range(16) if value(one.exists(TILE, 1), tile)] == list(range(12))
    assert one.exists(FIRST, 0) == ALWAYS
    assert one.exists(FIRST, 3) == ALWAYS
    assert one.exists(FIRST, 4) == NEVER


def test_a_rolling_window_holds_data_during_all_tiles() -> None:
    assert move(1, keep=True).stays and not move(1).stays and move(0).stays


def test_who_borrows_a_slot_says_nothing_of_its_bytes() -> None:
    (mark,) = move(1).mark("live", FIRST)
    assert (mark.event, mark.buffer, mark.size_bytes) == ("live", "x#0", 16)
    assert move(1, borrowed=True).mark("live", FIRST) == ()


def test_a_condition_that_is_known_leaves_no_branch() -> None:
    body = (Barrier(),)
    assert when(ALWAYS, body) == body
    assert when(NEVER, body) == when(TILE, ()) == ()
    assert when(TILE, body) == (If(condition=TILE, body=body),)


@pytest.mark.parametrize(("tile", "moved"), [(0, None), (1, (2, 2)), (2, (3, 2))])
def test_rows_of_a_value_inside(pools: Any, tile: int, moved: tuple[int, int] | None) -> None:
    """Two blocks, the channels, of five rows of 16 bytes: rows 2 and 3 of 0-4, then 5 and 6 of 2-7."""
    done = pools.done_by("net_0_maxpool_keep", t=tile)
    if moved is None:
        assert done == []
        return
    (keep, given), (charge, cost) = done
    place = pools.plan.placements["a.Y@l1#0"].offset_bytes
    assert (keep, given) == ("tw_keep", [place, 2, 5, 16, *moved])
    assert (charge, cost[1:]) == ("tw_charge", [2, 2]), "of two rows at most"


@pytest.fixture(name="rolling")
def _rolling(generate: Any, pools: Any) -> Any:
    """The same region, of whose input rows stay, too."""
    (region,) = pools.plan.tiled.regions
    (hop,) = region.hops
    copies = {**hop.copies, "a.X": Copy(level=1, window="rolling")}
    rolls = replace(region, schedule=Tiles(hops=(replace(hop, copies=copies),)))
    return generate(pools.plan.tiled.scheduled.bound.graph, rolls)


@pytest.mark.parametrize(("tile", "by", "stay"), [(1, 3, 2), (2, 3, 2)])
def test_rows_of_a_window(rolling: Any, tile: int, by: int, stay: int) -> None:
    """Windows 0-5, 3-8 and 6-8 of the input."""
    (keep, given), (_, cost) = rolling.done_by("net_0_maxpool_keep_x_0", t=tile, x_0=1000)
    assert (keep, given) == ("tw_keep", [1000, 2, 5, 16, by, stay])
    assert cost[1:] == [stay, 2]
    assert rolling.done_by("net_0_maxpool_keep_x_0", t=0) == []


def test_what_is_new_follows_what_stays(rolling: Any) -> None:
    """Five rows from the first, three from the fifth into the third row of the buffer, none."""

    class Slot:
        bytes = 1000

    def brought(tile: int) -> Any:
        return [given[1:] for _, given in rolling.done_by("net_0_maxpool_fetch_x_0", t=tile, slot=Slot)]

    x = rolling.plan.placements["x"].offset_bytes
    assert brought(0) == [[1000, x, 5 * 16, 2, 80, 128]]
    assert brought(1) == [[1000 + 2 * 16, x + 5 * 16, 3 * 16, 2, 80, 128]]
    assert brought(2) == []
