"""Knows how many bytes are alive while a node runs, whatever the order is.
Does not know any order.
"""

from __future__ import annotations

from tilewright.schedule.order_subgraphs import ancestors
from tilewright.schedule.order_task import OrderTask, members


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
    found = [0] * len(task.nodes)
    for node in range(len(task.nodes) - 1, -1, -1):
        for earlier in members(task.needs[node]):
            found[earlier] |= found[node] | 1 << node
    return found


def _union(sets: list[int], nodes: int) -> int:
    found = 0
    for node in members(nodes):
        found |= sets[node]
    return found
