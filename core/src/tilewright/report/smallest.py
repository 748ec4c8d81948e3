"""Knows what a check says of the plan in the least memory: bytes, and cycles beside those of the plan asked for.
Does not know how either is found.
"""

from __future__ import annotations

from collections.abc import Iterator

from tilewright.deployment import Deployment
from tilewright.plan.planner import ram_bytes
from tilewright.plan.row_choice import slowdown

_WORTH_SAYING = 0.9  # of the plan's bytes, at most


def less_memory(deployment: Deployment) -> Iterator[str]:
    """A line where computing steps row by row, which nobody has asked for, takes much less memory; else nothing."""
    plan = deployment.allocated
    if deployment.options.optimize != "speed" or any(region.rows is not None for region in plan.tiled.regions):
        return
    smallest = deployment.smallest
    if ram_bytes(smallest) <= _WORTH_SAYING * ram_bytes(plan):
        more = 100 * (slowdown(smallest) - slowdown(plan))
        yield f"Row by row: {ram_bytes(smallest):,} B at {more:+.1f} % cycles (estimate), with --optimize ram"
