"""Knows how to find an order with a low peak, and how low one could be: section by section, a beam first, then a
dynamic program over sets of nodes done, lowest peaks first. Does not know graphs: an OrderTask says what orders cost.

What has run is a set that holds the needs of all its nodes, and the least peak with which a set can be reached is all
that matters of the way to it. Two rules leave most sets out and lose nothing. No peak matters under a level that some
other moment needs anyway. And a node, or a chain of nodes, that stays within the level and leaves no more bytes alive
than there were may as well run at once: running it earlier can only lower what every later node needs.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, replace

from tilewright.schedule.order_states import State, Walk
from tilewright.schedule.order_subgraphs import ancestors, joined, subgraphs
from tilewright.schedule.order_task import OrderTask, members

_WIDTH = 24  # states that the beam keeps for each number of nodes done
_SHARES = 16  # of a section's budget: 1 for the beam, 2 and then 5 for proofs, from either end


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundOrder:
    """An order by node number, and what no order of this task is under."""

    order: tuple[int, ...]
    peak: int
    lower_bound: int
    work: int  # nodes tried

    @property
    def optimal(self) -> bool:
        """Whether no order of this task has a lower peak."""
        return self.peak == self.lower_bound


def search_order(task: OrderTask, budget: int, candidates: Sequence[Sequence[int]] = ()) -> FoundOrder:
    """The best order found by trying at most about `budget` nodes; never worse than the given one or `candidates`,
    and the first of these where nothing is better."""
    known = [tuple(range(len(task.nodes))), *(tuple(order) for order in candidates)]
    best = min(known, key=task.peak)
    peak, work, parts = task.peak(best), 0, subgraphs(task)
    floors = [least_peak(part.task) for part in parts]
    level = max((task.alive_at_start, *floors))
    place = {node: index for index, node in enumerate(best)}
    result: dict[int, tuple[int, ...]] = {}
    for number in sorted(range(len(parts)), key=lambda number: (-floors[number], number)):
        nodes = parts[number].nodes
        mine = tuple(sorted(range(len(nodes)), key=lambda node: place[nodes[node]]))
        answer = _search_subgraph(parts[number].task, mine, level, budget - work)
        result[number] = tuple(nodes[node] for node in answer.order)
        level, work = max(level, answer.lower_bound), work + answer.work
    better = joined(task, (node for number in range(len(parts)) for node in result[number]))
    reached = task.peak(better)
    if reached < peak:
        best, peak = better, reached
    return FoundOrder(order=best, peak=peak, lower_bound=min(level, peak), work=work)


def _search_subgraph(task: OrderTask, known: tuple[int, ...], level: int, budget: int) -> FoundOrder:
    """An order of one section that is lowest, or not above `level`; `known` where nothing is better.

    Where a value has many readers it is better searched from its end, where it has many writers from its beginning.
    """
    best = FoundOrder(order=known, peak=task.peak(known), lower_bound=level, work=0)
    turned = task.backward()
    for search, share in ((_beam, 1), (_lowest_first, 2), (_lowest_first, 5)):
        for direction in (task, turned):
            if best.peak <= best.lower_bound:
                return best
            walk = Walk(direction)
            state, bound = search(walk, best.lower_bound, best.peak, budget * share // _SHARES)
            best = replace(best, lower_bound=max(bound, best.lower_bound), work=best.work + walk.work)
            if state is not None:
                order = state.order if direction is task else _read_backwards(state.order)
                best = replace(best, order=order, peak=state.peak)
    return best


def _read_backwards(order: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(len(order) - 1 - node for node in reversed(order))


def _beam(walk: Walk, level: int, limit: int, budget: int) -> tuple[State | None, int]:
    """A complete order with a peak under `limit`, or None; and `level`, because it proves nothing."""
    start = walk.start(level)
    levels: dict[int, dict[int, State]] = {start.count: {start.done: start}}
    for count in range(len(walk.task.nodes)):
        states = sorted(levels.pop(count, {}).values(), key=lambda state: (max(state.peak, level), state.alive))
        for state in states[:_WIDTH]:
            for node in state.ready:
                if walk.work >= budget:
                    return None, level
                reached = walk.tried(state, node, level, limit)
                if reached is not None:
                    there = levels.setdefault(reached.count, {})
                    other = there.get(reached.done)
                    if other is None or reached.peak < other.peak:
                        there[reached.done] = reached
    return next(iter(levels.get(len(walk.task.nodes), {}).values()), None), level


def _lowest_first(walk: Walk, level: int, limit: int, budget: int) -> tuple[State | None, int]:
    """The lowest complete order under `limit`, and a peak that none is under; of equal peaks what has most nodes."""
    start, entry = walk.start(level), 0
    heap = [(max(start.peak, level), -start.count, start.alive, entry, start)]
    seen = {start.done: max(start.peak, level)}
    while heap:
        peak, _, _, _, state = heapq.heappop(heap)
        level = max(level, peak)
        if state.done == walk.task.everything:
            return state, level
        if seen[state.done] < peak:
            continue
        for node in state.ready:
            if walk.work >= budget:
                return None, level
            reached = walk.tried(state, node, level, limit)
            if reached is None or max(reached.peak, level) >= seen.get(reached.done, limit):
                continue
            peak, entry = max(reached.peak, level), entry + 1
            seen[reached.done] = peak
            heapq.heappush(heap, (peak, -reached.count, reached.alive, entry, reached))
    return None, limit


def least_peak(task: OrderTask) -> int:
    """A peak that no order of the nodes is under."""
    least = [_own(task, node) for node in range(len(task.nodes))]
    before, after = ancestors(task), _descendants(task)
    for piece, size in enumerate(task.sizes):
        for node in _passed(task, piece, before, after):
            least[node] += size
    return max((task.alive_at_start, *least))


def _own(task: OrderTask, node: int) -> int:
    saved = (task.sizes[new] for _, new in task.in_place[node])
    return sum(task.sizes[piece] for piece in task.touches[node]) - max(saved, default=0) + task.scratch[node]


def _passed(task: OrderTask, piece: int, before: list[int], after: list[int]) -> list[int]:
    """Nodes that do not touch the piece, while it is there in every order: somebody touches it before them, and
    somebody after."""
    everything, touched_by = task.everything, task.touched_by[piece]
    late = everything if piece in task.from_start else _union(after, touched_by)
    early = everything if piece in task.to_end else _union(before, touched_by)
    return members(late & early & ~touched_by)


def _descendants(task: OrderTask) -> list[int]:
    result = [0] * len(task.nodes)
    for node in range(len(task.nodes) - 1, -1, -1):
        for earlier in members(task.needs[node]):
            result[earlier] |= result[node] | 1 << node
    return result


def _union(sets: list[int], nodes: int) -> int:
    result = 0
    for node in members(nodes):
        result |= sets[node]
    return result
