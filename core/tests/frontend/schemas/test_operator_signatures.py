"""What contradicts an operator's definition is said before anybody works with it."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

IMAGE = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 2, 5, 5])
WEIGHTS = np.ones((4, 2, 3, 3), np.float32)


def text_of(
    refuses, model, op: str, *constants: object, opset: int = 17, outputs: int = 1, **attributes: object
) -> str:
    """The error for one node that reads x and constants; None is an input that is left out."""
    names = ["" if each is None else f"c{index}" for index, each in enumerate(constants)]
    held = [
        numpy_helper.from_array(np.asarray(each), name) for each, name in zip(constants, names, strict=True) if name
    ]
    made = [f"y{index}" if index else "y" for index in range(outputs)]
    node = helper.make_node(op, ["x", *names], made, **attributes)
    return refuses(model([node], inputs=[IMAGE], constants=held, opset=opset), "TW1218")


@pytest.mark.parametrize(
    ("op", "constants", "attributes", "words"),
    [
        ("Clip", (np.zeros(4, np.float32),), {}, "input min is of shape [4]; it must have one element"),
        ("Clip", (None, np.zeros((1, 1), np.float32)), {}, "input max is of shape [1, 1]"),
        ("Conv", (np.ones(4, np.float32),), {}, "input W is of shape [4]; it must have rank >= 3"),
        ("Conv", (np.ones((0, 2, 3, 3), np.float32),), {}, "input W is of shape [0, 2, 3, 3]; it must"),
        ("Conv", (WEIGHTS, WEIGHTS), {}, "input B is of shape [4, 2, 3, 3]; it must have rank 1"),
        ("Conv", (WEIGHTS,), {"group": 0}, "attribute group is 0; it must be >= 1"),
        ("Conv", (WEIGHTS,), {"strides": [1, 0]}, "attribute strides is [1, 0]; it must be >= 1"),
        ("Conv", (WEIGHTS,), {"auto_pad": "SAME"}, "attribute auto_pad is 'SAME'; it must be in NOTSET"),
        ("MaxPool", (), {}, "attribute kernel_shape is missing"),
        ("Concat", (), {}, "attribute axis is missing"),
        ("Pad", (np.zeros(8, np.int64), np.zeros(5, np.float32)), {}, "input constant_value is of shape [5]"),
        ("Slice", (np.zeros((1, 1), np.int64), np.ones(1, np.int64)), {}, "input starts is of shape [1, 1]"),
        ("Resize", (None, np.array([1, 1, np.inf, 1], np.float32)), {}, "input scales holds inf; it must be > 0"),
        ("Reshape", (np.array([-2, 50], np.int64),), {}, "input shape holds -2; it must be >= -1"),
        ("Reshape", (np.array([50.0], np.float32),), {}, "input shape ('c0') is float, which version 14"),
        ("Add", (np.ones(1, np.int32),), {}, "input B ('c0') is int32, another input is float"),
        ("And", (np.ones(1, np.bool_),), {}, "input A ('x') is float, which version 7"),
        ("Relu", (np.ones(1, np.float32),), {}, "it has 2 inputs"),
        ("Gather", (np.zeros(1, np.float32),), {}, "input indices ('c0') is float"),
        ("Where", (None, np.zeros(1, np.float32)), {}, "it has 2 inputs, Where needs 3"),
        ("Concat", (None, np.zeros(1, np.float32)), {"axis": 0}, "input inputs must be there"),
    ],
)  # fmt: skip
def test_what_the_definition_forbids(refuses, model, op, constants, attributes, words):
    assert words in text_of(refuses, model, op, *constants, **attributes)


def test_an_infinite_scale_of_an_old_upsample(refuses, model):
    text = text_of(refuses, model, "Upsample", np.array([1, 1, np.inf, 1], np.float32), opset=9)
    assert "input scales holds inf" in text


def test_an_output_too_many(refuses, model):
    assert "it has 2 outputs; at most 1" in text_of(refuses, model, "Relu", outputs=2)


def test_a_type_that_came_later_is_none_of_an_older_version(refuses, loads, model):
    value = helper.make_tensor_value_info("x", TensorProto.INT32, [4])
    ends = [helper.make_tensor_value_info("y", TensorProto.INT32, [4])]
    node = helper.make_node("Relu", ["x"], ["y"])
    assert "is int32" in refuses(model([node], inputs=[value], outputs=ends, opset=13), "TW1218")
    assert loads(model([node], inputs=[value], outputs=ends, opset=14))


@pytest.mark.parametrize("op", ["Squeeze", "Unsqueeze"])
def test_one_axis_may_be_a_scalar(loads, refuses, model, op):
    """As ONNX's own definition of AffineGrid has it."""
    axes = [numpy_helper.from_array(np.array(value, np.int64), "a") for value in (0, [[0]])]
    node = helper.make_node(op, ["x", "a"], ["y"])
    assert loads(model([node], constants=axes[:1])).graph.tensors["y"].shape in ((4,), (1, 1, 4))
    assert "axes is of shape [1, 1]" in refuses(model([node], constants=axes[1:]), "TW1218")


def test_a_resize_may_leave_its_region_out(loads, model):
    """Exporters did before ONNX allowed it."""
    scales = numpy_helper.from_array(np.array([1, 1, 2, 2], np.float32), "s")
    made = model([helper.make_node("Resize", ["x", "", "s"], ["y"])], inputs=[IMAGE], constants=[scales], opset=11)
    assert loads(made).graph.tensors["y"].shape == (1, 2, 10, 10)
