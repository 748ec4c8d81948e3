"""Tiles and transfers in numbers: of steps alone and together, and of what a memory holds."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from tilewright.ir.machines.platform import Memory
from tilewright.report.tiles import level, traffic_ratio, work
from tilewright.tile.cost.region_cost import HopCost


def group(cycles: float = 9.0, *hops: tuple[str, str], claim: str = "") -> Any:
    """What `work` looks at of a group."""
    region = SimpleNamespace(hops=[SimpleNamespace(outer=far, inner=near) for far, near in hops])
    return SimpleNamespace(name="last", cycles=cycles, region=region, claim=claim)


def cost(tiles: int, in_bytes: int, copy_cycles: float, compute: float, total: float) -> Any:
    return SimpleNamespace(
        tiles=tiles, in_bytes=in_bytes, out_bytes=10, bound_bytes=50, scratchpad_bytes=64, copy_cycles=copy_cycles,
        compute_cycles=compute, total_cycles=total,
    )  # fmt: skip


def test_the_numbers_are_those_of_a_cost() -> None:
    assert set(vars(cost(1, 1, 1, 1, 1))) <= set(dir(HopCost))


@pytest.mark.parametrize(("step", "spent"), [("last", 9.0), ("first", 0.0)])
def test_a_step_without_copies(step: str, spent: float) -> None:
    """Of several that are computed together the last has the cycles."""
    found = work(step, group(), ())
    assert found["cycles"] == {"compute": spent, "copy": 0.0, "total": spent, "kind": "estimate"}
    assert (found["tiles"], found["bound_bytes"], found["hops"]) == (1, 0, [])


def test_copies_over_two_hops() -> None:
    """Tiles and bytes are those of the hop into the scratchpad, the total that of the outermost loop."""
    costs = (cost(2, 300, 40.0, 0.0, 200.0), cost(6, 100, 5.0, 70.0, 90.0))
    found = work("last", group(0.0, ("l3", "l2"), ("l2", "l1"), claim="optimal"), costs)
    assert (found["tiles"], found["copies"], found["bound_bytes"]) == (6, {"in_bytes": 100, "out_bytes": 10}, 50)
    assert found["cycles"] == {"compute": 70.0, "copy": 45.0, "total": 200.0, "kind": "estimate"}
    assert [(hop["far"], hop["near"], hop["tiles"], hop["in_bytes"]) for hop in found["hops"]] == [
        ("l3", "l2", 2, 300), ("l2", "l1", 6, 100)
    ]  # fmt: skip
    assert found["claim"] == "optimal" and "claim" not in work("last", group(0.0, ("l2", "l1")), costs[:1])


def test_traffic_beside_what_must_move() -> None:
    steps = [work("last", group(0.0, ("l2", "l1")), (cost(2, 65, 1, 1, 1),)), work("last", group(), ())]
    assert traffic_ratio(steps) == 1.5
    assert traffic_ratio(steps[1:]) is None


def test_what_a_memory_holds() -> None:
    l1, l2 = Memory(name="l1", size_bytes=256, align=16), Memory(name="l2", size_bytes=None)
    platform = SimpleNamespace(runtime_bytes={"l1": 100}, inner="l1", memory={"l1": l1, "l2": l2}.get)
    bound = SimpleNamespace(platform=platform)
    pools = [SimpleNamespace(memory=memory, used_bytes=size) for memory, size in (("l1", 30), ("l2", 500), ("l1", 4))]
    plan: Any = SimpleNamespace(tiled=SimpleNamespace(scheduled=SimpleNamespace(bound=bound)), pools=pools)
    assert level(l1, plan) == {  # 4 bytes, and 30 where an array may begin next
        "name": "l1", "limit_bytes": 256, "used_bytes": 136, "planned_bytes": 36, "runtime_bytes": 100, "near": True,
    }  # fmt: skip
    assert level(l2, plan)["used_bytes"] == 500
