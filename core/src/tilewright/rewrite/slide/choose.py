"""Knows which of the plans for a stream is taken: the least state among those that compute hardly more than the least.
Does not know how a plan follows from its choices.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tilewright.rewrite.slide.stream_plan import Choices, Streamer, StreamPlan

MORE_WORK = 16  # state may cost a sixteenth of the least work that there is
_PRICES = (1 / 4, 1, 4, 16, 64)  # of a byte of state, in the work of a byte in the plan that keeps everything
_SWEEPS = 4
_KEEPS = (0, -1)  # runs of a value and no gap between them; nothing

_Found = tuple[Choices, StreamPlan]


def chosen(streamer: Streamer) -> StreamPlan:
    """The plan with the least state of all that are found whose work is within its limit.

    Plans are searched at several prices of a byte of state, value by value: from the plan that keeps everything, and
    from the one that keeps no gap. The search asks for no clock: the same plan for the same graph.
    """
    everything, least = Choices(), streamer.least
    limit = least.work + least.work // MORE_WORK
    runs_alone = Choices(gaps=dict.fromkeys(streamer.reuse.axes, 0))
    found: list[_Found] = [(everything, least)]
    for start in (everything, runs_alone):
        at = start
        for price in _PRICES:
            at, plan = _descended(streamer, at, price * least.work / max(least.state_bytes, 1))
            found.append((at, plan))
    within = [one for one in found if one[1].work <= limit]
    choices, plan = min(within, key=lambda one: (one[1].state_bytes, one[1].work))
    return _trimmed(streamer, choices, plan, limit)


def _descended(streamer: Streamer, choices: Choices, price: float) -> _Found:
    """A plan of which no single change is cheaper, or as far as some sweeps go."""
    best = streamer.plan(choices)
    for _ in range(_SWEEPS):
        before = best
        for change in _changes(best, streamer, choices):
            merged = _merged(choices, change)
            plan = streamer.plan(merged)
            if plan.work + price * plan.state_bytes < best.work + price * best.state_bytes:
                choices, best = merged, plan
        if best is before:
            break
    return choices, best


def _trimmed(streamer: Streamer, choices: Choices, best: StreamPlan, limit: int) -> StreamPlan:
    """The same with less state, as far as single changes lead to it within the limit."""
    for _ in range(_SWEEPS):
        before = best
        for change in _changes(best, streamer, choices):
            merged = _merged(choices, change)
            plan = streamer.plan(merged)
            if (plan.state_bytes, plan.work) < (best.state_bytes, best.work) and plan.work <= limit:
                choices, best = merged, plan
        if best is before:
            break
    return best


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
