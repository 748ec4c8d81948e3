"""Outputs that are recognised as inputs of the next run, by the graph and by names, and those that are not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from onnx import NodeProto, TensorProto, helper, numpy_helper

from tilewright.config.options import Options
from tilewright.config.recognised_state import recognised_states
from tilewright.deployment import Deployment
from tilewright.errors import TilewrightError
from tilewright.frontend.load import Imported
from tilewright.network import imported_with
from tilewright.testing.cluster import CLUSTER, registry_for

Shapes = Mapping[str, Sequence[int]]


def model(
    nodes: Sequence[NodeProto],
    inputs: Shapes,
    outputs: Shapes,
    dtype: int = TensorProto.FLOAT,
    **constants: Any,
) -> bytes:
    given, handed_out = (
        [helper.make_tensor_value_info(name, dtype, shape) for name, shape in ends.items()]
        for ends in (inputs, outputs)
    )
    arrays = [numpy_helper.from_array(np.array(value), name) for name, value in constants.items()]
    graph = helper.make_graph(nodes, "g", given, handed_out, arrays)
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    return bytes(made.SerializeToString())


def cached(cache: str = "a", following: str = "b", cut: int = 1) -> bytes:
    """Four frames that are kept beside a new one; names say nothing."""
    nodes = [
        helper.make_node("Concat", [cache, "x"], ["all"], axis=2),
        helper.make_node("Slice", ["all", "starts", "ends", "axes"], [following]),
        helper.make_node("ReduceMax", ["all"], ["y"], axes=[2]),
    ]
    shapes = {"y": [1, 2, 1], following: [1, 2, 4]}
    inputs = {"x": [1, 2, 1], cache: [1, 2, 4]}
    return model(nodes, inputs, shapes, starts=[cut], ends=[cut + 4], axes=[2])


def recurrent(names: Sequence[str] = ("p", "q", "r", "s")) -> bytes:
    """Two states of one shape, given and handed out, which their places at an LSTM tell from each other."""
    first_h, first_c, last_h, last_c = names
    weights = [
        helper.make_node("ConstantOfShape", [shape], [name]) for shape, name in (("of_w", "w"), ("of_r", "recurring"))
    ]
    lstm = ["x", "w", "recurring", "", "", first_h, first_c]
    nodes = [*weights, helper.make_node("LSTM", lstm, ["y", last_h, last_c], hidden_size=3)]
    states = [1, 1, 3]
    inputs = {"x": [2, 1, 2], first_c: states, first_h: states}
    return model(nodes, inputs, {"y": [2, 1, 1, 3], last_h: states, last_c: states}, of_w=[1, 12, 2], of_r=[1, 12, 3])


def faded(memory: str, following: str) -> bytes:
    """An output that is computed of an input of its shape."""
    nodes = [helper.make_node("Add", ["x", memory], [following]), helper.make_node("Relu", [following], ["y"])]
    return model(nodes, {"x": [1, 2], memory: [1, 2]}, {"y": [1, 2], following: [1, 2]})


def imported(file: bytes, *states: str) -> Imported:
    return imported_with(file, Options(states=states), registry_for(CLUSTER))


def pairs(file: bytes) -> list[str]:
    return [pair.flag for pair in recognised_states(imported(file).graph)]


def test_a_cache_that_is_shifted_is_recognised() -> None:
    (pair,) = recognised_states(imported(cached()).graph)
    assert (pair.output, pair.input, pair.evidence) == ("b", "a", "Concat and Slice shift it")


def test_states_of_a_recurrence_are_told_by_their_places() -> None:
    assert pairs(recurrent()) == ["s:q", "r:p"]


def test_states_of_16_bits_are_those_of_a_recurrence_on_copies() -> None:
    """Floats of 16 bits are computed as float32, with a Cast before and behind."""
    random = np.random.default_rng(1)
    constants = {"w": random.normal(size=(1, 6, 2)), "again": random.normal(size=(1, 6, 2))}
    arrays = {name: array.astype(np.float16) for name, array in constants.items()}
    nodes = [helper.make_node("GRU", ["x", "w", "again", "", "", "p"], ["y", "q"], hidden_size=2)]
    inputs, outputs = {"x": [3, 1, 2], "p": [1, 1, 2]}, {"y": [3, 1, 1, 2], "q": [1, 1, 2]}
    assert pairs(model(nodes, inputs, outputs, TensorProto.FLOAT16, **arrays)) == ["q:p"]


@pytest.mark.parametrize(
    ("memory", "following"),
    [("h0", "hn"), ("cache_in", "cache_out"), ("memory", "memory_next"), ("inputState2", "outputState2")],
)
def test_names_that_say_which_run_is_meant_are_a_pair(memory: str, following: str) -> None:
    assert pairs(faded(memory, following)) == [f"{following}:{memory}"]


@pytest.mark.parametrize(("memory", "following"), [("in", "out"), ("cache1", "cache2"), ("level", "sum")])
def test_other_names_are_none(memory: str, following: str) -> None:
    assert pairs(faded(memory, following)) == []


@pytest.mark.parametrize(("third", "kept"), [("c", []), ("next_a", ["next_a:a"])])
def test_of_two_outputs_that_could_be_names_decide(third: str, kept: list[str]) -> None:
    nodes = [
        helper.make_node("Concat", ["a", "x"], ["all"], axis=1),
        helper.make_node("Slice", ["all", "first", "last", "axes"], ["b"]),
        helper.make_node("Slice", ["all", "first", "last", "axes"], [third]),
    ]
    shapes = {"b": [1, 2], third: [1, 2]}
    assert pairs(model(nodes, {"x": [1, 1], "a": [1, 2]}, shapes, first=[1], last=[3], axes=[1])) == kept


def test_the_note_names_flags_that_keep_them() -> None:
    (note,) = [one for one in imported(cached()).diagnostics if one.code == "TW4050"]
    assert note.details == (
        "'b' becomes 'a': Concat and Slice shift it",
        "--state b:a keeps them; so does --state auto",
    )
    assert not imported(cached(), "b:a").diagnostics
    (note,) = imported(cached(), "auto").diagnostics
    assert note.details[-1] == "the same as --state b:a"


def test_auto_keeps_what_the_flags_would_keep() -> None:
    def compiled(*states: str) -> Deployment:
        return Deployment(recurrent(), CLUSTER.name, Options(states=states), registry_for(CLUSTER))

    auto, typed = compiled("auto"), compiled("r:p", "s:q")
    assert {(state.output, state.input) for state in auto.states} == {("r", "p"), ("s", "q")}
    assert auto.allocated.decisions.state == typed.allocated.decisions.state
    assert auto.worst_case_buffer_size == typed.worst_case_buffer_size


def test_a_flag_about_one_of_them_overrules() -> None:
    found = Deployment(cached(), CLUSTER.name, Options(states=("auto", "b:a=0.5")), registry_for(CLUSTER))
    (state,) = found.states
    assert state.initial.min() == 0.5


def test_auto_is_refused_where_nothing_is_recognised() -> None:
    with pytest.raises(TilewrightError) as raised:
        imported(faded("level", "sum"), "auto")
    assert raised.value.code == "TW1440"
    assert raised.value.details == ("inputs: x, level", "outputs: y, sum")
