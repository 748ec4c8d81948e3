"""Knows how tiles, transfers and memory levels are shown in a report. Does not know how they were chosen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tilewright.allocate.limits import memory_bytes
from tilewright.ir.machines.platform import Memory
from tilewright.ir.plans.stages import Allocated, Group

if TYPE_CHECKING:
    from tilewright.tile.cost.region_cost import HopCost


def work(step: str, group: Group, costs: tuple[HopCost, ...]) -> dict[str, Any]:
    """Tiles, bytes and cycles of a step. Copies are those between the scratchpad and the one before it.

    Of several steps tiled together the last has everything.
    """
    if not costs:
        spent = group.cycles if step == group.name else 0.0
        cycles = {"compute": spent, "copy": 0.0, "total": spent, "kind": "estimate"}
        return {"tiles": 1, "copies": {"in_bytes": 0, "out_bytes": 0}, "bound_bytes": 0, "cycles": cycles, "hops": []}
    hops = [
        {
            "far": hop.outer,
            "near": hop.inner,
            "tiles": cost.tiles,
            "in_bytes": cost.in_bytes,
            "out_bytes": cost.out_bytes,
            "bound_bytes": cost.bound_bytes,
            "buffer_bytes": cost.scratchpad_bytes,
            "copy_cycles": cost.copy_cycles,
        }
        for hop, cost in zip(group.region.hops, costs, strict=True)
    ]
    last = costs[-1]
    return {
        "tiles": last.tiles,
        "copies": {"in_bytes": last.in_bytes, "out_bytes": last.out_bytes},
        "bound_bytes": last.bound_bytes,
        "cycles": {
            "compute": last.compute_cycles,
            "copy": sum(cost.copy_cycles for cost in costs),
            "total": costs[0].total_cycles,
            "kind": "estimate",
        },
        "hops": hops,
        **({"claim": group.claim} if group.claim else {}),
    }


def traffic_ratio(steps: Sequence[Mapping[str, Any]]) -> float | None:
    """Bytes moved over what would move if every element were copied once, layer by layer; None where nothing would."""
    bound = sum(step["bound_bytes"] for step in steps)
    moved = sum(step["copies"]["in_bytes"] + step["copies"]["out_bytes"] for step in steps)
    return round(moved / bound, 4) if bound else None


def level(memory: Memory, allocated: Allocated) -> dict[str, Any]:
    """One memory of the hierarchy: what the plan and the runtime take of it together."""
    platform = allocated.tiled.scheduled.bound.platform
    runtime = platform.runtime_bytes.get(memory.name, 0)
    planned = memory_bytes(allocated, memory.name)
    return {
        "name": memory.name,
        "limit_bytes": memory.size_bytes,
        "used_bytes": planned + runtime,
        "planned_bytes": planned,
        "runtime_bytes": runtime,
        "near": memory.name == platform.inner,
    }
