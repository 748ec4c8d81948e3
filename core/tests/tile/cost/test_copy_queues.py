"""When transfers arrive that move in several queues, against one after the other into the queue that is free first."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tilewright.tile.cost.copy_queues import CopyQueues, queues_of, together

STARTS = st.lists(st.tuples(st.integers(0, 50), st.integers(1, 40), st.integers(1, 30), st.integers(1, 4)), max_size=12)


def test_one_queue_moves_one_transfer_after_the_other() -> None:
    queues = CopyQueues(1)
    queues.start(10.0, 30.0, 3, 1)
    queues.start(20.0, 5.0, 1, 1)
    assert queues.arrival == 45
    queues.start(100.0, 5.0, 1, 1)
    assert queues.arrival == 105


def test_two_queues_move_two_and_what_is_later_is_waited_for_with_what_is_earlier() -> None:
    queues = CopyQueues(2)
    queues.start(0.0, 100.0, 1, 2)
    queues.start(0.0, 30.0, 1, 2)
    assert queues.arrival == 100
    queues.start(0.0, 80.0, 1, 2)
    assert queues.arrival == 110


def test_a_path_with_one_queue_has_the_first_of_them() -> None:
    queues = CopyQueues(2)
    for _ in range(2):
        queues.start(0.0, 100.0, 1, 1)
    assert queues.arrival == 200
    queues.start(0.0, 150.0, 3, 2)
    assert queues.arrival == 200


@given(STARTS)
def test_whole_rounds_are_as_one_transfer_after_the_other(starts: list[tuple[int, int, int, int]]) -> None:
    queues, free = CopyQueues(4), [0.0] * 4
    now = 0
    for later, each, transfers, own in starts:
        now += later
        queues.start(float(now), float(each * transfers), transfers, own)
        for _ in range(transfers):
            first = min(range(own), key=lambda at: max(free[at], now))
            free[first] = max(free[first], now) + each
        assert queues.arrival == pytest.approx(max(*free, now)) or queues.arrival == pytest.approx(max(free))


def test_the_most_queues_of_any_path_count(pools: Any) -> None:
    items = pools.analysis.members[0].spaces[-1].copied
    wide = [replace(items[0], path=replace(items[0].path, queues=3)), *items[1:]]
    assert (queues_of(()), queues_of(items), queues_of(wide)) == (1, 1, 3)


def test_windows_together_take_as_long_as_the_longest_or_their_share() -> None:
    windows = [np.array([10.0, 40.0]), np.array([20.0, 8.0])]
    assert together(windows, 1).tolist() == [30, 48]
    assert together(windows, 2).tolist() == [20, 40]
    assert together([*windows, np.array([30.0])], 2).tolist() == [30, 40]
    assert together([], 2).tolist() == [0]
