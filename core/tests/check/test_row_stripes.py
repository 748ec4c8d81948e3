"""Regions in stripes that are not sound: every lie is found."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from tilewright.check.tiling import check_tiles
from tilewright.ir.decisions import Decisions
from tilewright.ir.regions import HeldValue, Region, Stripes
from tilewright.ir.stages import Tiled
from tilewright.testing.one_step import vocabulary
from tilewright.testing.row_networks import on_one_memory, row_network
from tilewright.tile.row_lives import RowLives
from tilewright.tile.row_programs import region_of
from tilewright.tile.row_segments import segments
from tilewright.tile.row_steps import RowSteps
from tilewright.tile.stage import tile
from tilewright.tile.strategies import StepTiler

SEEDS = (1, 6, 15, 37)


def cases() -> Iterator[tuple[Tiled, Region]]:
    """Of random networks the longest segments in stripes."""
    for seed in SEEDS:
        lives = RowLives(RowSteps(on_one_memory(row_network(seed, vocabulary()).graph)))
        every = [one for last in range(lives.beyond) for one in segments(lives, last, 1 << 30, 1e9)]
        longest = sorted((one for one in every if one.stripes > 1), key=lambda one: one.first - one.last)
        for segment in longest[:1]:
            region = region_of(lives, segment)
            decisions = Decisions(tiles={region.name: region})
            tiler = StepTiler(name="auto", summary="")
            yield tile(lives.machine.scheduled, vocabulary(), tiler, decisions), region


CASES = list(cases())


def stripes_in(region: Region) -> Stripes:
    """Its stripes."""
    assert region.rows is not None and region.rows.stripes is not None
    return region.rows.stripes


def faults(tiled: Tiled, region: Region) -> tuple[str, ...]:
    """Of the plan with another region in the place of the one of its name."""
    groups = tuple(replace(one, region=region) if one.name == region.name else one for one in tiled.groups)
    return check_tiles(replace(tiled, groups=groups), vocabulary())


def with_stripes(region: Region, stripes: Stripes) -> Region:
    """The same with others."""
    assert region.rows is not None
    return replace(region, order=replace(region.rows, stripes=stripes))


def moved(stripes: Stripes, stripe: int, step: int, ends: tuple[int, int]) -> Stripes:
    """With other columns of a step in a stripe."""
    bounds = [list(own) for own in stripes.bounds]
    bounds[stripe][step] = ends
    return replace(stripes, bounds=tuple(tuple(own) for own in bounds))


@pytest.mark.parametrize("case", range(len(CASES)))
def test_what_is_planned_is_sound(case: int) -> None:
    tiled, region = CASES[case]
    assert faults(tiled, region) == ()


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


def test_what_makes_no_sense_is_said() -> None:
    tiled, region = CASES[0]
    stripes, rows = stripes_in(region), region.rows
    assert rows is not None
    extent = stripes.bounds[-1][-1][1]
    last = region.steps[-1]
    read = tiled.scheduled.bound.graph.inputs[0]
    over = HeldValue(memory="ram", form="whole", leaves=True, over=read)
    output = next(node.outputs[0] for node in tiled.scheduled.bound.graph.nodes if node.name == last)
    wrong = {
        "do not name a loop": with_stripes(region, replace(stripes, loops=stripes.loops[:-1])),
        "has no columns along loop 'nothing'": with_stripes(
            region, replace(stripes, loops=("nothing", *stripes.loops[1:]))
        ),
        "has no columns along": with_stripes(region, replace(stripes, loops=rows.loops)),
        "cannot have columns": with_stripes(region, moved(stripes, -1, -1, (0, extent + 1))),
        "every column": with_stripes(region, replace(stripes, bounds=stripes.bounds[:-1])),
        "needed outside or over others": replace(region, held={**region.held, output: over}),
    }
    for text, other in wrong.items():
        assert any(text in fault for fault in faults(tiled, other)), text
