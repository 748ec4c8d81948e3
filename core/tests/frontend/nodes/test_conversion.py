"""Every refusal of a model in one error; signatures by opset; attributes and inputs checked before use."""

from __future__ import annotations

import pytest
from onnx import helper


def test_all_refusals_at_once_grouped(refuses, model):
    nodes = [
        helper.make_node("Det", ["x"], ["a"], "det1"),
        helper.make_node("Relu", ["a"], ["b"], "after"),
        helper.make_node("Det", ["x"], ["c"], "det2"),
        helper.make_node("Frobnicate", ["b"], ["d"], "frob", domain="com.acme"),
        helper.make_node("Flatten", ["c"], ["e"], "flat", colour=1),
        helper.make_node("Max", ["d", "e"], ["y"]),
    ]
    text = refuses(model(nodes, domains={"com.acme": 3}), "TW2101", 4)
    assert "4 of 6 nodes" in text
    assert "Det-17 x2 'det1', 'det2' (f32 1x4)" in text
    assert "com.acme:Frobnicate-3 'frob'" in text
    assert "'colour' is not supported" in text


def test_many_kinds_still_fit_a_screen(refuses, model):
    nodes = [helper.make_node(f"Op{index}", ["x"], [f"v{index}"]) for index in range(500)]
    nodes.append(helper.make_node("Relu", ["x"], ["y"]))
    assert "and 488 more kinds" in refuses(model(nodes), "TW2101", 4)


def test_a_domain_that_is_not_imported(refuses, model):
    assert "does not import" in refuses(model([helper.make_node("F", ["x"], ["y"], domain="other")]), "TW1218")


def test_a_known_operator_of_another_domain(refuses, model):
    text = refuses(model([helper.make_node("Relu", ["x"], ["y"], domain="acme")], domains={"acme": 1}), "TW2101", 4)
    assert "domain 'acme' is not known" in text


def test_an_attribute_of_another_type(refuses, model):
    assert "takes INT" in refuses(model([helper.make_node("Flatten", ["x"], ["y"], axis=[1])]), "TW1213")


def test_an_attribute_twice(refuses, model):
    node = helper.make_node("Flatten", ["x"], ["y"], axis=1)
    node.attribute.append(node.attribute[0])
    refuses(model([node]), "TW1213")


@pytest.mark.parametrize("inputs", [[], [""], ["x"], ["x", ""], ["x", "x", "x"]])
def test_number_of_inputs(refuses, model, inputs):
    refuses(model([helper.make_node("Add", inputs, ["y"], "add")]), "TW1218")


def test_an_attribute_of_a_newer_opset(refuses, model):
    import numpy as np
    from onnx import numpy_helper

    shape = numpy_helper.from_array(np.array([4]), "s")
    node = helper.make_node("Reshape", ["x", "s"], ["y"], allowzero=1)
    text = " ".join(refuses(model([node], constants=[shape], opset=13), "TW2101", 4).split())
    assert "attribute 'allowzero' came with opset 14, and the file says 13: export with opset 14 or later" in text


def test_scales_of_channels_in_a_file_that_is_too_old_for_them(refuses, model):
    """What onnxruntime writes where it quantises a network of opset 12 with a scale for each channel."""
    import numpy as np
    from onnx import numpy_helper

    scales = numpy_helper.from_array(np.array([0.5, 0.25], np.float32), "s")
    weights = numpy_helper.from_array(np.ones((2, 4), np.int8), "w")
    node = helper.make_node("DequantizeLinear", ["w", "s"], ["y"], axis=0)
    text = " ".join(refuses(model([node], constants=[scales, weights], opset=12), "TW2101", 4).split())
    assert "attribute 'axis' came with opset 13, and the file says 12: export with opset 13 or later" in text


def test_operands_that_do_not_fit(refuses, model):
    import numpy as np
    from onnx import numpy_helper

    weights = numpy_helper.from_array(np.ones((3,), np.float32), "w")
    text = refuses(model([helper.make_node("Add", ["x", "w"], ["y"], "add")], constants=[weights]), "TW1310")
    assert "add" in text


@pytest.mark.parametrize("group", [0, -1, 3, 1 << 40])
def test_groups_of_a_convolution(vocabulary, loads, model, group):
    import numpy as np
    from onnx import TensorProto, numpy_helper

    from tilewright.errors import Exit, TilewrightError

    weights = numpy_helper.from_array(np.ones((2, 2, 1, 1), np.float32), "w")
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 2, 3, 3])
    made = model([helper.make_node("Conv", ["x", "w"], ["y"], group=group)], inputs=[x], constants=[weights])
    with pytest.raises(TilewrightError) as caught:
        loads(made)
    assert caught.value.exit_code in (Exit.MODEL, Exit.UNSUPPORTED)


def dequantised(model, element_type: str, op: str = "DequantizeLinear"):
    """x[1, 4] + the weights 1, -2, 7, 0 of scale 0.5, twice."""
    from onnx import TensorProto

    number, last = getattr(TensorProto, element_type), "y" if op == "DequantizeLinear" else "q"
    constants = [
        helper.make_tensor("w", number, [4], [1, -2, 7, 0]),
        helper.make_tensor("s", TensorProto.FLOAT, [], [0.5]),
        helper.make_tensor("z", number, [], [0]),
    ]
    nodes = [
        helper.make_node("DequantizeLinear", ["w", "s", "z"], ["f"], "first"),
        helper.make_node("Add", ["x", "f"], ["a"]),
        helper.make_node(op, ["w" if op == "DequantizeLinear" else "a", "s", "z"], ["g"], "second"),
        helper.make_node("Add" if last == "y" else "Identity", ["a", "g"] if last == "y" else ["g"], ["y"]),
    ]
    return model(nodes, constants=constants, opset=21)


def test_constants_of_4_bits_are_dequantised_as_those_of_8(loads, model):
    narrow, wide = (loads(dequantised(model, element_type)).graph for element_type in ("INT4", "INT8"))
    assert [(node.name, node.op) for node in narrow.nodes] == [(node.name, node.op) for node in wide.nodes]
    assert {name.removesuffix("/8_bits") for name in narrow.constants} == wide.constants.keys()
    for name, array in narrow.constants.items():
        known = wide.constants[name.removesuffix("/8_bits")]
        assert (array.dtype, array.tolist()) == (known.dtype, known.tolist())


def test_numbers_of_4_bits_are_never_written(refuses, model):
    """A zero point of 4 bits means that results are of 4 bits: not those of 8 that its number would give."""
    assert "int4, which tilewright does not hold" in refuses(dequantised(model, "INT4", "QuantizeLinear"), "TW2101", 4)


@pytest.mark.parametrize(("element_type", "bits"), [("INT4", 4), ("UINT4", 4), ("INT8", None)])
def test_what_the_file_stores_in_fewer_bits_is_said_where_it_is_dequantised(loads, model, element_type, bits):
    graph = loads(dequantised(model, element_type)).graph
    found = [node.attributes.get("weight_bits") for node in graph.nodes if node.op == "DequantizeLinear"]
    assert found == [bits, bits]
