"""Knows the ways to compute steps of a machine with one memory row by row: what each takes, in bytes and in time.
Does not know which is taken (`choice`), nor how regions are found (`tile/line_buffers/partition`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from math import inf

from tilewright.ir.graphs.operator import Operator
from tilewright.ir.plans.decisions import STREAMED, Decisions
from tilewright.ir.plans.layer import Layers
from tilewright.ir.plans.stages import Bound, Scheduled
from tilewright.plan.line_buffers.kernels import line_buffer_kernels
from tilewright.plan.line_buffers.plan_costs import layers_cycles, macs_of
from tilewright.plan.line_buffers.row_order import order_for_rows, with_views
from tilewright.plan.proposals.line_buffered_plan import LineBufferedPlan
from tilewright.plan.proposals.planner import Planner
from tilewright.plan.proposals.work import boundless, line_buffer_units
from tilewright.schedule import schedule
from tilewright.schedule.order import given_order
from tilewright.tile.line_buffers.analysis import LineBufferAnalysis
from tilewright.tile.line_buffers.lifetimes import CallCache
from tilewright.tile.line_buffers.partition import (
    LineBufferPartition,
    LineBufferSearch,
    line_buffer_search,
    overlaid_steps,
)
from tilewright.tile.machine import ScheduledMachine

MOST_PLANNED = 16  # ways that are planned with: most of them reach the least that they take


Rebind = Callable[[Mapping[str, str]], Bound]  # with these kernels, node -> name


def line_buffered_plans(
    scheduled: Scheduled,
    operators: Mapping[str, Operator],
    decisions: Decisions,
    *,
    apart: bool,
    recompute: float = 1.0,
    known: CallCache | None = None,
) -> tuple[LineBufferedPlan, ...]:
    """All ways worth a look, the fastest first. `apart`: also those in which no value takes another's bytes. None takes
    more than `recompute` times the multiply-accumulates. `known`: of the same binding in the same order.
    """
    before, most = layers_cycles(scheduled), (recompute - 1.0) * macs_of(scheduled, operators)
    result, known = list[LineBufferedPlan](), known or CallCache()
    for chosen in _schedules(scheduled, operators, decisions, apart=apart):
        machine = ScheduledMachine(chosen[0], operators, chosen[1])
        programs = line_buffer_search(machine, most, known)
        result.extend(
            _way(programs, partition, before)
            for partition in programs.front()
            if any(segment.row_schedule for segment in partition.segments) and partition.recomputed_macs <= most
        )
        if not decisions.streams_io:  # rows pass steps that are called by rows
            result.extend(_overlaid(machine, before, known=known))
    return tuple(sorted(result, key=lambda plan: (plan.partition.cycles, plan.size_bytes)))


def _way(programs: LineBufferSearch, partition: LineBufferPartition, cycles: float) -> LineBufferedPlan:
    """`cycles`: of layer by layer."""
    size, slowdown = programs.least_bytes(partition), partition.cycles / max(cycles, 1.0)
    return LineBufferedPlan(search=programs, partition=partition, size_bytes=size, cycle_ratio=slowdown)


def _schedules(
    scheduled: Scheduled, operators: Mapping[str, Operator], decisions: Decisions, *, apart: bool
) -> Iterator[tuple[Scheduled, Decisions]]:
    yield scheduled, decisions
    if apart and scheduled.in_place:
        other = replace(decisions, in_place=dict.fromkeys(scheduled.in_place, ""))
        yield schedule(scheduled.bound, operators, other), other


def overlaid_candidates(
    planner: Planner, scheduled: Scheduled, most: float, most_bytes: int
) -> tuple[LineBufferedPlan, ...]:
    """The smallest ways in which every step is alone, and outputs are over what their steps read; the fastest first.

    They take at most `most` times the cycles of layer by layer, and `most_bytes`.
    """
    decisions = Decisions(order=order_of(scheduled)).pinned_by(planner.pins)
    machine = ScheduledMachine(scheduled, planner.operators, decisions)
    return _overlaid(machine, layers_cycles(scheduled), most, most_bytes)


def _overlaid(
    machine: ScheduledMachine,
    cycles: float,
    most: float = inf,
    most_bytes: float = inf,
    known: CallCache | None = None,
) -> tuple[LineBufferedPlan, ...]:
    programs, divisions = overlaid_steps(machine, most * cycles, most_bytes, known)
    small = (division for division in divisions[-MOST_PLANNED:] if division.size_bytes <= most_bytes)
    return tuple(way for way in (_way(programs, item, cycles) for item in small) if way.size_bytes <= most_bytes)


def line_buffer_candidates(
    planner: Planner, scheduled: Scheduled, rebind: Rebind | None
) -> tuple[LineBufferedPlan, ...]:
    """The ways with the kernels that are there, and, where it makes a difference, with such as take rows. Only the
    order of `scheduled` counts, and one that rows can pass through: what shares bytes there may be what a plan by rows
    has chosen.
    """
    orders = list(_orders(planner, scheduled))
    result = [way for decisions in orders for way in _searched(planner, scheduled.bound, decisions)]
    kernels = (
        line_buffer_kernels(scheduled.bound, planner.layers or Layers(operators=planner.operators)) if rebind else {}
    )
    if kernels and rebind is not None:
        bound = rebind(kernels)
        result += [way for decisions in orders for way in candidates_of(planner, bound, decisions.order)]
    return tuple(sorted(result, key=lambda plan: (plan.partition.cycles, plan.size_bytes)))


def candidates_of(planner: Planner, bound: Bound, order: tuple[str, ...]) -> tuple[LineBufferedPlan, ...]:
    """The ways with the kernels of a binding; in another order where it has other nodes."""
    if {node.name for node in bound.graph.nodes} != set(order):
        order = given_order(bound.graph)
    return _searched(planner, bound, Decisions(order=order).pinned_by(planner.pins))


def _searched(planner: Planner, bound: Bound, decisions: Decisions) -> tuple[LineBufferedPlan, ...]:
    """The ways of one binding in one order. Limits change nothing about them."""
    question = decisions, planner.recompute, boundless(bound.platform)
    if (known := planner.line_buffer_candidates.found(bound, *question)) is not None:
        return known
    layers, apart = schedule(bound, planner.operators, decisions), not planner.pins.in_place
    planner.work.spend(line_buffer_units(bound))
    calls = decisions.order, frozenset(item for item in decisions.io.items() if item[1] in STREAMED)
    known_calls = planner.line_buffer_calls.found(bound, *calls) or planner.line_buffer_calls.keep(
        CallCache(), bound, *calls
    )
    ways = line_buffered_plans(
        layers, planner.operators, decisions, apart=apart, recompute=planner.recompute, known=known_calls
    )
    return planner.line_buffer_candidates.keep(ways, bound, *question)


def order_of(scheduled: Scheduled) -> tuple[str, ...]:
    """All nodes in the order of the steps; what is a view as soon as what it shows is there."""
    return tuple(with_views(scheduled, [name for step in scheduled.steps for name in step.nodes]))


def _orders(planner: Planner, scheduled: Scheduled) -> Iterator[Decisions]:
    """The order of the steps, and one that rows can pass through where that is another."""
    decisions = Decisions(order=order_of(scheduled)).pinned_by(planner.pins)
    yield decisions
    if planner.pins.order or any(len(step.nodes) > 1 for step in scheduled.steps):
        return
    machine = ScheduledMachine(scheduled, planner.operators, decisions)
    other = tuple(with_views(scheduled, order_for_rows(LineBufferAnalysis(machine))))
    if other != decisions.order:
        yield Decisions(order=other).pinned_by(planner.pins)
