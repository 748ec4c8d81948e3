"""Knows when cheap values are computed a second time: where that is asked for or free, and the plan becomes smaller.
Does not know offsets, nor how any plan is made: it asks for one with the values that it has chosen.

Two steps of a file that do the same are one step by now, whose value may have to wait for its last reader. So what this
finds is also what a network needs whose equal steps were never made one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from tilewright.bind.recompute import first_name, recomputed
from tilewright.errors import Diagnostic
from tilewright.ir.plans.decisions import Recomputation
from tilewright.ir.plans.stages import Allocated, Bound, Scheduled
from tilewright.plan.line_buffers.plan_costs import layers_cycles, plan_cycles
from tilewright.plan.proposals.planner import Planner, ram_bytes
from tilewright.plan.proposals.shortfall import PlanFailure
from tilewright.plan.recomputation import is_any_read_twice, is_cheap, recomputations
from tilewright.schedule.order import given_order, in_order

Answer = Allocated | tuple[PlanFailure, ...]
_MOST_CYCLES = 0.02  # more cycles, a part of those of the network
_FREE_CYCLES = 0.01  # the same where speed is asked for and the plan fits
_LEAST_SAVED = 1024  # bytes, in that case: every step is more code
_MOST_SPLIT = 400  # nodes of a network in which orders are searched for single values
_MOST_SPLITS = 8  # values, one after the other
_TRIES = 24  # of readers of which each may have a value of its own
_SHARE = 96  # each search has that part of the budget


def with_recomputation(planner: Planner, answer: Answer, result: Callable[[Bound], Answer]) -> Answer:
    """The plan with cheap values computed again, where that is asked for or free; the answer itself where it is not, or
    nothing is gained. `found` plans with a binding.
    """
    pins = planner.pins
    settled = any(recomputation.readers for recomputation in pins.recomputed)
    if settled or pins.order or pins.tiles or pins.groups or pins.streams_io:
        return answer
    if isinstance(answer, Allocated):
        bound = answer.tiled.scheduled.bound
        settled = bool(bound.platform.inner) or not is_any_read_twice(bound, planner.operators)
        return answer if settled else _smaller(planner, answer, result)
    for scheduled in _crowded(answer):
        choice = _best_choice(planner, scheduled, _MOST_CYCLES * layers_cycles(scheduled))
        other = result(recomputed(choice.bound, choice.wanted)) if choice.wanted else ()
        if isinstance(other, Allocated):
            return _saying(other, choice.wanted)
    return answer


def recomputation_notes(allocated: Allocated) -> Iterator[Diagnostic]:
    """The note TW5037 of a plan in which values are computed again: which, and before which steps."""
    before = dict[str, list[str]]()
    for recomputation in allocated.decisions.recomputed:
        for reader in recomputation.readers[:1]:
            before.setdefault(first_name(recomputation.value), []).append(first_name(reader))
    if before:
        yield Diagnostic(
            code="TW5037",
            severity="note",
            message=f"{_counted(len(before))} computed again instead of being kept, which takes less memory",
            details=tuple(f"'{value}' before {_listed(list(dict.fromkeys(names)))}" for value, names in before.items()),
        )


def _smaller(planner: Planner, plan: Allocated, result: Callable[[Bound], Answer]) -> Allocated:
    speed = planner.optimize == "speed"
    before = layers_cycles(plan.tiled.scheduled)
    most = (1 + _FREE_CYCLES) * before if speed else plan_cycles(plan) + _MOST_CYCLES * before
    least_saved = _LEAST_SAVED if speed else 1
    choice = _best_choice(planner, plan.tiled.scheduled, most - plan_cycles(plan))
    if not choice.wanted or choice.saved_bytes < least_saved:
        return plan
    other = result(recomputed(choice.bound, choice.wanted))
    if not isinstance(other, Allocated) or plan_cycles(other) > most:
        return plan
    return _saying(other, choice.wanted) if ram_bytes(other) <= ram_bytes(plan) - least_saved else plan


@dataclass(frozen=True, slots=True, kw_only=True)
class _Choice:
    """What is computed again in a binding whose nodes stand in one order; the bytes that are then alive at once, and
    how many fewer that are than in the order of the plan without.
    """

    bound: Bound
    wanted: tuple[Recomputation, ...]
    saved_bytes: int


def _best_choice(planner: Planner, scheduled: Scheduled, most_cycles: float) -> _Choice:
    """The best over all orders that are worth trying, because which values can go depends on the order; and what saves
    more where the order may follow.
    """
    orders, bound = planner.orders(), scheduled.bound
    task = orders.task(bound)
    place = {name: number for number, name in enumerate(task.nodes)}
    before, choices = task.peak(range(len(task.nodes))), list[_Choice]()
    for order in dict.fromkeys((given_order(bound.graph), *orders.worth_trying(bound))):
        other = replace(bound, graph=in_order(bound.graph, order))
        wanted, saved = recomputations(other, orders, planner.operators, most_cycles, _never(planner))
        peak = task.peak(place[name] for name in order) - saved
        choices.append(_Choice(bound=other, wanted=wanted, saved_bytes=before - peak))
    best = max(choices, key=lambda choice: choice.saved_bytes if choice.wanted else 0)
    return _with_splits(planner, best, before, most_cycles)


def _with_splits(planner: Planner, choice: _Choice, before: int, most_cycles: float) -> _Choice:
    """With more values computed again, each for one of its readers, as long as the best order then needs less."""
    orders = planner.orders()
    after = recomputed(choice.bound, choice.wanted)
    if len(after.graph.nodes) > _MOST_SPLIT:
        return choice
    least = orders.best(after).peak if not choice.wanted else before - choice.saved_bytes
    left = most_cycles - sum(_cycles(choice.bound, wanted.value) for wanted in choice.wanted)
    for _ in range(_MOST_SPLITS):
        tried = [
            (orders.best(recomputed(after, (split,)), _SHARE).peak, number, split)
            for number, split in enumerate(_splits(planner, after, left))
        ]
        peak, _, split = min(tried, default=(least, 0, None))
        if split is None or peak >= least:
            break
        least, left = peak, left - _cycles(after, split.value)
        after = recomputed(after, (split,))
        choice = replace(choice, wanted=(*choice.wanted, split), saved_bytes=before - peak)
    return choice


def _splits(planner: Planner, bound: Bound, most_cycles: float) -> list[Recomputation]:
    """Cheap values that may be computed again for so many cycles, each for one of its readers; the largest first."""
    graph, consumers, views = bound.graph, bound.graph.consumers(), planner.orders().pieces(bound).views
    values = [
        node.outputs[0]
        for node in graph.nodes
        if is_cheap(node, bound, planner.operators)
        and node.name not in views
        and first_name(node.outputs[0]) not in _never(planner)
        and _cycles(bound, node.outputs[0]) <= most_cycles
    ]
    values.sort(key=lambda value: -graph.tensors[value].size_bytes)
    result = (
        Recomputation(value=value, readers=(reader.name,))
        for value in values
        if len(consumers[value]) > 1
        for reader in consumers[value]
    )
    return list(islice(result, _TRIES))


def _cycles(bound: Bound, value: str) -> float:
    """What computing a value once more takes; an estimate."""
    writer = bound.graph.producer().get(value) or bound.graph.producer()[first_name(value)]
    binding = bound.bindings[writer.name]
    return next(known.cycles for known in binding.candidates if known.kernel.name == binding.kernel.name)


def _never(planner: Planner) -> set[str]:
    """Values that are not to be computed again."""
    return {pinned.value for pinned in planner.pins.recomputed}


def _crowded(failures: tuple[PlanFailure, ...]) -> Iterator[Scheduled]:
    """What a memory was too small for with the fastest kernels, and with those of least scratch."""
    crowded = [
        failure.tiled.scheduled
        for failure in failures
        if failure.tiled and failure.overflow and not failure.of_constants
    ]
    yield from crowded[:1]
    yield from crowded[1:][-1:]


def _saying(plan: Allocated, wanted: tuple[Recomputation, ...]) -> Allocated:
    return replace(plan, decisions=replace(plan.decisions, recomputed=(*plan.decisions.recomputed, *wanted)))


def _counted(values: int) -> str:
    return "1 value is" if values == 1 else f"{values} values are"


def _listed(names: Sequence[str]) -> str:
    *others, last = (f"'{name}'" for name in names)
    return f"{', '.join(others)} and {last}" if others else last
