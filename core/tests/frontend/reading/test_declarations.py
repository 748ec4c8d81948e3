"""Declared types hold, or the file is wrong, but for extents that onnx's own inference rounds up behind a pool. Shapes
of inputs that are symbolic, missing, negative or contradict the file are refused.
"""

from __future__ import annotations

import onnx
import pytest
from onnx import TensorProto, helper

from tilewright.errors import Exit

IMAGE = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 1, 7, 7])
POOL = {"kernel_shape": [2, 2], "strides": [3, 3], "pads": [0, 0, 2, 2]}  # a third window would begin in the padding


def _pooled(model, extents, *, ceil_mode=1, type_=TensorProto.FLOAT, between=None):
    """Pool, Relu; `extents` declared for the output, `between` for the pool's."""
    nodes = [
        helper.make_node("MaxPool", ["x"], ["p"], **POOL, ceil_mode=ceil_mode),
        helper.make_node("Relu", ["p"], ["y"]),
    ]
    network = model(nodes, inputs=[IMAGE], outputs=[helper.make_tensor_value_info("y", type_, extents)])
    if between:
        network.graph.value_info.append(helper.make_tensor_value_info("p", TensorProto.FLOAT, between))
    return network


def test_extents_behind_a_rounded_pool_are_a_warning(loads, model) -> None:
    found = loads(_pooled(model, [1, 1, 4, 4], between=[1, 1, 4, 4]))
    assert found.graph.tensors["y"].shape == (1, 1, 3, 3)
    assert [(each.code, each.severity) for each in found.diagnostics] == [("TW1225", "warning")]
    assert "2 value(s)" in found.diagnostics[0].message


def test_right_extents_say_nothing(loads, model) -> None:
    assert not loads(_pooled(model, [1, 1, 3, 3], between=[1, 1, 3, 3])).diagnostics


@pytest.mark.parametrize(("extents", "options"), [([1, 1, 4, 4], {"ceil_mode": 0}), ([1, 16], {})])
def test_shapes_that_no_rounding_explains_are_another_warning(loads, model, extents, options) -> None:
    found = loads(_pooled(model, extents, **options))
    assert [(each.code, each.severity) for each in found.diagnostics] == [("TW1212", "warning")]


def test_no_rounding_explains_a_type(refuses, model) -> None:
    refuses(_pooled(model, [1, 1, 4, 4], type_=TensorProto.INT8), "TW1212")


@pytest.fixture
def shaped(model):
    def make(dims, outputs=None, values=(), data_type=TensorProto.FLOAT):
        x = helper.make_tensor_value_info("x", data_type, dims)
        made = model([helper.make_node("Relu", ["x"], ["m"], "r"), helper.make_node("Relu", ["m"], ["y"])], inputs=[x])
        if outputs is not None:
            made.graph.output[0].CopyFrom(helper.make_tensor_value_info("y", *outputs))
        made.graph.value_info.extend(values)
        return made

    return make


def test_symbols_are_listed_with_what_to_type(refuses, shaped):
    text = refuses(shaped(["batch", 3, "height"]), "TW1205")
    assert "'height'" in text.splitlines()[0]
    assert "try:  --dim height=1" in text
    assert "try:  --dim height=1 --dim width=1" in refuses(shaped([1, "height", "width"]), "TW1205")


def test_symbols_take_values(loads, shaped):
    graph = loads(shaped(["batch", 3, "batch"]), dims={"batch": 2}).graph
    assert graph.tensors["y"].shape == (2, 3, 2)


def test_a_nameless_dimension_is_called_by_place(loads, refuses, shaped):
    assert "'x[1]=1'" in refuses(shaped([3, None]), "TW1205")
    assert "'x[1]=1'" in refuses(shaped([3, "?"]), "TW1205")
    assert loads(shaped([3, "?"]), dims={"x[1]": 5}).graph.tensors["y"].shape == (3, 5)


def test_a_shell_cannot_be_reached_through_a_symbol(refuses, shaped):
    assert "'N; rm -rf x=1'" in refuses(shaped([1, "N; rm -rf x"]), "TW1205")


def test_no_shape_at_all(refuses, shaped):
    assert "no shape" in refuses(shaped(None), "TW1205")


@pytest.mark.parametrize(("dims", "given"), [([1], {"N": 1}), (["N"], {"M": 1, "N": 1}), (["N"], {"N": -1})])
def test_dim_that_fits_nothing(refuses, shaped, dims, given):
    refuses(shaped(dims), "TW1219", Exit.USAGE, dims=given)


