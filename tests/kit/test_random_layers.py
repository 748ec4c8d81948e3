"""Layers that hypothesis draws: each is one scheduled step on the cluster, and every kind comes up."""

from __future__ import annotations

import pytest
from hypothesis import find, given, settings

from random_layers import layers, schedule_on
from tilewright.testing.cluster import CLUSTER

KINDS = ("Conv", "MaxPool", "Gemm", "MatMul", "Add", "Softmax", "Slice", "ReduceSum", "Concat")


@settings(max_examples=25)
@given(layer=layers())
def test_a_layer_is_one_step_that_writes_something(layer: dict[str, object]) -> None:
    scheduled = schedule_on(layer, CLUSTER)
    assert [step.nodes for step in scheduled.steps] == [("node",)]
    (output,) = scheduled.bound.graph.outputs
    assert scheduled.bound.graph.tensors[output].elements > 0
    assert layer["op"] in KINDS


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_drawn(kind: str) -> None:
    assert find(layers(), lambda layer: layer["op"] == kind)["op"] == kind
