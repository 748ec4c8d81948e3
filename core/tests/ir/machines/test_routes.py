"""Copies that lead from one memory to another."""

from __future__ import annotations

from dataclasses import replace

from tilewright.ir.machines.routes import copy_grain, crossed, most_in_flight, path_between, route
from tilewright.testing.cluster import CLUSTER, copy_path


def test_routes_are_the_shortest_and_may_not_exist() -> None:
    long = replace(CLUSTER, copies=(copy_path("a", "b"), copy_path("b", "c"), copy_path("a", "c"), copy_path("c", "d")))
    assert [(path.source, path.target) for path in route(long, "a", "d") or ()] == [("a", "c"), ("c", "d")]
    assert route(long, "a", "a") == ()
    assert route(long, "d", "a") is None
    assert path_between(long, "b", "c") == copy_path("b", "c") or path_between(long, "b", "c") is long.copies[1]
    assert path_between(long, "b", "d") is None


def test_a_program_has_no_more_in_flight_than_any_path_allows() -> None:
    assert most_in_flight(()) == 16
    assert most_in_flight([replace(copy_path("a", "b"), channels=40)]) == 16
    assert most_in_flight([replace(copy_path("a", "b"), channels=3), copy_path("b", "a")]) == 3


def test_what_copies_bring_operands_into_is_on_the_way_to_the_scratchpad() -> None:
    far = replace(CLUSTER, backing="flash", copies=(copy_path("flash", "l2"), copy_path("l2", "l1")))
    assert crossed(far) == ("l2", "l1")
    assert crossed(replace(CLUSTER, inner="")) == ()


def test_buffers_are_multiples_of_what_copies_from_and_to_their_memories_move() -> None:
    uneven = replace(
        CLUSTER, copies=(replace(copy_path("flash", "l1"), align=16), replace(copy_path("l1", "l2"), align=4))
    )
    assert [copy_grain(uneven, (memory,)) for memory in ("flash", "l1", "l2", "rom")] == [16, 16, 4, 1]
    assert (copy_grain(uneven), copy_grain(uneven, ()), copy_grain(CLUSTER)) == (16, 1, 1)
