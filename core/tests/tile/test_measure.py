"""What the tilings of a plan cost, step by step."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tilewright.ir.plans.region import Copy, Region, Tiles
from tilewright.ir.plans.stages import Group, Tiled
from tilewright.testing.one_step import vocabulary
from tilewright.tile.cost import region_cost as cost
from tilewright.tile.cost.region_cost import region_costs
from tilewright.tile.measure import step_costs


def plan(pools: Any, *regions: Region) -> Tiled:
    return Tiled(scheduled=pools.machine.scheduled, groups=tuple(Group(region=one) for one in regions), buffers=())


def pool_alone(pools: Any, step: str, buffers: int = 1) -> Region:
    copies = {f"{step}.X": Copy(level=1), f"{step}.Y": Copy(level=1, buffers=buffers)}
    return Region(steps=(step,), schedule=Tiles(hops=(replace(pools.region.hops[0], copies=copies),)))


def test_all_of_a_region_stands_at_its_last_step(pools: Any) -> None:
    found = step_costs(plan(pools, pools.region), vocabulary(), pools.machine.decisions)
    assert found == {"a": (), "b": (), "c": region_costs(pools.analysis, pools.region)}


def test_steps_in_one_piece_cost_no_hops(pools: Any) -> None:
    regions = [Region(steps=(name,)) for name in "abc"]
    assert step_costs(plan(pools, *regions), vocabulary(), pools.machine.decisions) == {"a": (), "b": (), "c": ()}


@pytest.mark.parametrize(("buffers", "played"), [(1, 1), (2, 2)])
def test_equal_layers_that_are_tiled_alike_are_played_once(
    pools: Any, monkeypatch: pytest.MonkeyPatch, buffers: int, played: int
) -> None:
    calls = []

    def counted(*given: Any) -> Any:
        calls.append(given)
        return region_costs(*given)

    monkeypatch.setattr(cost, "region_costs", counted)
    regions = pool_alone(pools, "a"), Region(steps=("b",)), pool_alone(pools, "c", buffers)
    found = step_costs(plan(pools, *regions), vocabulary(), pools.machine.decisions)
    assert len(calls) == played
    assert (found["a"] == found["c"]) is (buffers == 1)
