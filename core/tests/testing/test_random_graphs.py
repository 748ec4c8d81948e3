"""Random graphs are sound and the seed's, and full of what they are for: views, shared values, several outputs."""

from __future__ import annotations

import random

import pytest

from tilewright.testing.random_graphs import random_graph, small_world

WORLD = small_world()
GRAPHS = [random_graph(random.Random(seed), WORLD.operators, most_nodes=8) for seed in range(60)]


def test_every_graph_is_sound() -> None:
    for graph in GRAPHS:
        assert graph.verify() is graph or graph.verify() == graph
        assert 1 <= len(graph.nodes) <= 8 and 1 <= len(graph.inputs) <= 2
        read = {name for node in graph.nodes for name in node.inputs}
        made = {name for node in graph.nodes for name in node.outputs}
        assert set(graph.outputs) == made - read


def test_the_seed_says_which() -> None:
    assert random_graph(random.Random(5), WORLD.operators, most_nodes=8) == GRAPHS[5] != GRAPHS[6]


def test_everything_occurs() -> None:
    ops = {node.op for graph in GRAPHS for node in graph.nodes}
    assert ops == {"Clip", "Add", "Reshape", "Transpose", "Slice", "Concat"} <= set(WORLD.operators)
    assert any(len(graph.outputs) > 1 for graph in GRAPHS)
    shared = [[name for node in graph.nodes for name in node.inputs] for graph in GRAPHS]
    assert any(len(names) > len(set(names)) for names in shared)


@pytest.mark.parametrize("size", [None, 512])
def test_the_world_is_one_memory_and_the_kernels_of_its_operators(size: int | None) -> None:
    world = small_world(size)
    assert [memory.size_bytes for memory in world.platform.memories if memory.kind == "ram"] == [size]
    assert {kernel.op for kernel in world.kernels.values()} <= set(world.operators)
