"""The tiles of a hop as C sees them: how many, in which order, and the range of every loop in each."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from tilewright.ir.access.index_map import parse_map
from tilewright.ir.plans.region import Cut, Hop
from tilewright.lower.tiles.tile_nest import box_value, boxes, extents_of, nest_of, tile_counts

MAP = parse_map("o h c : X[c,h] W[o,c] -> Y[o,h]").bind({"X": (5, 7), "W": (4, 5), "Y": (4, 7)})


def hop(*nest: Cut, near: str = "l1") -> Hop:
    return Hop(outer="l2", inner=near, nest=nest)


def ranges(values: Any, value_of: Any, **names: Any) -> dict[str, tuple[int, int]]:
    found = {member: value_of(value, names) for member, value in values.items()}
    return {member: (one.low, one.high) for member, one in found.items()}


def test_tiles_are_counted_innermost_loop_first(value_of: Any) -> None:
    """Two of `o` around three of `h`."""
    (level,) = nest_of(MAP, [hop(Cut("o", 2), Cut("h", 3))], "box_t").levels
    nest = nest_of(MAP, [hop(Cut("o", 2), Cut("h", 3))], "box_t")
    expected = [{"o": (o, o + 2), "h": (h, min(h + 3, 7))} for o, h in product(range(0, 4, 2), range(0, 7, 3))]
    assert level.total.number == 6
    assert [ranges(box_value(nest, level), value_of, t=tile) for tile in range(6)] == expected
    assert [level.period(depth).number for depth in range(3)] == [6, 3, 1]


def test_a_loop_that_is_not_cut_is_a_number() -> None:
    nest = nest_of(MAP, [hop(Cut("h", 3), Cut("o", 4))], "box_t")
    assert nest.members == {"h": "h"}, "one tile of all `o` is no cut"
    assert [end.number for end in nest.box["o"]] == [0, 4]
    assert [str(end) for end in nest.box["h"]] == ["box.h.low", "box.h.high"]
    assert nest.ranges["h"] == ((0, 3), (3, 6), (6, 7))
    assert nest.ranges["c"] == ((0, 5),)


def test_what_some_loops_hold_still() -> None:
    (level,) = nest_of(MAP, [hop(Cut("o", 2), Cut("h", 3))], "box_t").levels
    assert [str(end) for end in level.around(1)["o"]] == ["box.o.low", "box.o.high"]
    assert [end.number for end in level.around(1)["h"]] == [0, 7]
    assert level.ranges_around(1)["h"] == ((0, 7),)
    assert level.ranges_around(2)["h"] == ((0, 3), (3, 6), (6, 7))


def test_an_inner_hop_cuts_what_a_tile_around_it_has(value_of: Any) -> None:
    """Seven rows in tiles of four, and these in tiles of two: 2 + 2 tiles, and 2 for the three rows that are left."""
    nest = nest_of(MAP, [hop(Cut("h", 4), near="l2"), hop(Cut("h", 2))], "box_t")
    outer, inner = nest.levels
    assert (outer.counter, inner.counter) == ("t", "u")
    assert (outer.variable, inner.variable) == ("l2_box", "l1_box")
    assert (outer.total.number, inner.total.number) == (2, 2)
    around = ranges(box_value(nest, outer), value_of, t=1)
    assert around == {"h": (4, 7)}

    class Outer:
        class h:  # the member's name
            low, high = 4, 7

    found = [ranges(box_value(nest, inner), value_of, u=tile, l2_box=Outer) for tile in range(2)]
    assert found == [{"h": (4, 6)}, {"h": (6, 7)}]
    assert nest.ranges["h"] == ((0, 2), (2, 4), (4, 6), (6, 7))


@pytest.mark.parametrize(("outer", "tiles"), [((0, 5), 3), ((5, 7), 1)])
def test_a_number_of_tiles_that_varies_is_worked_out(value_of: Any, outer: tuple[int, int], tiles: int) -> None:
    """Tiles of five rows, the last of two, in tiles of two."""
    nest = nest_of(MAP, [hop(Cut("h", 5), near="l2"), hop(Cut("h", 2))], "box_t")
    inner = nest.levels[1]
    assert inner.total.number is None and inner.moving

    class Box:
        class h:
            low, high = outer

    counts = tile_counts(inner)
    assert {name: value_of(count, {"l2_box": Box}) for name, count in counts.items()} == {"h_tiles": tiles}


def test_what_only_an_outer_level_cuts_is_handed_on() -> None:
    nest = nest_of(MAP, [hop(Cut("o", 2), near="l2"), hop(Cut("h", 3))], "box_t")
    assert [str(end) for end in nest.box["o"]] == ["l1_box.o.low", "l1_box.o.high"]
    assert str(box_value(nest, nest.levels[1])["o"]) == "l2_box.o"


def test_no_hops_is_everything_at_once() -> None:
    nest = nest_of(MAP, [], "box_t")
    assert nest.ranges == {"o": ((0, 4),), "h": ((0, 7),), "c": ((0, 5),)}
    assert [end.number for end in nest.box["h"]] == [0, 7]
    assert not nest_of(MAP, [hop()], "box_t").levels[0].moving


def test_the_most_trips_and_all_combinations() -> None:
    found = {"o": ((0, 2), (2, 4)), "h": ((0, 3), (3, 7))}
    assert extents_of(found) == {"o": 2, "h": 4}
    assert boxes(found, ["h"]) == [{"h": (0, 3)}, {"h": (3, 7)}]
    assert len(boxes(found, ["o", "h"])) == 4
