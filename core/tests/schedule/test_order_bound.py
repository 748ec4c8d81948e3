"""What is alive during a node in every order."""

from __future__ import annotations

from dataclasses import replace

from tilewright.schedule.order_search import least_peak
from tilewright.schedule.order_task import OrderTask

# 0 writes a (8 B), read by 1 and 3; 1 -> b (2 B) -> 2 -> c (3 B) -> 3 -> d (1 B)
TASK = OrderTask(
    nodes=("n0", "n1", "n2", "n3"),
    needs=(0b0, 0b1, 0b10, 0b101),
    touches=((0,), (0, 1), (1, 2), (0, 2, 3)),
    in_place=((), (), (), ()),
    scratch=(0, 0, 0, 0),
    sizes=(8, 2, 3, 1),
    touched_by=(0b1011, 0b110, 0b1100, 0b1000),
    from_start=frozenset(),
    to_end=frozenset({3}),
)


def test_a_value_read_before_and_after_counts() -> None:
    assert least_peak(TASK) == TASK.peak(range(4)) == 13


def test_scratch_counts_and_what_is_overwritten_does_not() -> None:
    assert least_peak(replace(TASK, scratch=(0, 0, 4, 0))) == 17
    assert least_peak(replace(TASK, in_place=((), (), ((1, 2),), ()))) == 12


def test_what_lives_from_the_start_to_the_end_is_everywhere() -> None:
    always = replace(TASK, sizes=(8, 2, 3, 1, 50), touched_by=(*TASK.touched_by, 0))
    always = replace(always, from_start=frozenset({4}), to_end=frozenset({3, 4}))
    assert least_peak(always) == 63


def test_a_task_without_nodes_needs_what_is_there() -> None:
    empty = OrderTask(
        nodes=(),
        needs=(),
        touches=(),
        in_place=(),
        scratch=(),
        sizes=(7,),
        touched_by=(0,),
        from_start=frozenset({0}),
        to_end=frozenset({0}),
    )
    assert least_peak(empty) == 7