@pytest.mark.parametrize("dims", [[-2], [1 << 40], [1 << 31, 1 << 31], [65536, 65536]])
def test_absurd_inputs(refuses, shaped, dims):
    assert "input 'x'" in refuses(shaped(dims), "TW1206")


def test_extent_zero_is_allowed(loads, shaped):
    assert loads(shaped([0, 4])).graph.tensors["y"].elements == 0


@pytest.mark.parametrize("data_type", [TensorProto.FLOAT8E5M2, TensorProto.STRING, 0, 99])
def test_input_types(refuses, shaped, data_type):
    refuses(shaped([1], data_type=data_type), "TW2102", Exit.UNSUPPORTED)


def test_a_sequence_input(refuses, model):
    x = helper.make_tensor_sequence_value_info("x", TensorProto.FLOAT, [1])
    refuses(model([helper.make_node("Relu", ["x"], ["y"])], inputs=[x]), "TW2102", Exit.UNSUPPORTED)


def test_an_output_of_another_type(refuses, loads, shaped):
    made = shaped([1, 4], (TensorProto.INT8, [1, 4]))
    text = refuses(made, "TW1212")
    assert "it is f32 [1,4]" in text
    _type_what_is_printed(text, made)
    assert loads(made).graph.tensors["y"].shape == (1, 4)


@pytest.mark.parametrize("dims", [[1, 5], [4], ["a"], [1, 4, "b"]])
def test_an_output_of_another_shape_is_a_warning(loads, shaped, dims):
    made = shaped([1, 4], (TensorProto.FLOAT, dims))
    found = loads(made)
    (warning,) = found.diagnostics
    assert (warning.code, warning.severity) == ("TW1212", "warning")
    assert "but is [1,4]" in warning.message
    assert found.graph.tensors["y"].shape == (1, 4)
    _type_what_is_printed(f"try: {warning.fix[0]}", made)
    assert not loads(made).diagnostics


def test_a_value_of_another_shape_is_a_warning(loads, shaped):
    made = shaped([1, 4], values=[helper.make_tensor_value_info("m", TensorProto.FLOAT, [2, 4])])
    (warning,) = loads(made).diagnostics
    assert "'m'" in warning.message
    _type_what_is_printed(f"try: {warning.fix[0]}", made)
    assert not loads(made).diagnostics


def _type_what_is_printed(text, made):
    """Executes the statement of an error's first `try:` line on the model."""
    line = next(line for line in text.splitlines() if line.lstrip().startswith("try:"))
    exec(line.split("`")[1], {"onnx": onnx, "model": made})  # a sentence of ours


def test_declared_symbols_agree_with_anything_or_with_their_value(loads, refuses, shaped):
    free = (TensorProto.FLOAT, ["other", 4])
    assert loads(shaped([1, 4], free)).graph.outputs == ("y",)
    bound = (TensorProto.FLOAT, [4, "N"])
    assert [each.code for each in loads(shaped(["N", 4], bound), dims={"N": 1}).diagnostics] == ["TW1212"]
    assert not loads(shaped(["N", 4], bound), dims={"N": 4}).diagnostics


@pytest.mark.parametrize("unknown", [-1, "-1", "?", None])
def test_what_says_nothing_is_no_symbol(loads, refuses, shaped, unknown):
    assert "'x[1]', 'x[2]'" in refuses(shaped([3, unknown, unknown]), "TW1205")
    assert loads(shaped([3, unknown, unknown]), dims={"x[1]": 5, "x[2]": 6}).graph.tensors["y"].shape == (3, 5, 6)


def test_what_is_printed_can_be_typed(loads, refuses, model):
    """One image of a side that the windows fit in, where 1 is too small."""
    image = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 1, "height", "width"])
    pools = [helper.make_node("MaxPool", [a], [b], kernel_shape=[4, 4], strides=[4, 4]) for a, b in ("xm", "my")]
    network = model(pools, inputs=[image])
    assert "try:  --dim height=16 --dim width=16" in refuses(network, "TW1205")
    assert loads(network, dims={"height": 16, "width": 16}).graph.tensors["y"].shape == (1, 1, 1, 1)


def test_no_number_is_printed_where_none_fits(refuses, model):
    flat = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, "a", "b"])
    network = model([helper.make_node("Reshape", ["x", "shape"], ["y"])], inputs=[flat])
    network.graph.initializer.append(helper.make_tensor("shape", TensorProto.INT64, [2], [1, 7]))
    assert "--dim NAME=NUMBER" in refuses(network, "TW1205")
