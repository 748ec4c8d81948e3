"""Steps computed row by row in stripes of columns: the table, and under sanitizers every row of every value."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from portable_plans import portable_planner
from reference_runs import demand_reference
from row_networks import ONE_MEMORY, row_network
from tilewright.ir.plans.region import Region, Stripes
from tilewright.ir.plans.stages import Allocated
from tilewright.ir.programs.expressions import Name
from tilewright.lower.line_buffers.stripes import StripeTable
from tilewright.plan.kernel_fallback import Fitting
from tilewright.plan.line_buffers.plan_costs import times_computed
from tilewright.testing.one_step import vocabulary

SEEDS = (1, 4, 9, 14, 31, 37)
OFTEN = (1, 9, 31)  # the others in the nightly run
STRIPES = Stripes(loops=("w", "w"), bounds=(((0, 4), (0, 3)), ((2, 6), (3, 6))))


@cache
def planned(seed: int) -> Allocated:
    """A network in the least memory, computed as often as that takes."""
    planner = portable_planner(optimize="ram", recompute=100.0)
    return Fitting(planner=planner).plan(planner.bind(row_network(seed, vocabulary()).graph, ONE_MEMORY))


def striped(plan: Allocated) -> list[Region]:
    """Regions in stripes."""
    return [region for region in plan.tiled.regions if region.line_buffers and region.line_buffers.stripes]


@pytest.mark.slow
def test_most_of_these_networks_have_stripes_and_compute_columns_again() -> None:
    found = [planned(seed) for seed in SEEDS if striped(planned(seed))]
    assert len(found) >= len(SEEDS) // 2
    assert any(times_computed(plan, vocabulary()) > 1 for plan in found)


@pytest.mark.slow
@pytest.mark.parametrize(
    "seed", [pytest.param(seed, marks=() if seed in OFTEN else pytest.mark.long) for seed in SEEDS]
)
def test_every_value_is_what_the_reference_says(seed: int, tmp_path: Path) -> None:
    demand_reference(planned(seed), row_network(seed, vocabulary()).feeds, tmp_path)


def test_the_table_has_both_ends_of_every_step_in_every_stripe() -> None:
    table = StripeTable(name=Name("columns"), stripes=STRIPES)
    assert table.text() == ("static const uint8_t columns[8] = {\n    0, 4, 0, 3,\n    2, 6, 3, 6,\n};")
    assert str(table.first(1)) == "columns[(4 * stripe) + 2]"
    assert [str(end) for end in table.bounds(0)] == ["left", "left + 4"]


def test_widths_that_are_not_alike_are_looked_up() -> None:
    table = StripeTable(name=Name("columns"), stripes=Stripes(loops=("w",), bounds=(((0, 300),), ((300, 500),))))
    assert table.text().startswith("static const uint16_t columns[4]")
    assert [str(end) for end in table.bounds(0)] == ["left", "right"]
    assert [str(one.value) for one in table.declared(0)] == ["columns[2 * stripe]", "columns[(2 * stripe) + 1]"]
