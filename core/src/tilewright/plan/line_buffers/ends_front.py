"""Knows points of the front of bytes against cycles for which the caller does something: inputs and outputs stay in his
buffers, or pass in rows. Does not know how any of these is planned, nor the points that ask nothing (`front`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from math import inf

from tilewright.errors import typed
from tilewright.ir.graphs.graph import Graph
from tilewright.ir.plans.decisions import IoOwner
from tilewright.ir.plans.stages import Allocated
from tilewright.plan.line_buffers.front import FrontPoint
from tilewright.plan.line_buffers.plan_costs import cycle_ratio
from tilewright.plan.proposals.planner import Optimize, ram_bytes

Owners = Mapping[str, IoOwner]  # input or output -> where it is
_FEW_BYTES = 16  # part of the plan: what takes less need not pass in rows
PlanWith = Callable[[Owners, Optimize], Allocated | None]  # None: it does not fit, or they cannot be there


def ends_front(chosen: Allocated, optimize: Optimize, plan_with: PlanWith) -> tuple[FrontPoint, ...]:
    """Of every place where inputs and outputs may be that are in the plan: the fastest plan, and that of least memory
    where it takes less. None that another beats which asks no more. `optimize`: what was asked for the `chosen` plan.
    """
    graph, owners, most = chosen.tiled.scheduled.bound.graph, chosen.decisions.io, ram_bytes(chosen)
    result: list[tuple[Owners, FrontPoint]] = [({}, FrontPoint(ram_bytes=most, cycle_ratio=inf))]
    for other in _places(graph, [name for name, whose in owners.items() if whose == "pool"], most // _FEW_BYTES):
        for point in _points(graph, other, optimize, plan_with):
            if not any(
                choices.items() <= other.items() and _beats(other_point, point) for choices, other_point in result
            ):
                result.append((other, point))
    return tuple(point for _, point in result[1:])


def _beats(point: FrontPoint, other: FrontPoint) -> bool:
    """Whether a point takes no more; without the cycles of the chosen plan, only bytes count."""
    faster = point.cycle_ratio <= other.cycle_ratio or point.cycle_ratio == inf
    return point.ram_bytes <= other.ram_bytes and faster


def _places(graph: Graph, pooled: Collection[str], least_bytes: int) -> Iterator[Owners]:
    """Inputs and outputs of so many bytes that pass in rows, of one kind, and of both; all with the caller."""
    large = [name for name in pooled if graph.tensors[name].size_bytes > least_bytes]
    pushed: Owners = {name: "push" for name in graph.inputs if name in large}
    pulled: Owners = {name: "pull" for name in graph.outputs if name in large}
    yield from (pushed, pulled)
    if pushed and pulled and pushed.keys().isdisjoint(pulled):
        yield {**pushed, **pulled}
    yield dict.fromkeys(pooled, "user")


def _points(graph: Graph, owners: Owners, optimize: Optimize, plan_with: PlanWith) -> Iterator[FrontPoint]:
    fastest = plan_with(owners, "speed") if owners else None
    if fastest is None:
        return
    yield _point(graph, owners, fastest, "" if optimize == "speed" else "speed")
    least = plan_with(owners, "ram")
    if least is not None and ram_bytes(least) < ram_bytes(fastest):
        yield _point(graph, owners, least, "" if optimize == "ram" else "ram")


def _point(graph: Graph, owners: Owners, plan: Allocated, optimize: str) -> FrontPoint:
    words = [word for name, whose in owners.items() for word in ("--io", f"{name}={whose}")]
    words += ["--optimize", optimize] if optimize else []
    return FrontPoint(
        ram_bytes=ram_bytes(plan), cycle_ratio=cycle_ratio(plan), flags=typed(*words), asks=_asked(graph, owners)
    )


def _asked(graph: Graph, owners: Owners) -> str:
    """What the caller does for it."""
    kept = [f"{name} ({graph.tensors[name].size_bytes:,} B)" for name, whose in owners.items() if whose == "user"]
    pushed = [name for name, whose in owners.items() if whose == "push"]
    pulled = [name for name, whose in owners.items() if whose == "pull"]
    told = [
        f"keeps {' and '.join(kept)}" if kept else "",
        f"hands over rows of {' and '.join(pushed)} as they are asked for" if pushed else "",
        f"takes rows of {' and '.join(pulled)} as they are there" if pulled else "",
    ]
    return "your application " + ", and ".join(part for part in told if part)
