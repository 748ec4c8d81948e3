"""Knows how many cycles a plan takes in all, as its report says. Does not know how a report is shown."""

from __future__ import annotations

from collections.abc import Mapping

from tilewright.ir.graphs.operator import Operator
from tilewright.ir.plans.stages import Allocated
from tilewright.report.steps import steps_of
from tilewright.tile.measure import step_costs


def plan_cycles(plan: Allocated, operators: Mapping[str, Operator]) -> int:
    """Estimated cycles of one inference."""
    steps = steps_of(plan, operators, step_costs(plan.tiled, operators, plan.decisions), {})
    total: int = round(sum(step["cycles"]["total"] for step in steps))
    return total
