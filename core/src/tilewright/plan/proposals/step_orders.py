"""Knows which orders of a binding's nodes are worth planning with, and how few bytes any order needs.
Does not know tiles or offsets; the planner compares what really comes out.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from tilewright.bind.candidates import engine_of
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.plans.decisions import OUTSIDE, Decisions
from tilewright.ir.plans.stages import Bound
from tilewright.schedule.order import frugal_order, given_order
from tilewright.schedule.order_search import FoundOrder, search_order
from tilewright.schedule.order_task import OrderTask, Pieces, order_task, pieces_of
from tilewright.tile.cost.kernel_costs import scratch_bytes

_FEWEST_TO_ORDER = 3  # nodes, below which there is nothing to choose


@dataclass(frozen=True, slots=True, kw_only=True)
class StepOrders:
    """`pins` overrule; `work` is nodes that a search may try; `known` is what was found before, for equal tasks."""

    operators: Mapping[str, Operator]
    pins: Decisions
    work: int
    known: dict[Hashable, Any] = field(compare=False, repr=False)

    def worth_trying(self, bound: Bound) -> Iterator[tuple[str, ...]]:
        """The given order, a frugal one, and the best one of a search."""
        file_order = given_order(bound.graph)
        yield file_order
        if self.pins.order or len(file_order) < _FEWEST_TO_ORDER:
            return
        yield frugal_order(bound.graph)
        task = self.task(bound)
        yield tuple(task.nodes[index] for index in self._found(bound, task).order)

    def lower_bound_bytes(self, bound: Bound) -> int | None:
        """Bytes of all memories that are written together, that no order needs less of. None: not known, because the
        order is pinned, state is kept, or steps are computed tile by tile."""
        if bound.platform.inner or self.pins.order or self.pins.state:
            return None
        task = self.task(bound)
        return self._found(bound, task).lower_bound if task.exact else None

    def task(self, bound: Bound) -> OrderTask:
        """What an order of these nodes costs in memory; scratch counts on machines with one memory."""
        scratch = {} if bound.platform.inner else {name: _scratch(bound, name) for name in bound.bindings}
        return order_task(bound, self.operators, self._theirs, scratch, self.pins.memories)

    def pieces(self, bound: Bound) -> Pieces:
        """What that task is about."""
        return pieces_of(bound, self.operators, self._theirs, self.pins.memories)

    @property
    def _theirs(self) -> list[str]:
        """Values that are in no pool of the plan, but in memory that lasts, or in the caller's."""
        return [*self.pins.state, *(value for value, whose in self.pins.io.items() if whose in OUTSIDE)]

    def best(self, bound: Bound, share: int = 1) -> FoundOrder:
        """The best order of the nodes that a search finds, and its bound; with such a part of the budget."""
        return self._found(bound, self.task(bound), share)

    def _found(self, bound: Bound, task: OrderTask, share: int = 1) -> FoundOrder:
        """Other limits, and kernels that only differ in speed, ask for the same one again."""
        key = "order", task, self.work // share
        if key not in self.known:
            place = {name: index for index, name in enumerate(task.nodes)}
            frugal = tuple(place[name] for name in frugal_order(bound.graph))
            self.known[key] = search_order(task, self.work // share, (frugal,))
        order: FoundOrder = self.known[key]
        return order


def _scratch(bound: Bound, step: str) -> int:
    """Bytes that a step's kernel takes beside the operands of the whole step, for all cores."""
    kernel, layer = bound.bindings[step].kernel, bound.layers[step]
    extents = {loop.name: loop.extent for loop in layer.access.loops}
    return scratch_bytes(kernel, layer.site, layer.access, extents, engine_of(kernel, bound.platform).cores)[1]
