"""Knows how to find an order with a low peak: a beam first, then best-first search that proves what it can.
Does not know graphs: an OrderTask says what any order costs.

Both use one rule that loses nothing: a node that needs no more than the peak so far, and leaves no more bytes alive
than there were, may as well run at once. Running it earlier can only lower what every later node needs.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass

from tilewright.schedule.order_task import OrderTask

_WIDTH = 24  # states that the beam keeps for each number of nodes done


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundOrder:
    """An order by node number. `optimal`: no order of this task has a lower peak."""

    order: tuple[int, ...]
    peak: int
    optimal: bool
    work: int  # nodes tried


@dataclass(frozen=True, slots=True, kw_only=True)
class _State:
    done: int
    alive: int
    peak: int
    order: tuple[int, ...]


def search_order(task: OrderTask, budget: int, candidates: Sequence[Sequence[int]] = ()) -> FoundOrder:
    """The best order found by trying at most about `budget` nodes; never worse than the given one or `candidates`,
    and the first of these where nothing is better."""
    known = [tuple(range(len(task.nodes))), *(tuple(order) for order in candidates)]
    best = min(known, key=task.peak)
    peak = task.peak(best)
    if peak <= max(task.floor, task.alive_at_start):
        return FoundOrder(order=best, peak=peak, optimal=True, work=0)
    beam, work = _beam(task, peak, budget // 2)
    if beam is not None:
        best, peak = beam.order, beam.peak
    better, complete, spent = _best_first(task, peak, budget - work)
    if better is not None:
        best, peak = better.order, better.peak
    return FoundOrder(order=best, peak=peak, optimal=complete, work=work + spent)


def _beam(task: OrderTask, limit: int, budget: int) -> tuple[_State | None, int]:
    """A complete order with a peak under `limit`, or None."""
    start, work = _settled(task, _State(done=0, alive=task.alive_at_start, peak=0, order=()))
    levels: dict[int, dict[int, _State]] = {len(start.order): {start.done: start}}
    for count in range(len(task.nodes)):
        states = sorted(levels.pop(count, {}).values(), key=lambda state: (state.peak, state.alive, state.order))
        for state in states[:_WIDTH]:
            for node in task.ready(state.done):
                if work > budget:
                    return None, work
                reached, spent = _settled(task, _after(task, state, node))
                work += spent + 1
                level = levels.setdefault(len(reached.order), {})
                other = level.get(reached.done)
                if reached.peak < limit and (other is None or reached.peak < other.peak):
                    level[reached.done] = reached
    return next(iter(levels.get(len(task.nodes), {}).values()), None), work


def _best_first(task: OrderTask, limit: int, budget: int) -> tuple[_State | None, bool, int]:
    """The lowest complete order under `limit`; whether the answer is proved; nodes tried."""
    start, work = _settled(task, _State(done=0, alive=task.alive_at_start, peak=0, order=()))
    heap = [(start.peak, -len(start.order), start.alive, start.order, start)]
    seen = {start.done: start.peak}
    while heap:
        *_, state = heapq.heappop(heap)
        if state.done == task.everything:
            return state, True, work
        if seen[state.done] < state.peak:
            continue
        for node in task.ready(state.done):
            if work > budget:
                return None, False, work
            reached, spent = _settled(task, _after(task, state, node))
            work += spent + 1
            if reached.peak < min(limit, seen.get(reached.done, limit)):
                seen[reached.done] = reached.peak
                entry = (reached.peak, -len(reached.order), reached.alive, reached.order, reached)
                heapq.heappush(heap, entry)
    return None, True, work


def _after(task: OrderTask, state: _State, node: int) -> _State:
    during, alive = task.run(node, state.done, state.alive)
    return _State(done=state.done | 1 << node, alive=alive, peak=max(state.peak, during), order=(*state.order, node))


def _settled(task: OrderTask, state: _State) -> tuple[_State, int]:
    """With every node run that may as well run at once, and how many were tried."""
    work, changed = 0, True
    while changed:
        changed = False
        for node in task.ready(state.done):
            work += 1
            during, alive = task.run(node, state.done, state.alive)
            if during <= state.peak and alive <= state.alive:
                state, changed = _after(task, state, node), True
    return state, work
