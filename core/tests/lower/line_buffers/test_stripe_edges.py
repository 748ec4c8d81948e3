"""Steps computed row by row in stripes whose edges are kept: the statements, and under sanitizers every row."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from portable_plans import portable_planner
from reference_runs import demand_reference
from row_networks import on_one_memory, row_network
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.plans.region import Region, Stripes
from tilewright.ir.plans.stages import Allocated
from tilewright.ir.programs.expressions import Name
from tilewright.ir.programs.program import StepCode
from tilewright.ir.programs.statements import KernelCall, statements_in
from tilewright.lower import lower
from tilewright.lower.line_buffers.stripes import StripeTable
from tilewright.plan.line_buffers.plan_costs import times_computed
from tilewright.testing.one_step import vocabulary
from tilewright.tile.line_buffers.analysis import LineBufferAnalysis
from tilewright.tile.line_buffers.lifetimes import Lifetimes
from tilewright.tile.line_buffers.partition import region_of
from tilewright.tile.line_buffers.segments import segments_with_edges
from tilewright.tile.line_buffers.signatures import StepSignatures

SEEDS = (1, 4, 9, 15, 18, 31, 37)
OFTEN = (1, 9, 31)  # the others in the nightly run
STRIPES = Stripes(loops=("w", "w"), bounds=(((0, 5), (0, 3)), ((3, 8), (3, 6))), edges=(2, 0))


@cache
def planned(seed: int) -> Allocated:
    """A network whose longest segments are in stripes; as many as there is room for beside one another."""
    lives = Lifetimes(LineBufferAnalysis(on_one_memory(row_network(seed, vocabulary()).graph)))
    regions, end = dict[str, Region](), lives.beyond
    for last in reversed(range(lives.beyond)):
        found = [one for one in segments_with_edges(StepSignatures(lives), last, 1 << 30) if one.last < end]
        if found:
            longest = min(found, key=lambda one: (one.first, -one.row_schedule.stripes if one.row_schedule else 0))
            region = region_of(lives, longest)
            regions[region.name], end = region, longest.first
    planner = portable_planner()
    answer = planner.attempt(lives.machine.bound, Decisions(tiles=regions))
    assert isinstance(answer, Allocated)
    return answer


def with_edges(plan: Allocated) -> list[Region]:
    """Regions of which columns pass from stripe to stripe."""
    found = [region for region in plan.tiled.regions if region.line_buffers and region.line_buffers.stripes]
    return [
        region
        for region in found
        if region.line_buffers and region.line_buffers.stripes and any(region.line_buffers.stripes.edges)
    ]


@pytest.mark.slow
def test_of_most_networks_columns_pass_and_nothing_is_computed_twice() -> None:
    found = [planned(seed) for seed in SEEDS if with_edges(planned(seed))]
    assert len(found) >= len(SEEDS) // 2
    assert all(times_computed(plan, vocabulary()) == 1 for plan in found)


@pytest.mark.slow
@pytest.mark.parametrize(
    "seed", [pytest.param(seed, marks=() if seed in OFTEN else pytest.mark.long) for seed in SEEDS]
)
def test_every_value_is_what_the_reference_says(seed: int, tmp_path: Path) -> None:
    demand_reference(planned(seed), row_network(seed, vocabulary()).feeds, tmp_path)


def passing(code: StepCode) -> list[KernelCall]:
    """The calls that copy columns."""
    every = [one for part in code.parts for one in statements_in(part.body)]
    return [one for one in every if isinstance(one, KernelCall) and one.kernel == "tw_pass_columns"]


@pytest.mark.parametrize("seed", SEEDS)
def test_columns_come_and_go_for_every_step_that_has_an_edge(seed: int) -> None:
    plan = planned(seed)
    program = lower(plan, vocabulary(), "net")
    codes = {code.step: code for code in program.steps}
    for region in with_edges(plan):
        assert region.line_buffers is not None and region.line_buffers.stripes is not None
        calls = passing(codes[region.name])
        assert len(calls) == 2 * sum(edge > 0 for edge in region.line_buffers.stripes.edges)
        assert all(len(call.reads) == len(call.writes) == 2 for call in calls)


def test_the_table_says_where_a_step_begins_to_compute_and_has_a_stripe_without_columns_at_its_end() -> None:
    table = StripeTable(name=Name("columns"), stripes=STRIPES)
    assert table.text() == (
        "static const uint8_t columns[18] = {\n    0, 0, 5, 0, 0, 3,\n    3, 5, 8, 3, 3, 6,\n    8, 8, 8, 6, 6, 6,\n};"
    )
    assert str(table.first(1)) == "columns[(6 * stripe) + 3]"
    assert [str(end) for end in table.bounds(0)] == ["left", "right"]
    assert [str(end) for end in table.bounds(1)] == ["left", "left + 3"]
    assert [str(one.value) for one in table.declared(0)] == ["columns[(6 * stripe) + 1]", "columns[(6 * stripe) + 2]"]
    assert str(table.arrived(0)) == "left - columns[6 * stripe]"
    begin, count = table.passed(0)
    assert str(begin) == "columns[(6 * stripe) + 6] - columns[6 * stripe]"
    assert str(count) == "columns[(6 * stripe) + 7] - columns[(6 * stripe) + 6]"
