"""Knows states of a search for an order: what has run, what may run next, and what may as well run at once.
Does not know which state is worth going on from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tilewright.schedule.order_task import OrderTask, members


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """Nodes that have run, and the way there, last node first."""

    done: int
    alive: int
    peak: int
    ready: tuple[int, ...]  # nodes that may run next
    count: int = 0
    node: int = -1
    before: State | None = None

    @property
    def order(self) -> tuple[int, ...]:
        """The nodes in the order in which they ran."""
        result, state = [], self
        while state.before is not None:
            result.append(state.node)
            state = state.before
        return tuple(reversed(result))


class Walk:
    """Steps from state to state. `work` counts them, whether or not they were worth it."""

    def __init__(self, task: OrderTask) -> None:
        self.task, self.work = task, 0
        self.followers: list[list[int]] = [[] for _ in task.nodes]
        for node, needs in enumerate(task.needs):
            for earlier in members(needs):
                self.followers[earlier].append(node)

    def start(self, level: int) -> State:
        """Before any node but those that may as well run at once."""
        ready = tuple(node for node, needs in enumerate(self.task.needs) if not needs)
        return self._settled(State(done=0, alive=self.task.alive_at_start, peak=0, ready=ready), level)

    def tried(self, state: State, node: int, level: int, limit: int) -> State | None:
        """With `node` run next, and whatever may then run at once; None where that reaches `limit`."""
        following = self._after(state, (node,))
        return None if following.peak >= limit else self._settled(following, level)

    def _settled(self, state: State, level: int) -> State:
        """With every node run that stays under the level or the peak and leaves no more bytes alive than there were,
        and every chain of nodes that does: running it now can only lower what all others need."""
        count = -1
        while count != state.count:
            count = state.count
            for node in state.ready:
                chain = () if state.done >> node & 1 else self._downhill(state, node, max(level, state.peak))
                state = self._after(state, chain)
        return state

    def _downhill(self, state: State, node: int, level: int) -> Sequence[int]:
        """`node` and its only followers, until no more is alive than before; nothing where that exceeds `level`."""
        chain, done, alive = [node], state.done, state.alive
        while True:
            self.work += 1
            during, alive = self.task.run(chain[-1], done, alive)
            if during > level:
                return ()
            if alive <= state.alive:
                return chain
            done |= 1 << chain[-1]
            freed = self._freed(chain[-1], done)
            if len(freed) != 1:
                return ()
            chain += freed

    def _freed(self, node: int, done: int) -> list[int]:
        return [other for other in self.followers[node] if not self.task.needs[other] & ~done]

    def _after(self, state: State, nodes: Sequence[int]) -> State:
        for node in nodes:
            self.work += 1
            during, alive = self.task.run(node, state.done, state.alive)
            done = state.done | 1 << node
            ready = [other for other in state.ready if other != node]
            state = State(
                done=done,
                alive=alive,
                peak=max(state.peak, during),
                ready=(*ready, *self._freed(node, done)),
                count=state.count + 1,
                node=node,
                before=state,
            )
        return state
