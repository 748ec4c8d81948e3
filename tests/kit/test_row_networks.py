"""Networks for tests of plans by rows: they are what they say they are."""

from __future__ import annotations

import numpy as np
import pytest

from row_networks import on_one_memory, row_network
from tilewright.comparison.reference import run
from tilewright.testing.one_step import vocabulary


@pytest.mark.parametrize("seed", range(20))
def test_values_are_whole_numbers_that_float32_adds_up_exactly(seed: int) -> None:
    network = row_network(seed, vocabulary())
    values = run(network.graph, network.feeds, vocabulary())
    for node in network.graph.nodes:
        for name in node.outputs:
            assert np.array_equal(values[name], np.round(values[name])) and np.abs(values[name]).max() < 2**20


def test_the_same_seed_is_the_same_network() -> None:
    assert row_network(3, vocabulary()).graph == row_network(3, vocabulary()).graph


def test_together_they_have_every_kind_of_layer() -> None:
    kinds = {node.op for seed in range(40) for node in row_network(seed, vocabulary()).graph.nodes}
    assert kinds >= {"Conv", "MaxPool", "Add", "Concat", "Upsample", "ConvTranspose", "ReduceSum", "Gemm"}


def test_every_step_has_a_place_in_the_schedule() -> None:
    machine = on_one_memory(row_network(0, vocabulary()).graph)
    assert sorted(machine.numbers.values()) == list(range(len(machine.scheduled.steps)))
