"""Damaged files: the outcome is a graph or a TilewrightError, quickly, and never anything else."""

from __future__ import annotations

import numpy as np
import pytest
from counted import counted
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper

from tilewright.errors import TilewrightError

MOST_CALLS = 60_000  # some ten times what the undamaged file takes


@pytest.fixture(scope="module")
def small(model) -> bytes:
    """One of everything: typed and raw data, shape arithmetic, QDQ, If, a local function."""
    floats = numpy_helper.from_array(np.ones((2, 1, 3, 3), np.float32), "w")
    typed = helper.make_tensor("b", TensorProto.FLOAT, [2], [0.5, 0.25])
    scale, zero = (
        helper.make_tensor("s", TensorProto.FLOAT, [], [0.5]),
        helper.make_tensor("z", TensorProto.INT8, [], [3]),
    )
    branch = helper.make_graph(
        [helper.make_node("Relu", ["q"], ["r"])], "branch", [], [helper.make_tensor_value_info("r", 1, None)]
    )
    body = helper.make_function(
        "local", "f", ["a"], ["b"], [helper.make_node("Add", ["a", "a"], ["b"])], [helper.make_opsetid("", 17)]
    )
    nodes = [
        helper.make_node("Conv", ["x", "w", "b"], ["c"], "conv", kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
        helper.make_node("QuantizeLinear", ["c", "s", "z"], ["i"]),
        helper.make_node("DequantizeLinear", ["i", "s", "z"], ["q"]),
        helper.make_node("Constant", [], ["t"], value=numpy_helper.from_array(np.array(True))),
        helper.make_node("If", ["t"], ["k"], then_branch=branch, else_branch=branch),
        helper.make_node("f", ["k"], ["d"], domain="local"),
        helper.make_node("Shape", ["d"], ["shape"]),
        helper.make_node("Constant", [], ["one"], value_ints=[0, 1]),
        helper.make_node("Gather", ["shape", "one"], ["kept"]),
        helper.make_node("Constant", [], ["rest"], value_ints=[-1]),
        helper.make_node("Concat", ["kept", "rest"], ["target"], axis=0),
        helper.make_node("Reshape", ["d", "target"], ["y"]),
    ]
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 1, 4, 4])
    made = model(nodes, inputs=[x], constants=[floats, typed, scale, zero], domains={"local": 1}, functions=[body])
    return made.SerializeToString()


def outcome(loads, data: bytes) -> None:
    def read() -> None:
        try:
            loads(data, dims={"N": 1}).graph.verify()
        except TilewrightError as error:
            str(error)

    _, calls = counted(read)
    assert calls < MOST_CALLS


fuzz = settings(max_examples=400, deadline=None, suppress_health_check=list(HealthCheck))


def test_it_is_sound(loads, small):
    graph = loads(small, dims={"N": 1}).graph
    assert graph.tensors["y"].shape == (1, 2, 16)


@pytest.mark.slow
@fuzz
@given(flips=st.lists(st.tuples(st.integers(0, 1 << 20), st.integers(1, 255)), min_size=1, max_size=4))
def test_flipped_bytes(loads, small, flips):
    data = bytearray(small)
    for at, mask in flips:
        data[at % len(data)] ^= mask
    outcome(loads, bytes(data))


@pytest.mark.slow
@fuzz
@given(st.data())
def test_truncated(loads, small, data):
    outcome(loads, small[: data.draw(st.integers(0, len(small)))])


@pytest.mark.slow
@fuzz
@given(first=st.integers(0, 1 << 20), length=st.integers(0, 40), target=st.integers(0, 1 << 20))
def test_moved_pieces(loads, small, first, length, target):
    first, target = first % len(small), target % len(small)
    outcome(loads, small[:target] + small[first : first + length] + small[target:])


@pytest.mark.slow
@fuzz
@given(st.binary(max_size=200))
def test_any_bytes(loads, data):
    outcome(loads, data)
