"""Random networks: the same for the same seed, and integers only once they are lowered."""

from __future__ import annotations

import numpy as np
import pytest

from tilewright.builtin import tilewright_graph_passes
from tilewright.rewrite import rewrite
from tilewright.testing.cluster import CLUSTER, registry_for
from tilewright.testing.one_step import vocabulary
from tilewright.testing.random_networks import KINDS, random_network
from tilewright.testing.side_by_side import SideBySide

BORDER = {"QuantizeLinear", "DequantizeLinear"}
MOVEMENT = {"Reshape", "Transpose", "MaxPool", "Concat", "Upsample"}


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_for_the_same_seed(kind: str) -> None:
    one, again, other = (random_network(kind, seed, vocabulary()) for seed in (3, 3, 4))
    assert [node.op for node in one.graph.nodes] == [node.op for node in again.graph.nodes]
    assert all(np.array_equal(one.feeds[name], again.feeds[name]) for name in one.feeds)
    assert one.graph.nodes != other.graph.nodes


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", [0, 1, 2, 3])
def test_everything_but_the_border_becomes_integers(kind: str, seed: int) -> None:
    graph = random_network(kind, seed, vocabulary()).graph
    lowered = rewrite(graph, vocabulary(), tuple(tilewright_graph_passes())).graph
    left = {node.op for node in lowered.nodes if not node.op.startswith("Q") or node.op in BORDER}
    assert left <= BORDER | MOVEMENT


@pytest.mark.slow
def test_a_deployment_of_a_graph_compiles() -> None:
    network = random_network("sequence", 5, vocabulary())
    lowered = rewrite(network.graph, vocabulary(), tuple(tilewright_graph_passes())).graph
    together = SideBySide(graph=lowered, feeds=network.feeds)
    plan = together.deployment(CLUSTER.name, registry=registry_for(CLUSTER))
    assert plan.scheduled.steps
