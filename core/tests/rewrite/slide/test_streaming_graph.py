"""The network that is called with what is new: its border, its states, and what its tensors hold."""

from __future__ import annotations

from typing import Any

import numpy as np

from tilewright.rewrite.slide.streaming_graph import Part


def test_the_border_has_what_is_new_and_the_states(layers: Any, streams: Any) -> None:
    stream = streams.of(layers.tcn(), 2, 3)
    graph = stream.graph
    assert graph.tensors["x"].shape == (1, 2, 3)
    assert graph.inputs == ("x", *(state.input for state in stream.states))
    assert graph.outputs == (*stream.window.outputs, *(state.output for state in stream.states))
    for state in stream.states:
        assert graph.tensors[state.input].shape == graph.tensors[state.output].shape == state.initial.shape


def test_nodes_say_what_they_come_from(layers: Any, streams: Any) -> None:
    stream = streams.of(layers.tcn(), 2, 1)
    convolutions = [node for node in stream.graph.nodes if node.op == "QConv"]
    assert {name for node in convolutions for name in node.origin} == {
        node.name for node in stream.window.nodes if node.op == "QConv"
    }


def test_weights_are_there_once(layers: Any, streams: Any) -> None:
    stream = streams.of(layers.tcn(), 2, 1)
    large = [array for array in stream.graph.constants.values() if array.size > 1]
    assert len(large) == len(stream.window.constants)


def test_a_part_is_elements_or_their_sum() -> None:
    values = {"v": np.arange(-6, 6, dtype=np.int8).reshape(1, 2, 6)}
    assert Part(value="v", axis=2, interval=(1, 3)).of(values).tolist() == [[[-5, -4], [1, 2]]]
    assert Part(value="v", axis=2, interval=(1, 3), summed=(2,), zeros=10).of(values).tolist() == [[-19, -7]]
