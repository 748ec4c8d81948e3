"""Hostile names stay names: kept where they are the user's, unique, and harmless in messages."""

from __future__ import annotations

import pytest
from onnx import TensorProto, helper

from tilewright.frontend.reading.names import UniqueNames, show

HOSTILE = [
    "int",
    "class",
    "a.b",
    'x"; system("rm -rf /"); "',
    "*/ #error INJECTED /*",
    "line\nbreak",
    "bidi\u202etxet",
    "esc\x1b[2J",
    "??/",
    "back\\slash",
    "",
]


@pytest.mark.parametrize("name", HOSTILE)
def test_inputs_and_outputs_keep_their_names(loads, model, name):
    if not name:
        return
    x = helper.make_tensor_value_info(name, TensorProto.FLOAT, [1])
    y = helper.make_tensor_value_info(name + "'", TensorProto.FLOAT, None)
    graph = loads(model([helper.make_node("Relu", [name], [name + "'"], name)], inputs=[x], outputs=[y])).graph
    assert graph.inputs == (name,) and graph.outputs == (name + "'",)


def test_names_that_only_c_cannot_tell_apart_stay_apart(loads, model):
    nodes = [
        helper.make_node("Relu", ["x"], ["a.b"]),
        helper.make_node("Relu", ["x"], ["a_b"]),
        helper.make_node("Relu", ["x"], ["A_b"]),
        helper.make_node("Max", ["a.b", "a_b", "A_b"], ["y"]),
    ]
    assert {"a.b", "a_b", "A_b"} <= set(loads(model(nodes)).graph.tensors)


@pytest.mark.parametrize("name", HOSTILE)
def test_messages_are_printable(refuses, model, name):
    text = refuses(model([helper.make_node("Det" + name, ["x"], ["y"], name)]), "TW2101", 4)
    assert "\x1b" not in text and "\u202e" not in text


def test_shown_names_are_short_and_escaped():
    assert show("a\nb") == "'a\\nb'"
    assert show("\u202e") == "'\\u202e'"
    assert len(show("n" * 4096)) < 80


def test_generated_names_never_take_a_name_of_the_file():
    names = UniqueNames(["a", "a_1"])
    assert [names.take("a"), names.claim("a"), names.claim("a"), names.take("b"), names.take("b")] == [
        "a_2",
        "a",
        "a_3",
        "b",
        "b_1",
    ]
