"""Knows which of the plans for a stream is taken: the least state among those that compute hardly more than the least.
Does not know how a plan follows from its choices.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field, replace

from tilewright.rewrite.slide.stream_plan import Choices, Streamer, StreamPlan

MORE_WORK = 16  # state may cost a sixteenth of the least work that there is
_PRICES = (1 / 4, 1, 4, 16, 64)  # of a byte of state, in the work of a byte in the plan that keeps everything
_SWEEPS = 4
_KEEPS = (0, -1)  # runs of a value and no gap between them; nothing
_MOST_VISITS = 300_000  # of nodes, in all plans that are looked at

_Found = tuple[Choices, StreamPlan]


def chosen(streamer: Streamer) -> StreamPlan:
    """The plan with the least state of all that are found whose work is within its limit.

    Plans are searched at several prices of a byte of state, value by value: from the plan that keeps everything, and
    from the one that keeps no gap. The budget counts work and no seconds: the same plan for the same graph.
    """
    least = streamer.least
    limit = least.work + least.work // MORE_WORK
    runs_alone = Choices(gaps=dict.fromkeys(streamer.reuse.axes, 0))
    search = _Search(streamer=streamer, left=_MOST_VISITS // max(len(streamer.graph.nodes), 1))
    result: list[_Found] = [(Choices(), least)]
    for start in (Choices(), runs_alone):
        at = start
        for price in _PRICES:
            at, plan = search.improved(at, _cheaper(price * least.work / max(least.state_bytes, 1)))
            result.append((at, plan))
    within = [item for item in result if item[1].work <= limit]
    choices, _ = min(within, key=lambda candidate: (candidate[1].state_bytes, candidate[1].work))
    return search.improved(choices, _smaller(limit))[1]


@dataclass(slots=True, kw_only=True)
class _Search:
    """A search, and how many plans it may still look at. Local to `chosen`."""

    streamer: Streamer
    left: int
    known: dict[Hashable, StreamPlan] = field(default_factory=dict)  # another price looks at many of them again

    def improved(self, choices: Choices, better: Callable[[StreamPlan, StreamPlan], bool]) -> _Found:
        """A plan of which no single change is better, as far as some sweeps and the budget go."""
        best = self._plan(choices)
        for _ in range(_SWEEPS):
            before = best
            for change in _changes(best, self.streamer, choices):
                if self.left == 0:
                    break
                self.left -= 1
                merged = _merged(choices, change)
                plan = self._plan(merged)
                if better(plan, best):
                    choices, best = merged, plan
            if best is before:
                break
        return choices, best

    def _plan(self, choices: Choices) -> StreamPlan:
        key = frozenset(choices.gaps.items()), choices.whole
        if key not in self.known:
            self.known[key] = self.streamer.plan(choices)
        return self.known[key]


def _cheaper(price: float) -> Callable[[StreamPlan, StreamPlan], bool]:
    return lambda left, right: left.work + price * left.state_bytes < right.work + price * right.state_bytes


def _smaller(limit: int) -> Callable[[StreamPlan, StreamPlan], bool]:
    return lambda left, right: (left.state_bytes, left.work) < (right.state_bytes, right.work) and left.work <= limit


def _changes(plan: StreamPlan, streamer: Streamer, choices: Choices) -> Iterator[Choices]:
    """All single changes of choices that are about anything in this plan."""
    for name, runs in plan.runs.items():
        if name == streamer.sliding or streamer.reuse.axes[name].length == 1 or not runs:
            continue
        for gap in (*reversed(plan.gaps[name]), *_KEEPS):
            if gap != choices.gap(name):
                yield Choices(gaps={name: gap})
    for name in plan.sums:
        yield Choices(whole=frozenset({name}))


def _merged(choices: Choices, change: Choices) -> Choices:
    return replace(choices, gaps={**choices.gaps, **change.gaps}, whole=choices.whole | change.whole)
