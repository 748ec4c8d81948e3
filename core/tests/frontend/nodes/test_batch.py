"""An open first dimension that inputs share is a batch of one; every other open dimension is asked for."""

from __future__ import annotations

import pytest
from onnx import TensorProto, helper

NOTE = "TW1229"


@pytest.fixture
def taking(model):
    """A network with inputs of these shapes, each through a Relu."""

    def make(**shapes):
        inputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, dims) for name, dims in shapes.items()]
        nodes = [helper.make_node("Relu", [name], [f"{name}_out"]) for name in shapes]
        outputs = [helper.make_tensor_value_info(f"{name}_out", TensorProto.FLOAT, None) for name in shapes]
        return model(nodes, inputs=inputs, outputs=outputs)

    return make


@pytest.mark.parametrize("symbol", ["batch", "N", "unk__0", "batch size", "None"])
def test_a_batch_is_one_and_a_note_says_so(loads, taking, symbol):
    found = loads(taking(x=[symbol, 3]))
    assert found.graph.tensors["x_out"].shape == (1, 3)
    (note,) = found.diagnostics
    assert (note.code, note.severity) == (NOTE, "note")
    quoted = f"'{symbol}=1'" if " " in symbol else f"{symbol}=1"
    assert f"try:  --dim {quoted}  " in note.render()
    assert f"input 'x' f32 [{symbol},3]" in note.where


@pytest.mark.parametrize("dim", [None, "", "?"])
def test_a_batch_without_a_name_is_called_by_its_place(loads, taking, dim):
    found = loads(taking(x=[dim, 3]))
    assert found.graph.tensors["x"].shape == (1, 3)
    assert "--dim 'x[0]=1'" in found.diagnostics[0].render()
    assert loads(taking(x=[dim, 3]), dims={"x[0]": 5}).graph.tensors["x"].shape == (5, 3)


@pytest.mark.parametrize("number", [0, 1, 4])
def test_a_number_that_is_given_is_taken_without_a_note(loads, taking, number):
    found = loads(taking(x=["batch", 3]), dims={"batch": number})
    assert found.graph.tensors["x"].shape == (number, 3)
    assert found.diagnostics == ()


@pytest.mark.parametrize(
    "shapes",
    [
        {"x": ["N", 3], "z": ["N", 5, 5]},
        {"x": ["N", 3], "rate": []},
        {"x": ["N", 3], "table": [7, 2]},
        {"table": [7, 2], "x": ["N", 3]},
        {"x": ["N", 3], "state": [2, "N", 8]},
        {"state": [2, "N", 8], "x": ["N", 3]},
    ],
    ids=str,
)
def test_one_number_for_all_inputs_that_have_the_symbol(loads, taking, shapes):
    found = loads(taking(**shapes))
    wanted = {name: tuple(1 if dim == "N" else dim for dim in dims) for name, dims in shapes.items()}
    assert {name: found.graph.tensors[name].shape for name in shapes} == wanted
    assert [one.code for one in found.diagnostics] == [NOTE]
    assert "input 'x'" in found.diagnostics[0].where


@pytest.mark.parametrize(
    ("shapes", "asked"),
    [
        ({"x": ["unk__0", 3], "z": ["unk__1", 5]}, "--dim unk__0=1 --dim unk__1=1"),
        ({"x": [None, 3], "z": [None, 5]}, "--dim 'x[0]=1' --dim 'z[0]=1'"),
        ({"x": ["N", 3], "z": [None, 5]}, "--dim N=1 --dim 'z[0]=1'"),
        ({"x": ["?", 3], "z": ["?", 5]}, "--dim 'x[0]=1' --dim 'z[0]=1'"),
        ({"x": ["T", "T"]}, "--dim T=1"),
        ({"x": ["T", 3], "mask": ["T", "T"]}, "--dim T=1"),
        ({"x": ["T", 3], "mask": [1, "T", "T"]}, "--dim T=1"),
        ({"x": [1, "N"]}, "--dim N=1"),
        ({"x": [1, 3], "state": [2, "N"]}, "--dim N=1"),
    ],
    ids=str,
)
def test_what_is_no_batch_is_asked_for(refuses, taking, shapes, asked):
    text = refuses(taking(**shapes), "TW1205")
    assert text.rstrip().endswith(f"try:  {asked}")
    assert "taken to be 1" not in text


def test_other_dimensions_are_asked_for_beside_it(loads, refuses, taking):
    text = refuses(taking(x=["N", 3, "height"]), "TW1205")
    assert "1 dimension(s) of the inputs have no number: 'height'" in text
    assert "'N', the first dimension of the inputs, is taken to be 1: --dim N=NUMBER makes it another" in text
    assert text.rstrip().endswith("try:  --dim height=1")
    assert loads(taking(x=["N", 3, "height"]), dims={"height": 2}).graph.tensors["x"].shape == (1, 3, 2)


def test_a_constant_is_no_input(loads, model):
    """An input with an initialiser of its name, as before IR 4."""
    made = model(
        [helper.make_node("Add", ["x", "w"], ["y"])],
        inputs=[
            helper.make_tensor_value_info(name, TensorProto.FLOAT, [dim, 3]) for name, dim in (("x", "N"), ("w", "M"))
        ],
    )
    made.graph.initializer.append(helper.make_tensor("w", TensorProto.FLOAT, [1, 3], [1.0, 2.0, 3.0]))
    assert loads(made).graph.tensors["x"].shape == (1, 3)


def test_an_error_that_the_number_may_have_made_names_it(refuses, model):
    made = model(
        [helper.make_node("MatMul", ["w", "x"], ["y"])],
        inputs=[helper.make_tensor_value_info("x", TensorProto.FLOAT, ["rows", 3])],
    )
    made.graph.initializer.append(helper.make_tensor("w", TensorProto.FLOAT, [2, 4], [0.0] * 8))
    assert "'rows', the first dimension of the inputs, is taken to be 1: --dim rows=NUMBER" in refuses(made, "TW1310")


def test_what_weights_say_is_no_guess(loads, model):
    made = model(
        [helper.make_node("Gemm", ["x", "w"], ["y"], transA=1)],
        inputs=[helper.make_tensor_value_info("x", TensorProto.FLOAT, ["columns", 3])],
    )
    made.graph.initializer.append(helper.make_tensor("w", TensorProto.FLOAT, [4, 2], [0.0] * 8))
    found = loads(made)
    assert (found.graph.tensors["x"].shape, found.diagnostics) == ((4, 3), ())
