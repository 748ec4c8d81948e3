"""Outputs that become inputs of the next run: never written while the old value is read, and shared where possible."""

from __future__ import annotations

import random

import pytest

from tilewright.allocate.best_fit import BestFit
from tilewright.ir.graphs.graph import Graph, Node, Tensor
from tilewright.ir.plans.allocation import Budget
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.plans.stages import Scheduled
from tilewright.ir.tensors.dtypes import DType
from tilewright.plan.proposals.planner import Planner
from tilewright.schedule import schedule
from tilewright.testing.random_graphs import random_graph, small_world
from tilewright.tile.strategies import WholeTiler

WORLD = small_world()


def _planner(state: dict[str, str], **pins: dict[str, str]) -> Planner:
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


def _scheduled(graph: Graph, state: dict[str, str], **pins: dict[str, str]) -> Scheduled:
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
