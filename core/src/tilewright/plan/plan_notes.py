"""Knows everything that a plan has to tell its user: soft limits that it exceeds, limits that cost much, steps by rows,
values computed again. Does not know how any of it came about.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tilewright.allocate.limits import soft_limit_warnings
from tilewright.errors import Diagnostic
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.plans.stages import Allocated
from tilewright.plan.line_buffers.plan_costs import line_buffer_notes
from tilewright.plan.recomputation import recomputation_notes
from tilewright.plan.suggestions import limit_notes


def plan_notes(allocated: Allocated, operators: Mapping[str, Operator]) -> Iterator[Diagnostic]:
    """Warnings first."""
    yield from soft_limit_warnings(allocated)
    yield from line_buffer_notes(allocated, operators)
    yield from recomputation_notes(allocated)
    yield from limit_notes(allocated)
