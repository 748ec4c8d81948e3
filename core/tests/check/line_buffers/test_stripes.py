"""Regions in stripes that are not sound: every lie is found."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from row_networks import on_one_memory, row_network
from tilewright.check.tiling import check_tiles
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.plans.region import LineBuffer, Region, Stripes
from tilewright.ir.plans.stages import Tiled
from tilewright.testing.one_step import vocabulary
from tilewright.tile.line_buffers.analysis import LineBufferAnalysis
from tilewright.tile.line_buffers.lifetimes import Lifetimes
from tilewright.tile.line_buffers.partition import region_of
from tilewright.tile.line_buffers.segments import Segment, segments, segments_with_edges
from tilewright.tile.line_buffers.signatures import StepSignatures
from tilewright.tile.strategies import StepTiler
from tilewright.tile.tile import tile

SEEDS = (1, 6, 15, 37)
MORE = (4, 9, 14, 18, 31)


def cases(kept: bool) -> Iterator[tuple[Tiled, Region]]:
    """Of random networks the longest segments in stripes, with edges that are `kept` or computed again."""
    for seed in MORE if kept else SEEDS:
        lives = Lifetimes(LineBufferAnalysis(on_one_memory(row_network(seed, vocabulary()).graph)))
        every = [one for last in range(lives.beyond) for one in _segments(lives, last, kept)]
        longest = sorted(
            (one for one in every if one.row_schedule and one.row_schedule.stripes > 1),
            key=lambda one: one.first - one.last,
        )
        for segment in longest[:1]:
            region = region_of(lives, segment)
            decisions = Decisions(tiles={region.name: region})
            tiler = StepTiler(name="auto", summary="")
            yield tile(lives.machine.scheduled, vocabulary(), tiler, decisions), region


def _segments(lives: Lifetimes, last: int, kept: bool) -> Iterator[Segment]:
    yield from (
        segments_with_edges(StepSignatures(lives), last, 1 << 30)
        if kept
        else segments(StepSignatures(lives), last, 1 << 30, 1e9)
    )


CASES = [*cases(kept=False), *cases(kept=True)]


def stripes_in(region: Region) -> Stripes:
    """Its stripes."""
    assert region.line_buffers is not None and region.line_buffers.stripes is not None
    return region.line_buffers.stripes


KEPT = [number for number, (_, region) in enumerate(CASES) if max(stripes_in(region).edges, default=0) > 1]


def faults(tiled: Tiled, region: Region) -> tuple[str, ...]:
    """Of the plan with another region in the place of the one of its name."""
    groups = tuple(replace(one, region=region) if one.name == region.name else one for one in tiled.groups)
    return check_tiles(replace(tiled, groups=groups), vocabulary())


def with_stripes(region: Region, stripes: Stripes) -> Region:
    """The same with others."""
    assert region.line_buffers is not None
    return replace(region, schedule=replace(region.line_buffers, stripes=stripes))


def moved(stripes: Stripes, stripe: int, step: int, ends: tuple[int, int]) -> Stripes:
    """With other columns of a step in a stripe."""
    bounds = [list(own) for own in stripes.bounds]
    bounds[stripe][step] = ends
    return replace(stripes, bounds=tuple(tuple(own) for own in bounds))


@pytest.mark.parametrize("case", range(len(CASES)))
def test_what_is_planned_is_sound(case: int) -> None:
    tiled, region = CASES[case]
    assert faults(tiled, region) == ()


@pytest.mark.slow
@pytest.mark.parametrize("case", range(len(CASES)))
def test_a_column_less_is_found(case: int) -> None:
    tiled, region = CASES[case]
    stripes = stripes_in(region)
    for stripe, own in enumerate(stripes.bounds[:2]):
        for step, (low, high) in enumerate(own):
            for ends in ((low + 1, high), (low, high - 1)):
                assert faults(tiled, with_stripes(region, moved(stripes, stripe, step, ends))), (stripe, step, ends)


@pytest.mark.parametrize("case", range(len(CASES)))
def test_a_buffer_for_a_column_less_is_found(case: int) -> None:
    tiled, region = CASES[case]
    names = {f"{step}." for step in region.steps}
    held = [one for one in tiled.buffers if one.kind == "tile" and any(one.name.startswith(name) for name in names)]
    for buffer in held:
        buffers = tuple(replace(one, size_bytes=one.size_bytes - 1) if one is buffer else one for one in tiled.buffers)
        assert check_tiles(replace(tiled, buffers=buffers), vocabulary()), buffer.name


def test_of_some_cases_edges_are_kept() -> None:
    assert len(KEPT) >= 2


@pytest.mark.parametrize("case", KEPT)
def test_edges_that_are_not_kept_or_have_no_room_are_found(case: int) -> None:
    tiled, region = CASES[case]
    stripes = stripes_in(region)
    for step, edge in enumerate(stripes.edges):
        for other in {0, edge - 1} if edge > 1 else {edge - 1} if edge else ():
            edges = tuple(other if number == step else one for number, one in enumerate(stripes.edges))
            found = faults(tiled, with_stripes(region, replace(stripes, edges=edges)))
            assert found or other == 0, (step, edge, other)


@pytest.mark.parametrize("case", KEPT)
def test_edges_that_make_no_sense_are_said(case: int) -> None:
    tiled, region = CASES[case]
    stripes = stripes_in(region)
    step = stripes.edges.index(max(stripes.edges))
    (first, end), (_, high) = stripes.bounds[0][step], stripes.bounds[1][step]
    wrong = {
        "how many columns are kept": replace(stripes, edges=stripes.edges[:-1]),
        "of the last one none": replace(stripes, edges=(*stripes.edges[:-1], 1)),
        f"has columns {first} to {end} in one stripe": moved(stripes, 1, step, (first, end)),
        "pass to the next stripe, and there is room for": replace(
            moved(stripes, 1, step, (first, high)), edges=(1,) * (len(stripes.edges) - 1) + (0,)
        ),
    }
    for text, other in wrong.items():
        assert any(text in fault for fault in faults(tiled, with_stripes(region, other))), text


def test_what_makes_no_sense_is_said() -> None:
    tiled, region = CASES[0]
    stripes, rows = stripes_in(region), region.line_buffers
    assert rows is not None
    extent = stripes.bounds[-1][-1][1]
    last = region.steps[-1]
    read = tiled.scheduled.bound.graph.inputs[0]
    output = next(node.outputs[0] for node in tiled.scheduled.bound.graph.nodes if node.name == last)
    over = replace(rows, buffers={**rows.buffers, output: LineBuffer(aliases=read)})
    wrong = {
        "do not name a loop": with_stripes(region, replace(stripes, loops=stripes.loops[:-1])),
        "has no columns along loop 'nothing'": with_stripes(
            region, replace(stripes, loops=("nothing", *stripes.loops[1:]))
        ),
        "has no columns along": with_stripes(region, replace(stripes, loops=rows.loops)),
        "cannot have columns": with_stripes(region, moved(stripes, -1, -1, (0, extent + 1))),
        "every column": with_stripes(region, replace(stripes, bounds=stripes.bounds[:-1])),
        "needed outside or over others": replace(region, schedule=over),
    }
    for text, other in wrong.items():
        assert any(text in fault for fault in faults(tiled, other)), text
