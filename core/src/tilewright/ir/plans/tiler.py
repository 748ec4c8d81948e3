"""Knows what a tiler is asked and what it answers. Does not know any tiler."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, runtime_checkable

from tilewright.ir.graphs.operator import Operator
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.plans.stages import Group, Scheduled

Buffering = Literal["single", "double", "auto"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TilingRequest:
    """Cut the steps of `scheduled` into groups and tiles, obeying what `decisions` pins."""

    scheduled: Scheduled
    operators: Mapping[str, Operator]
    decisions: Decisions
    buffering: Buffering = "auto"  # of operands copied more than once; "double": of as many as there is room for
    seed: int = 0  # of randomised strategies
    longest: int | None = None  # chain of steps joined by what stays in the scratchpad; 1: layer by layer; None: any
    known: dict[Hashable, Any] = field(default_factory=dict, compare=False, repr=False)  # found before, by this tiler


@runtime_checkable
class Tiler(Protocol):
    """A tiling strategy. Pure: the same request gives the same groups."""

    @property
    def name(self) -> str: ...

    @property
    def summary(self) -> str: ...

    def plan(self, request: TilingRequest) -> tuple[Group, ...]:
        """Groups that cover every step once, in order. Checked by the core, never trusted."""
        ...
