"""Knows what a network takes on a target, for programs that try many: the plan's figures, no C.
Does not know what is tried next.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Unpack

from tilewright.deployment import Deployment
from tilewright.errors import TilewrightError
from tilewright.front_door.compilation import Model, source_of
from tilewright.front_door.compile_keywords import Keywords, options_of
from tilewright.report.cycles import milliseconds
from tilewright.report.plan_figures import plan_cycles
from tilewright.tile.measure import deepest_stack


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """Bytes are the plan's, exact; cycles are an estimate. Where there is no plan, `code` and `reason` say why."""

    used_bytes: Mapping[str, int]  # memory -> bytes; empty where there is no plan
    ram_bytes: int = 0  # of all memories that are written, without the stack
    flash_bytes: int = 0  # of constants
    stack_bytes: int | None = None  # None where the target does not know
    cycles: int = 0
    milliseconds: float | None = None  # None without a clock
    macs: int = 0
    code: str = ""
    reason: str = ""

    @property
    def fits(self) -> bool:
        """Whether there is a plan."""
        return not self.code


def estimate(model: Model, target: str, *, args: Sequence[Any] | None = None, **keywords: Unpack[Keywords]) -> Estimate:
    """What `tilewright.compile(model, target, **keywords)` takes, without writing C: for searches over networks.

    What does not fit or is not supported is no exception: look at `fits`. Raises TilewrightError for a model or a
    keyword that cannot be read.
    """
    deployment = Deployment(source_of(model, args), target, options_of(keywords))
    deployment.rewritten  # noqa: B018  # what cannot be read is raised
    try:
        plan = deployment.allocated
    except TilewrightError as error:
        return Estimate(used_bytes={}, macs=deployment.number_of_ops, code=error.code, reason=error.message)
    kinds = {pool.memory: pool.kind for pool in plan.pools}
    used = deployment.worst_case_buffer_size
    cycles, clock = plan_cycles(plan, deployment.registry.operators), deployment.options.clock_hz
    return Estimate(
        used_bytes=used,
        ram_bytes=sum(size for memory, size in used.items() if kinds[memory] != "const"),
        flash_bytes=sum(size for memory, size in used.items() if kinds[memory] == "const"),
        stack_bytes=deepest_stack(plan.tiled),
        cycles=cycles,
        milliseconds=milliseconds(cycles, clock) if clock else None,
        macs=deployment.number_of_ops,
    )
