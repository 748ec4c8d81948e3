"""Tiles and transfers in numbers, of steps alone and together, and bytes alive, each once."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from portable_plans import portable_planner
from row_networks import ONE_MEMORY, row_network
from tilewright.ir.plans.stages import Allocated, Buffer, Placement
from tilewright.plan.kernel_fallback import Fitting
from tilewright.report.steps import covered_bytes, live_bytes, traffic_ratio, work
from tilewright.testing.one_step import vocabulary
from tilewright.tile.cost.region_cost import HopCost


def group(cycles: float = 9.0, *hops: tuple[str, str], claim: str = "", hidden: float = 0.0) -> Any:
    """What `work` looks at of a group."""
    region = SimpleNamespace(hops=[SimpleNamespace(outer=outer, inner=inner) for outer, inner in hops])
    return SimpleNamespace(name="last", cycles=cycles, region=region, claim=claim, hidden_cycles=hidden)


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
    assert [(hop["outer"], hop["inner"], hop["tiles"], hop["in_bytes"]) for hop in found["hops"]] == [
        ("l3", "l2", 2, 300), ("l2", "l1", 6, 100)
    ]  # fmt: skip
    assert found["claim"] == "optimal" and "claim" not in work("last", group(0.0, ("l2", "l1")), costs[:1])


def test_what_runs_beside_other_steps_is_not_in_the_total() -> None:
    copied = work("last", group(0.0, ("l2", "l1"), hidden=50.0), (cost(1, 100, 5.0, 70.0, 90.0),))
    assert copied["cycles"] == {"compute": 70.0, "copy": 5.0, "total": 40.0, "hidden": 50.0, "kind": "estimate"}
    whole = work("last", group(9.0, hidden=50.0), ())
    assert whole["cycles"] == {"compute": 59.0, "copy": 0.0, "total": 9.0, "hidden": 50.0, "kind": "estimate"}


def test_traffic_beside_what_must_move() -> None:
    steps = [work("last", group(0.0, ("l2", "l1")), (cost(2, 65, 1, 1, 1),)), work("last", group(), ())]
    assert traffic_ratio(steps) == 1.5
    assert traffic_ratio(steps[1:]) is None


RANGES = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 20)).map(lambda one: (one[0], one[0] + one[1])))


@given(RANGES)
def test_it_is_the_size_of_the_union(ranges: list[tuple[int, int]]) -> None:
    assert covered_bytes(ranges) == len({byte for low, high in ranges for byte in range(low, high)})


def with_buffers(allocated: Allocated, *buffers: tuple[str, int, int, int, Placement | None]) -> Allocated:
    """The same plan with other buffers: kind, bytes, first and last step, place."""
    made = [
        Buffer(name=f"b{number}", kind=kind, size_bytes=size, align=1, first=first, last=last)  # type: ignore[arg-type]
        for number, (kind, size, first, last, _) in enumerate(buffers)
    ]
    places = {f"b{number}": place for number, (*_, place) in enumerate(buffers) if place}
    return replace(allocated, tiled=replace(allocated.tiled, buffers=tuple(made)), placements=places)


def test_bytes_are_alive_once_where_two_buffers_share_them() -> None:
    planner = portable_planner()
    allocated = Fitting(planner=planner).plan(planner.bind(row_network(0, vocabulary()).graph, ONE_MEMORY))
    assert isinstance(allocated, Allocated)
    last = len(allocated.tiled.scheduled.steps) - 1
    ram, flash = (memory.name for memory in ONE_MEMORY.memories[:2])

    def at(offset: int, memory: str = ram) -> Placement:
        return Placement(memory=memory, offset_bytes=offset)

    shared = with_buffers(
        allocated,
        ("activation", 16, 0, last, at(0)),
        ("activation", 16, 0, 0, at(8)),  # 8 of its bytes are those of the first
        ("constant", 1000, 0, last, at(0, flash)),
        ("input", 500, 0, last, None),  # in the caller's memory
        ("scratch", 4, last, last, at(100)),
    )
    assert last >= 2
    assert live_bytes(shared) == [24, *[16] * (last - 1), 20]
