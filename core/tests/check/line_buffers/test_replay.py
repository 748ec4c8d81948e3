"""Regions by rows that are not sound: every lie is found."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from row_networks import ONE_MEMORY, on_one_memory, row_network
from tilewright.bind import bind
from tilewright.check.tiling import check_tiles
from tilewright.ir.graphs.graph import Graph, Node
from tilewright.ir.plans.decisions import Decisions, IoOwner
from tilewright.ir.plans.region import FlattenedRows, LineBuffer, LineBuffers, Region, RepeatedCalls
from tilewright.ir.plans.stages import Tiled
from tilewright.ir.tensors.dtypes import DType
from tilewright.rewrite.insert_streamed_io import with_streamed_io
from tilewright.schedule import schedule
from tilewright.testing.one_step import portable_kernels, vocabulary
from tilewright.testing.sketch import Sketch
from tilewright.tile.line_buffers.partition import line_buffer_search, overlaid_steps
from tilewright.tile.machine import ScheduledMachine
from tilewright.tile.strategies import StepTiler
from tilewright.tile.tile import tile

SEEDS = range(8)


def cases() -> Iterator[tuple[Tiled, Region]]:
    """Plans of random networks in the least memory, and each of their regions by rows."""
    for seed in SEEDS:
        machine = on_one_memory(row_network(seed, vocabulary()).graph)
        programs = line_buffer_search(machine)
        regions = programs.regions(programs.front()[-1])
        decisions = Decisions(tiles=regions)
        tiled = tile(machine.scheduled, vocabulary(), StepTiler(name="auto", summary=""), decisions)
        yield from ((tiled, region) for region in regions.values())


CASES = list(cases())


def faults(tiled: Tiled, region: Region) -> tuple[str, ...]:
    """Of the plan with another region in the place of the one of its name."""
    groups = tuple(replace(one, region=region) if one.name == region.name else one for one in tiled.groups)
    return check_tiles(replace(tiled, groups=groups), vocabulary())


def with_calls(region: Region, calls: tuple[int, ...]) -> Region:
    """The same in another order."""
    assert region.line_buffers is not None
    return replace(region, schedule=replace(region.line_buffers, call_schedule=(RepeatedCalls(calls),)))


def with_buffer(region: Region, value: str, buffer: LineBuffer) -> Region:
    """The same with another line buffer of a value."""
    schedule = rows_of(region)
    return replace(region, schedule=replace(schedule, buffers={**schedule.buffers, value: buffer}))


def rows_of(region: Region) -> LineBuffers:
    """Its order."""
    assert region.line_buffers is not None
    return region.line_buffers


@pytest.mark.parametrize("case", range(len(CASES)))
def test_what_is_planned_is_sound(case: int) -> None:
    tiled, region = CASES[case]
    assert faults(tiled, region) == ()


def test_who_reads_a_value_is_found_once_for_all_regions(monkeypatch: pytest.MonkeyPatch) -> None:
    asked, consumers = [], Graph.consumers

    def counted(graph: Graph) -> dict[str, list[Node]]:
        asked.append(graph)
        return consumers(graph)

    machine = on_one_memory(row_network(5, vocabulary()).graph)
    programs, found = overlaid_steps(machine, float("inf"))
    decisions = Decisions(tiles=programs.regions(found[-1]))
    tiled = tile(machine.scheduled, vocabulary(), StepTiler(name="auto", summary=""), decisions)
    assert sum(region.line_buffers is not None for region in tiled.regions) > 1
    monkeypatch.setattr(Graph, "consumers", counted)
    assert check_tiles(tiled, vocabulary()) == ()
    assert len(asked) == 1


@pytest.mark.parametrize("case", range(len(CASES)))
def test_a_call_less_or_more_is_found(case: int) -> None:
    tiled, region = CASES[case]
    calls = rows_of(region).calls
    assert faults(tiled, with_calls(region, calls[:-1]))
    assert any("all its rows" in fault for fault in faults(tiled, with_calls(region, (*calls, calls[-1]))))


@pytest.mark.parametrize("case", range(len(CASES)))
def test_a_reader_before_its_maker_is_found(case: int) -> None:
    tiled, region = CASES[case]
    calls = rows_of(region).calls
    first = next(at for at, (one, two) in enumerate(pairwise(calls)) if two > one)
    swapped = (*calls[:first], calls[first + 1], calls[first], *calls[first + 2 :])
    assert any("not there" in fault or "not complete" in fault for fault in faults(tiled, with_calls(region, swapped)))


@pytest.mark.parametrize("case", range(len(CASES)))
def test_a_row_too_few_is_found(case: int) -> None:
    tiled, region = CASES[case]
    for value, buffer in rows_of(region).buffers.items():
        if not buffer.aliases:
            assert faults(tiled, with_buffer(region, value, replace(buffer, rows=buffer.rows - 1))), value


@pytest.mark.parametrize("case", range(len(CASES)))
def test_a_buffer_a_byte_too_small_is_found(case: int) -> None:
    tiled, region = CASES[case]
    own = [one for one in tiled.buffers if one.kind in ("tile", "scratch")]
    at = next(number for number, step in enumerate(tiled.scheduled.steps) if step.name == region.name)
    for buffer in (one for one in own if one.first == at):
        buffers = tuple(replace(one, size_bytes=one.size_bytes - 1) if one is buffer else one for one in tiled.buffers)
        assert check_tiles(replace(tiled, buffers=buffers), vocabulary()), buffer.name


def test_what_makes_no_sense_is_said() -> None:
    tiled, region = CASES[0]
    order = rows_of(region)
    wrong = {
        "does not name a loop": replace(region, schedule=replace(order, loops=order.loops[:-1])),
        "has no loop": replace(region, schedule=replace(order, loops=("nothing", *order.loops[1:]))),
        "trips of loop": replace(region, schedule=replace(order, extents=(0, *order.extents[1:]))),
        "there is no step": with_calls(region, (*order.calls, 200)),
        "is not what its steps": replace(region, internal_values={}),
        "'nothing' has a line buffer, and is not held": with_buffer(region, "nothing", LineBuffer(rows=1)),
        "reads a flattened image": replace(region, schedule=replace(order, flattened={"nothing": FlattenedRows()})),
        "as no line-buffered region": replace(
            region,
            internal_values={value: replace(held, form="recomputed") for value, held in region.internal_values.items()},
        ),
    }
    for text, other in wrong.items():
        assert any(text in fault for fault in faults(tiled, other)), text


def test_what_is_read_outside_or_an_output_of_the_network_has_to_leave() -> None:
    kinds = set()
    for tiled, region in CASES:
        graph = tiled.scheduled.bound.graph
        for value in (value for value, held in region.internal_values.items() if held.live_out):
            kept = replace(
                region,
                internal_values={
                    **region.internal_values,
                    value: replace(region.internal_values[value], live_out=False),
                },
            )
            assert any(f"'{value}' is needed outside" in fault for fault in faults(tiled, kept))
            read = any(value in node.inputs for node in graph.nodes if node.name not in region.steps)
            kinds.add((read, value in graph.outputs))
    assert {(True, False), (False, True)} <= kinds


def test_rows_of_several_inputs_come_as_early_as_there_is_room() -> None:
    """They are taken before calls ask for them; a buffer that calls have no room in is found in both orders."""
    sketch = Sketch(operators=vocabulary())
    weights = sketch.constant(np.ones((1, 1, 3, 3), np.float32))
    a, b = (sketch.input(name, DType.F32, (1, 1, 9, 4)) for name in "ab")
    windows = {"kernel_shape": (3, 3), "strides": (1, 1), "dilations": (1, 1), "pads": (1, 1, 1, 1), "group": 1}
    total = sketch.node("Add", (sketch.node("Conv", (a, weights), windows), b))
    io: dict[str, IoOwner] = {"a": "push", "b": "push"}
    decisions = Decisions(io=io)
    bound = bind(with_streamed_io(sketch.finish(total), io), ONE_MEMORY, vocabulary(), portable_kernels(), decisions)
    machine = ScheduledMachine(schedule(bound, vocabulary(), decisions), vocabulary(), decisions)
    programs = line_buffer_search(machine)
    (region,) = programs.regions(programs.front()[-1]).values()
    tiled = tile(
        machine.scheduled,
        vocabulary(),
        StepTiler(name="auto", summary=""),
        replace(decisions, tiles={region.name: region}),
    )
    assert faults(tiled, region) == ()
    buffer = rows_of(region).buffers["a:arrived"]
    smaller = with_buffer(region, "a:arrived", replace(buffer, rows=buffer.rows - 1))
    found = " ".join(faults(tiled, smaller))
    assert "has room for 2 rows" in found and "there is no room for the rows that 'a:arrived' waits for" in found
