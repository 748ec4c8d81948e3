"""Knows beside which later steps the job of an engine may run: those that leave its engine alone, read nothing that it
writes, and write nothing that it reads or writes.
Does not know tiles, costs, nor whether that is worth having.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from tilewright.errors import Exit, TilewrightError
from tilewright.ir.graphs.graph import Node
from tilewright.ir.plans.stages import Scheduled

Span = tuple[str, int, int]  # buffer, first byte, the byte after the last


def conflict(scheduled: Scheduled, nodes: Mapping[str, Node], step: int, later: int) -> str:
    """Why step `later` cannot run while the engine computes step `step`; "" where it can. `nodes`: by name."""
    names = scheduled.steps[step].name, scheduled.steps[later].name
    mine, theirs = (scheduled.bound.bindings[name] for name in names)
    if not mine.kernel.wait:
        return f"kernel '{mine.kernel.name}' of '{names[0]}' starts no job"
    if theirs.engine == mine.engine:
        return f"'{names[1]}' runs on engine '{mine.engine}', too"
    reads, writes = (tuple(_spans(scheduled, nodes[names[0]], written=written)) for written in (False, True))
    for span in _spans(scheduled, nodes[names[1]], written=False):
        if any(_overlap(span, other) for other in writes):
            return f"'{names[1]}' reads what '{names[0]}' writes"
    for span in _spans(scheduled, nodes[names[1]], written=True):
        if any(_overlap(span, other) for other in (*reads, *writes)):
            return f"'{names[1]}' writes bytes that '{names[0]}' reads or writes"
    return ""


def demand_steps(decided: Mapping[str, str], order: Sequence[str]) -> Mapping[str, str]:
    """What is decided of steps, those left out that are waited for where they stand: "". They are waited for behind
    later steps. TilewrightError TW5075 (exit 5) otherwise.
    """
    numbers = {name: number for number, name in enumerate(order)}
    deferred = {name: behind for name, behind in decided.items() if behind}
    for name, behind in deferred.items():
        if name not in numbers or behind not in numbers:
            raise _not_deferred(name, behind, f"'{name if name not in numbers else behind}' is no step")
        if numbers[behind] <= numbers[name]:
            raise _not_deferred(name, behind, f"'{behind}' is no later step")
    return deferred


def demand_apart(scheduled: Scheduled) -> Scheduled:
    """The same, if no step that runs beside a job conflicts with it. TilewrightError TW5075 (exit 5) otherwise."""
    numbers = {step.name: number for number, step in enumerate(scheduled.steps)}
    nodes = {node.name: node for node in scheduled.bound.graph.nodes} if scheduled.deferred else {}
    for name, behind in scheduled.deferred.items():
        for later in range(numbers[name] + 1, numbers[behind] + 1):
            if reason := conflict(scheduled, nodes, numbers[name], later):
                raise _not_deferred(name, behind, reason)
    return scheduled


def _not_deferred(name: str, behind: str, reason: str) -> TilewrightError:
    return TilewrightError(
        "TW5075",
        f"the engine cannot be waited for behind '{behind}': {reason}",
        where=f"step '{name}'",
        fix=("remove `deferred` of that step from the pinned decisions, or name an earlier step there",),
        exit_code=Exit.DOES_NOT_FIT,
    )


def _spans(scheduled: Scheduled, node: Node, *, written: bool) -> Iterator[Span]:
    tensors = scheduled.bound.graph.tensors
    for value in node.outputs if written else node.inputs:
        if value in scheduled.storage:
            place = scheduled.storage[value]
            yield place.buffer, place.offset_bytes, place.offset_bytes + tensors[value].size_bytes


def _overlap(one: Span, other: Span) -> bool:
    return one[0] == other[0] and one[1] < other[2] and other[1] < one[2]
