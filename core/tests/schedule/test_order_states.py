"""Steps from state to state, and what runs at once."""

from __future__ import annotations

from tilewright.schedule.order_states import Walk
from tilewright.schedule.order_task import OrderTask

# 0 -> a (4 B); 1 reads a -> b (9 B); 2 reads b -> c (2 B); 3 reads a -> d (9 B); 4 reads c and d
TASK = OrderTask(
    nodes=("n0", "n1", "n2", "n3", "n4"),
    needs=(0b0, 0b1, 0b10, 0b1, 0b1100),
    touches=((0,), (0, 1), (1, 2), (0, 3), (2, 3)),
    in_place=((), (), (), (), ()),
    scratch=(0, 0, 0, 0, 0),
    sizes=(4, 9, 2, 9),
    touched_by=(0b1011, 0b110, 0b10100, 0b11000),
    from_start=frozenset(),
    to_end=frozenset(),
)


def test_nothing_runs_at_once_that_leaves_more_alive() -> None:
    start = Walk(TASK).start(0)
    assert (start.count, start.ready, start.alive) == (0, (0,), 0)


def test_a_chain_that_ends_no_higher_runs_at_once_within_the_level() -> None:
    walk = Walk(TASK)
    first = walk.tried(walk.start(0), 0, 0, 100)
    assert first is not None and (first.order, first.ready) == ((0,), (1, 3))
    second = walk.tried(first, 3, 15, 100)  # then 1 and 2 lower what is alive, and 4 frees all of it
    assert second is not None
    assert (second.order, second.peak, second.alive) == ((0, 3), 13, 13)
    high = walk.tried(first, 3, 22, 100)
    assert high is not None
    assert (high.order, high.alive, high.ready) == ((0, 3, 1, 2, 4), 0, ())


def test_a_state_at_the_limit_is_none_and_every_look_is_work() -> None:
    walk = Walk(TASK)
    start = walk.start(0)
    before = walk.work
    assert walk.tried(start, 0, 0, 4) is None
    assert walk.work == before + 1
