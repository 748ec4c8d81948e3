"""The graph while it is made: names, values stored and real, constants within their limits."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from flat_models import G, Op, T, constant, file_of

from tilewright.api.importer import Limits
from tilewright_tflite.errors import LostError, RefusedError
from tilewright_tflite.flatbuffer import BudgetError
from tilewright_tflite.network import Network
from tilewright_tflite.reading import read

LIMITS = Limits()


def network(*tensors: T, limits: Limits = LIMITS) -> Network:
    op = Op(code="RELU", inputs=(0, -1), outputs=(0,))
    graph = read(file_of(G(tensors=tensors, ops=[op], inputs=(), outputs=())), LIMITS).graphs[0]
    net = Network(graph, limits)
    net.begin(graph.operators[0])
    return net


def test_names_are_the_files_own_and_each_is_one(read_in: Any) -> None:
    net = network(T(name="same"), T(name="same"), T())
    names = [net.name(tensor) for tensor in net.graph.tensors]
    assert names == ["same", "same_1", "tensor_2"] and net.fresh("same") == "same_2"


def test_a_node_is_named_after_its_operator_what_stands_around_it_too() -> None:
    net = network(T(name="x"))
    x = net.name(net.graph.tensors[0])
    net.moved(x, (0,))
    net.node("Conv", (x,))
    net.node("Conv", (x,))
    assert [node.name for node in net.nodes] == ["RELU_0/Transpose", "RELU_0", "RELU_0/Conv"]


def test_a_tensor_is_dequantised_once() -> None:
    net = network(constant(np.int8([1, 2]), scale=(0.5,), zero=(0,)))
    tensor = net.graph.tensors[0]
    assert net.real(tensor) == net.real(tensor) and [node.op_type for node in net.nodes] == ["DequantizeLinear"]
    assert net.weights(tensor, (0,)) == net.weights(tensor, (0,)) and len(net.nodes) == 2


def test_the_last_node_writes_the_tensor_itself() -> None:
    net = network(T(name="x", type="float32", shape=(1,)), T(name="y", type="float32", shape=(1,)))
    x, y = net.graph.tensors
    net.take(x, "x")
    net.put(y, net.node("Relu", (net.real(x),)))
    assert [list(node.output) for node in net.nodes] == [["y"]] and net.stored(y) == "y"


def test_a_value_that_others_read_keeps_its_name() -> None:
    net = network(T(name="x", shape=(1,), scale=(1.0,), zero=(0,)), T(name="y", type="float32", shape=(1,)))
    x, y = net.graph.tensors
    net.take(x, "x")
    real = net.real(x)
    net.put(y, real)
    assert net.real(x) == real and [node.op_type for node in net.nodes] == ["DequantizeLinear", "Identity"]


def test_constants_are_within_their_limit() -> None:
    net = network(constant(np.zeros(100, np.int8)), limits=replace(LIMITS, constant_bytes=150))
    tensor = net.graph.tensors[0]
    net.stored(tensor)
    with pytest.raises(BudgetError, match="constants"):
        net.weights(tensor, (0,))


def test_bytes_are_those_of_the_shape() -> None:
    net = network(T(name="short", shape=(3,), data=b"12"), T(name="text", type="string", shape=(1,), data=b"1"))
    with pytest.raises(RefusedError, match="'short' has 2 bytes, and its shape needs 3"):
        net.stored(net.graph.tensors[0])
    with pytest.raises(RefusedError, match="'text' is string"):
        net.stored(net.graph.tensors[1])


def test_what_is_not_there_is_said() -> None:
    net = network(T(name="x"))
    (op,) = net.graph.operators
    with pytest.raises(RefusedError, match="its input 1 is missing"):
        net.input(op, 1)
    with pytest.raises(RefusedError, match="its output 1 is missing"):
        net.output(op, 1)
    with pytest.raises(RefusedError, match="written by no operator"):
        net.stored(net.input(op, 0))
    net.lost.add(0)
    with pytest.raises(LostError):
        net.input(op, 0)


def test_state_is_an_input_an_output_and_what_joins_them() -> None:
    net = network(T(name="memory", type="float32", shape=(2,), variable=True))
    (tensor,) = net.graph.tensors
    kept = net.kept(tensor, net.name(tensor))
    net.keep(kept, net.node("Relu", (kept,)), None, "memory")
    assert (net.states[0].input, net.states[0].output, net.states[0].initial) == ("memory", "memory_next", None)
    assert [name for name, _ in (*net.state_inputs, *net.state_outputs)] == ["memory", "memory_next"]


def test_results_have_the_declared_shape() -> None:
    net = network(T(name="y", shape=(2,)))
    with pytest.raises(RefusedError, match=r"'y' is declared \[2\], not \[3\]"):
        net.put_known(net.graph.tensors[0], np.zeros(3, np.int8))


def test_a_name_that_many_have_takes_no_longer_than_another() -> None:
    net = network(T(name="x"))
    names = [net.fresh("same") for _ in range(20_000)]
    assert names[-1] == "same_19999" and len(set(names)) == 20_000


def test_nodes_and_constants_are_counted() -> None:
    net = network(T(name="x"), limits=replace(LIMITS, nodes=1, initializers=1))
    net.node("Relu", ("x",))
    net.integers((1,), "one")
    with pytest.raises(BudgetError, match="nodes"):
        net.node("Relu", ("x",))
    with pytest.raises(BudgetError, match="initializers"):
        net.integers((1,), "two")
