"""Products of flattened images by rows: every lie about which rows they read is found."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from row_networks import on_one_memory
from tilewright.check.tiling import check_tiles
from tilewright.ir.graphs.graph import Attribute, Graph
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.plans.region import LineBuffers, Region, RepeatedCalls
from tilewright.ir.plans.stages import Tiled
from tilewright.ir.tensors.dtypes import DType
from tilewright.testing.one_step import vocabulary
from tilewright.testing.sketch import Sketch
from tilewright.tile.line_buffers.partition import line_buffer_search
from tilewright.tile.strategies import StepTiler
from tilewright.tile.tile import tile

TAPS: dict[str, Attribute] = {
    "kernel_shape": (3, 3), "strides": (1, 1), "dilations": (1, 1), "pads": (1, 1, 1, 1), "group": 1,
}  # fmt: skip


def network(last: bool, *, seen: bool = False) -> Graph:
    """Two convolutions, and a product of what they make flattened; `seen`: that is an output, too."""
    sketch = Sketch(operators=vocabulary())
    y = sketch.input("x", DType.F32, (1, 2, 12, 10))
    for channels in (2, 4):
        y = sketch.node("Conv", (y, sketch.constant(np.ones((4, channels, 3, 3), np.float32))), TAPS)
    y = sketch.node("Transpose", (y,), {"perm": (0, 2, 3, 1)}) if last else y
    flat = sketch.node("Reshape", (y,), {"shape": (1, 480)})
    z = sketch.node("Gemm", (flat, sketch.constant(np.ones((480, 7), np.float32))), {})
    return sketch.finish(z, *((flat,) if seen else ()))


def case(last: bool) -> tuple[Tiled, Region]:
    """The plan in the least memory, and its region by rows."""
    machine = on_one_memory(network(last))
    programs = line_buffer_search(machine)
    regions = programs.regions(programs.front()[-1])
    tiled = tile(machine.scheduled, vocabulary(), StepTiler(name="auto", summary=""), Decisions(tiles=regions))
    (region,) = regions.values()
    return tiled, region


CASES = [case(last) for last in (False, True)]


def schedule_of(region: Region) -> LineBuffers:
    """Its calls, and what it holds."""
    assert region.line_buffers is not None
    return region.line_buffers


def faults(tiled: Tiled, region: Region) -> tuple[str, ...]:
    """Of the plan with another region in the place of the one of its name."""
    groups = tuple(replace(one, region=region) if one.name == region.name else one for one in tiled.groups)
    return check_tiles(replace(tiled, groups=groups), vocabulary())


def other_rows(region: Region, **changed: int) -> Region:
    """The same with other parts of the reduction."""
    schedule = schedule_of(region)
    (name, rows), *_ = schedule.flattened.items()
    return replace(region, schedule=replace(schedule, flattened={name: replace(rows, **changed)}))


def lies(region: Region) -> Iterator[Region]:
    """Parts of the reduction that are no rows, and orders in which rows come too late."""
    schedule = schedule_of(region)
    (rows,) = schedule.flattened.values()
    yield other_rows(region, length=rows.length * 2)
    yield other_rows(region, length=1)
    yield other_rows(region, runs=rows.runs * 2)
    yield other_rows(region, runs=7)
    yield replace(region, schedule=replace(schedule, flattened={**schedule.flattened, region.steps[0]: rows}))
    calls, product = schedule.calls, len(region.steps) - 1
    late = (product, *(call for at, call in enumerate(calls) if at != calls.index(product)))
    yield replace(region, schedule=replace(schedule, call_schedule=(RepeatedCalls(late),)))
    yield replace(region, schedule=replace(schedule, call_schedule=(RepeatedCalls(calls[:-1]),)))
    for value, buffer in schedule.buffers.items():
        less = {**schedule.buffers, value: replace(buffer, rows=buffer.rows - 1)}
        yield replace(region, schedule=replace(schedule, buffers=less))


@pytest.mark.parametrize(("tiled", "region"), CASES)
def test_the_whole_network_is_one_region_of_which_a_row_of_the_image_is_held(tiled: Tiled, region: Region) -> None:
    assert len(region.steps) == 3
    assert [buffer.rows for buffer in schedule_of(region).buffers.values() if not buffer.aliases] == [3, 1]
    assert faults(tiled, region) == ()


@pytest.mark.parametrize(("tiled", "region"), CASES)
def test_every_lie_is_found(tiled: Tiled, region: Region) -> None:
    for wrong in lies(region):
        assert faults(tiled, wrong), wrong


@pytest.mark.parametrize(("tiled", "region"), CASES)
def test_a_buffer_a_byte_too_small_is_found(tiled: Tiled, region: Region) -> None:
    for buffer in (one for one in tiled.buffers if one.kind == "tile"):
        buffers = tuple(replace(one, size_bytes=one.size_bytes - 1) if one is buffer else one for one in tiled.buffers)
        assert check_tiles(replace(tiled, buffers=buffers), vocabulary()), buffer.name
