"""What a search knows at one moment: a placement lifts its neighbours, and whatever is done is taken back exactly."""

from __future__ import annotations

import random
from typing import Any

from tilewright_minimalloc.state import State


def seen(state: State) -> tuple[object, ...]:
    """All that a choice can change, but for the counts of failures, and the key, which the search notes down itself."""
    return (
        list(state.low), list(state.offset), list(state.rest), list(state.floor), list(state.options),
        [set(members) for members in state.open], list(state.cuts),
    )  # fmt: skip


def key_of(state: State) -> int:
    """The exclusive or of the words of all open blocks, from nothing."""
    key = 0
    for block, at in enumerate(state.offset):
        key ^= state.term(block) if at < 0 else 0
    return key


def test_whatever_was_placed_is_taken_back(drawn: Any) -> None:
    for seed in range(80):
        chance, instance = random.Random(seed), drawn(seed)
        state = State(instance, 14)
        start, base, trail = seen(state), state.key ^ key_of(state), []
        for block in chance.sample(range(len(instance.sizes)), len(instance.sizes)):
            before = seen(state)
            mark = len(state.trail)
            fits = state.place(block, state.low[block])
            assert state.key == base ^ key_of(state) or not fits
            state.drop_queue()
            if not fits:
                state.take_back(mark, block)
                assert seen(state) == before
                break
            trail.append((mark, block))
        for mark, block in reversed(trail):
            state.take_back(mark, block)
        assert seen(state) == start, seed


def test_neighbours_of_a_block_go_above_it_and_out_of_obstacles(drawn: Any) -> None:
    for seed in range(60):
        instance = drawn(seed)
        state = State(instance, 100)
        at = state.low[0]
        assert state.place(0, at)
        for other in state.neighbours[0]:
            low = state.low[other]
            assert low >= at + instance.sizes[0] and low % instance.aligns[other] == 0
            assert not any(
                low < high and start < low + instance.sizes[other] for start, high in instance.obstacles[other]
            )


def test_a_block_that_does_not_fit_is_not_lifted(drawn: Any) -> None:
    state = State(drawn(3), 10)
    assert not state.lift(0, 10)
    assert state.lift(0, state.low[0])
