"""The order in which a file lists its nodes, and what it merged before, change nothing about a plan."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kit.networks import made
from kit.small_models import model
from onnx import ModelProto, NodeProto, helper

from tilewright.config.options import Options
from tilewright.deployment import Deployment
from tilewright.ir.plans.stages import Allocated
from tilewright.plan.proposals.planner import ram_bytes

CHANNELS, SIDE = 8, 8


def shuffled(network: ModelProto, seed: int) -> ModelProto:
    """The same network, its nodes in another order in which they can run."""
    chance, other = random.Random(seed), ModelProto()
    other.CopyFrom(network)
    known = {"", *(value.name for value in network.graph.input), *(value.name for value in network.graph.initializer)}
    waiting, order = list(network.graph.node), list[NodeProto]()
    while waiting:
        ready = [node for node in waiting if known.issuperset(node.input)]
        order.append(chance.choice(ready))
        waiting.remove(order[-1])
        known.update(order[-1].output)
    del other.graph.node[:]
    other.graph.node.extend(order)
    return other


def planned(network: ModelProto, target: str = "generic", **asked: object) -> Allocated:
    options = replace(Options(), **asked)  # type: ignore[arg-type]  # each field has its own
    return Deployment(network.SerializeToString(), target, options).allocated


def told(plan: Allocated) -> tuple[list[str], list[tuple[object, ...]]]:
    """Operators in order, and the life and place of every buffer: all of a plan but names, which a file need not give,
    so that nodes are named by their place in it.
    """
    tiled = plan.tiled
    operators = {node.name: node.op for node in tiled.scheduled.bound.graph.nodes}
    found = [
        (buffer.kind, buffer.first, buffer.last, buffer.size_bytes, plan.placements[buffer.name])
        for buffer in tiled.buffers
    ]
    return [operators[step.nodes[0]] for step in tiled.scheduled.steps], sorted(found, key=str)


@pytest.mark.parametrize("name", ["attention_f32", "recurrent_f32", "resnet8_int8"])
@pytest.mark.parametrize("target", ["generic", "siracusa"])
def test_a_shuffled_file_has_the_same_plan(name: str, target: str) -> None:
    network = made(name)
    assert told(planned(shuffled(network, 7), target)) == told(planned(network, target))


def cells(seed: int, nodes: int = 14) -> ModelProto:
    """Convolutions, sums and pools at random, as searched architectures have them; pools of one value are equal."""
    chance, made_nodes = random.Random(seed), list[NodeProto]()
    weights = np.zeros((CHANNELS, CHANNELS, 1, 1), np.float32)
    values = ["x"]
    for number in range(nodes):
        kind, first, second = chance.choice("capp"), chance.choice(values[-5:]), chance.choice(values[-5:])
        name = f"v{number}"
        if kind == "c":
            made_nodes.append(helper.make_node("Conv", [first, f"w{number % 2}"], [name]))
        elif kind == "a":
            made_nodes.append(helper.make_node("Add", [first, second], [name]))
        else:
            made_nodes.append(helper.make_node("MaxPool", [first], [name], kernel_shape=[3, 3], pads=[1, 1, 1, 1]))
        values.append(name)
    read = {name for node in made_nodes for name in node.input}
    left = [name for name in values[1:] if name not in read]
    made_nodes.append(helper.make_node("Concat", left, ["all"], axis=1))
    made_nodes.append(helper.make_node("GlobalAveragePool", ["all"], ["y"]))
    shape = (1, CHANNELS, SIDE, SIDE)
    return model(*made_nodes, inputs={"x": shape}, constants={"w0": weights, "w1": weights + 1}, opset=17)


@pytest.mark.slow
@settings(max_examples=12, deadline=None)
@given(st.integers(0, 2**32), st.sampled_from(["speed", "ram"]))
def test_random_cells_in_random_orders_have_the_same_plan(seed: int, optimize: str) -> None:
    network = cells(seed)
    first, second = (planned(shuffled(network, other), optimize=optimize) for other in (seed, seed + 1))
    assert ram_bytes(first) == ram_bytes(second)
    assert told(first) == told(second)
