"""Which values of a graph share bytes in every order."""

from __future__ import annotations

import numpy as np

from tilewright.bind import bind
from tilewright.ir.graphs.graph import Graph
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.tensors.dtypes import DType
from tilewright.schedule.order_task import Pieces, pieces_of
from tilewright.testing.random_graphs import small_world
from tilewright.testing.sketch import Sketch

WORLD = small_world()


def pieces(graph: Graph, theirs: tuple[str, ...] = ()) -> Pieces:
    bound = bind(graph, WORLD.platform, WORLD.operators, WORLD.kernels, Decisions())
    return pieces_of(bound, WORLD.operators, theirs)


def sum_under_two_names() -> Graph:
    """x + c -> flat, a view -> clip, which may overwrite it."""
    s = Sketch(operators=WORLD.operators)
    total = s.node("Add", (s.input("x", DType.F32, (2, 3)), s.constant(np.ones(3, np.float32))), name="add")
    flat = s.node("Reshape", (total,), {"shape": (6,)}, name="flat")
    return s.finish(s.node("Clip", (flat,), {"min": 0.0}, name="clip"))


def test_a_view_is_in_the_piece_of_what_it_shows() -> None:
    found = pieces(sum_under_two_names())
    assert found.views == {"flat"} and found.exact
    assert found.of["flat:0"] == found.of["add:0"] and len(set(found.of.values())) == len(found.sizes) == 3
    assert "c0" not in found.of, "constants are nowhere in memory that is written"
    assert found.in_place == ((), (), (("flat:0", "clip:0"),)), "never over an input of the graph"


def test_the_callers_values_take_nothing() -> None:
    found = pieces(sum_under_two_names(), theirs=("x", "clip:0"))
    assert {value: found.sizes[found.of[value]] for value in ("x", "add:0", "clip:0")} == {
        "x": 0,
        "add:0": 24,
        "clip:0": 0,
    }


def test_parts_of_a_sum_of_parts_are_one_piece() -> None:
    """What is written into a Concat lies in it already: one piece with two writers."""
    s = Sketch(operators=WORLD.operators)
    x = s.input("x", DType.F32, (1, 4))
    parts = [s.node("Clip", (x,), {"max": float(top)}, name=f"part{top}") for top in (1, 2)]
    found = pieces(
        s.finish(s.node("Clip", (s.node("Concat", parts, {"axis": 0}, name="all"),), {"min": 0.0}, name="out"))
    )
    assert found.of["part1:0"] == found.of["part2:0"] == found.of["all:0"] and found.views == {"all"}
    assert found.sizes[found.of["all:0"]] == 32
