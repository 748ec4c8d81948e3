"""Schemas are onnx's, every rule is about something that its operator has, and a node that breaks one is refused."""

from __future__ import annotations

from importlib import import_module

import numpy as np
import onnx.defs
import pytest
from onnx import TensorProto, helper, numpy_helper

from tilewright.frontend.decompositions import composed, quantised
from tilewright.frontend.nodes import legacy, structural
from tilewright.frontend.schemas import Rule, rule_table, rules_of, schema_of
from tilewright.operators.families import FAMILIES

OPERATORS = [operator for family in FAMILIES for operator in import_module(family).OPERATORS]
IMPORTS = [
    each
    for part in (*(operator.imports for operator in OPERATORS), structural.IMPORTS, composed.IMPORTS, quantised.IMPORTS)
    for each in (*part, *legacy.IMPORTS, *structural.CONSTANT_ONLY)
]


def test_a_schema():
    conv, concat = schema_of("Conv", 11), schema_of("Concat", 13)
    assert conv is not None and concat is not None
    assert (conv.since, [one.name for one in conv.inputs], conv.least_inputs) == (11, ["X", "W", "B"], 2)
    assert conv.inputs[2].optional and conv.inputs[0].types == {"float16", "float", "double"}
    assert conv.inputs[0].variable == conv.inputs[1].variable
    assert concat.parameter(7).variadic and concat.required == {"axis"}
    assert schema_of("NoSuchOperator", 13) is None and schema_of("Gelu", 13) is None


def test_imports_take_attributes_that_the_schema_has_and_of_its_kind():
    for each in IMPORTS:
        schema = schema_of(each.op_type, each.since, each.domain)
        if schema is None:
            continue
        later = {**each.attributes, **schema.attributes}  # what a later version of one signature has may be declared
        wrong = {name: kind for name, kind in each.attributes.items() if later[name] != kind}
        assert wrong == {}, f"{each.op_type}-{each.since}"


@pytest.mark.parametrize("op_type", sorted(rule_table()))
def test_every_name_is_an_input_or_an_attribute(op_type):
    newest = onnx.defs.onnx_opset_version()
    starts = sorted(rule_table()[op_type])
    for since, following in zip(starts, [*starts[1:], newest + 1], strict=True):
        schemas = [schema_of(op_type, version) for version in range(since, following)]
        assert schemas[0] is not None and (schemas[0].since == since or since in starts[1:])
        known = {name for each in schemas if each for name in (*each.attributes, *(one.name for one in each.inputs))}
        assert {rule.name for rule in rules_of(op_type, since)} <= known


def test_a_line_is_read():
    rules = {rule.name: rule for rule in rules_of("Pad", 21)}
    assert rules["pads"] == Rule(name="pads", kind="rank", text="pads rank 1", limit=1)
    assert rules["constant_value"].kind == "scalar"
    assert rules["mode"].choices == ("constant", "reflect", "edge", "wrap")
    assert rules_of("Relu", 14) == ()
    (height, *_) = rules_of("Upsample", 6)
    assert (height.kind, height.sign, height.limit, height.demand) == ("value", ">", 0, "> 0")


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
