"""Outputs that become inputs of the next run: never written while the old value is read, and shared where possible."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest

from tilewright.allocate.best_fit import BestFit
from tilewright.check.plans.dataflow import Replay
from tilewright.ir.graphs.graph import Graph, Node, Tensor
from tilewright.ir.plans.allocation import Budget
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.plans.stages import Scheduled, Storage
from tilewright.ir.tensors.dtypes import DType
from tilewright.plan.proposals.planner import Planner
from tilewright.schedule import schedule
from tilewright.testing.random_graphs import random_graph, small_world
from tilewright.tile.strategies import WholeTiler

WORLD = small_world()


def _planner(state: dict[str, str], **pins: Any) -> Planner:
    return Planner(
        operators=WORLD.operators,
        kernels=WORLD.kernels,
        tiler=WholeTiler(),
        allocator=BestFit(),
        pins=Decisions(state=state, **pins),
        budget=Budget(work=500),
    )


def _graph(*nodes: Node) -> Graph:
    names = dict.fromkeys(name for node in nodes for name in (*node.inputs, *node.outputs))
    written = [name for node in nodes for name in node.outputs]
    return Graph(
        name="g",
        inputs=tuple(name for name in names if name not in written),
        outputs=tuple(name for name in written if not any(name in node.inputs for node in nodes)),
        nodes=nodes,
        tensors={name: Tensor(name=name, dtype=DType.F32, shape=(2, 3)) for name in names},
        constants={},
    )


def _scheduled(graph: Graph, state: dict[str, str], **pins: Any) -> Scheduled:
    planner = _planner(state, **pins)
    return schedule(planner.bind(graph, WORLD.platform), WORLD.operators, planner.pins)


def _add(name: str, one: str, other: str, output: str) -> Node:
    return Node(name=name, op="Add", inputs=(one, other), outputs=(output,))


def test_the_next_value_takes_the_place_of_the_old_one_when_nobody_reads_that_again() -> None:
    graph = _graph(_add("a", "h", "x", "s"), _add("b", "s", "x", "t"), _add("c", "t", "x", "h2"))
    found = _scheduled(graph, {"h": "h2"}, in_place={"s": "", "t": "", "h2": ""})
    assert found.storage["h2"] == found.storage["h"]
    (state,) = (buffer for buffer in found.buffers if buffer.kind == "state")
    assert (state.name, state.first, state.last, set(state.values)) == ("h", 0, 2, {"h", "h2"})


def test_it_does_not_while_somebody_will() -> None:
    graph = _graph(_add("a", "h", "x", "h2"), _add("b", "h", "x", "y"))
    found = _scheduled(graph, {"h": "h2"})
    assert found.storage["h2"].buffer != found.storage["h"].buffer


def test_one_step_may_compute_it_in_place() -> None:
    graph = _graph(_add("a", "h", "x", "h2"))
    found = _scheduled(graph, {"h": "h2"})
    assert found.in_place == {"h2": "h"}
    assert found.storage["h2"] == found.storage["h"]
    apart = _scheduled(graph, {"h": "h2"}, in_place={"h2": ""})
    assert apart.storage["h2"].buffer != apart.storage["h"].buffer


def _window(*nodes: Node, axis: int = 0) -> Graph:
    """Of five rows (or columns) of three the newest four, and a new one."""
    sizes = {"h": (5, 3), "part": (4, 3), "x": (1, 3), "h2": (5, 3), "y": (5, 3)}
    sizes = {name: size if axis == 0 else size[::-1] for name, size in sizes.items()}
    cut = {"starts": (1, 0) if axis == 0 else (0, 1), "steps": (1, 1), "shape": sizes["part"]}
    moves = (
        Node(name="cut", op="Slice", inputs=("h",), outputs=("part",), attributes=cut),
        Node(name="join", op="Concat", inputs=("part", "x"), outputs=("h2",), attributes={"axis": axis}),
    )
    return Graph(
        name="g",
        inputs=("h", "x"),
        outputs=("h2", *(name for node in nodes for name in node.outputs)),
        nodes=(*moves, *nodes),
        tensors={name: Tensor(name=name, dtype=DType.F32, shape=size) for name, size in sizes.items()},
        constants={},
    )


def test_a_window_moves_on_where_it_is() -> None:
    found = _scheduled(_window(), {"h": "h2"})
    assert found.in_place == {"h2": "part"}
    assert found.storage["h2"] == found.storage["h"] and found.storage["part"].offset_bytes == 12
    assert [step.name for step in found.steps] == ["join"]


def test_a_window_does_not_while_others_will_read_it() -> None:
    later = _scheduled(_window(_add("add", "h", "h", "y")), {"h": "h2"})
    assert later.storage["h2"].buffer != later.storage["h"].buffer and not later.in_place


def test_a_window_whose_rows_lie_apart_is_cut_first() -> None:
    assert _scheduled(_window(axis=1), {"h": "h2"}).in_place == {"h2": "part"}  # columns are stored as rows
    columns = _scheduled(_window(axis=1), {"h": "h2"}, layouts={"h": (0, 1), "h2": (0, 1)})
    assert [step.name for step in columns.steps] == ["cut", "join"] and not columns.in_place


def test_a_plan_in_which_a_window_moves_on_is_sound_and_one_that_moves_it_back_is_not() -> None:
    """What is checked is the plan that would run: bytes of the state are there for each reader."""
    planner = _planner({"h": "h2"})
    plan = planner.plan(planner.bind(_window(), WORLD.platform))
    assert not list(Replay(plan, WORLD.operators).faults())
    scheduled = plan.tiled.scheduled
    moved = {name: Storage(buffer="h", offset_bytes=offset) for name, offset in (("part", 0), ("h2", 12))}
    storage = {**scheduled.storage, **moved}
    back = replace(plan, tiled=replace(plan.tiled, scheduled=replace(scheduled, storage=storage)))
    assert any("overwrites 'part'" in fault for fault in Replay(back, WORLD.operators).faults())


def test_tensors_that_are_pinned_apart_do_not_share() -> None:
    graph = _graph(_add("a", "h", "x", "s"), _add("b", "s", "x", "h2"))
    found = _scheduled(graph, {"h": "h2"}, memories={"h": "sram", "h2": "other"})
    assert found.storage["h2"].buffer != found.storage["h"].buffer
    chain = _graph(_add("a", "h", "x", "s"), _add("b", "s", "x", "t"), _add("c", "t", "x", "u"))
    assert _scheduled(chain, {}).storage["t"].buffer == _scheduled(chain, {}).storage["s"].buffer
    parted = _scheduled(chain, {}, memories={"s": "sram", "t": "other"})
    assert parted.storage["t"].buffer != parted.storage["s"].buffer


@pytest.mark.parametrize("seed", range(60))
def test_random_graphs_with_state(seed: int) -> None:
    """`verify_allocated` plays every plan: old values are there for each reader, new ones at the end."""
    chance = random.Random(seed)
    graph = random_graph(chance, WORLD.operators)
    pairs = [
        (name, output)
        for name in graph.inputs
        for output in graph.outputs
        if graph.tensors[name].shape == graph.tensors[output].shape and output not in graph.inputs
    ]
    if not pairs:
        return
    state = dict([chance.choice(pairs)])
    planner = _planner(state)
    plan = planner.plan(planner.bind(graph, WORLD.platform))
    kinds = {buffer.name: buffer.kind for buffer in plan.tiled.buffers}
    assert all(kinds[plan.tiled.scheduled.storage[name].buffer] == "state" for name in state)
    assert sum(pool.used_bytes for pool in plan.pools if pool.kind == "state") > 0
