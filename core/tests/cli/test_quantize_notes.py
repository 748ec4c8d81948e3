"""Networks that are quantised already are known by their operators, and weights that stay float by theirs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from tilewright.cli.quantize_notes import demand_float, recurrent_notes, weight_notes
from tilewright.errors import Exit, TilewrightError
from tilewright.quantize.stored_recurrences import Written


def model(nodes: list[Any], **weights: Any) -> bytes:
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in "xy"]
    constants = [numpy_helper.from_array(value, name) for name, value in weights.items()]
    return bytes(helper.make_model(helper.make_graph(nodes, "g", ends[:1], ends[1:], constants)).SerializeToString())


@pytest.mark.parametrize("op", ["QuantizeLinear", "QLinearConv", "MatMulInteger", "DynamicQuantizeLinear"])
def test_integer_operators_are_known(op: str) -> None:
    with pytest.raises(TilewrightError, match=f"1 {op}") as caught:
        demand_float(model([helper.make_node(op, ["x"], ["y"])]), "net.onnx")
    assert (caught.value.code, caught.value.exit_code, caught.value.where) == ("TW1231", Exit.MODEL, "net.onnx")


def test_float_networks_are_taken() -> None:
    demand_float(model([helper.make_node("Relu", ["x"], ["y"])]), "net.onnx")


@pytest.mark.parametrize(("floats", "told"), [(4, True), (1, False)])
def test_half_of_the_weights_in_float(floats: int, told: bool) -> None:
    """64 bytes are int8."""
    nodes = [helper.make_node("DequantizeLinear", ["w", "s"], ["d"]), helper.make_node("GRU", ["x", "d", "r"], ["y"])]
    weights = {"w": np.ones((8, 8), np.int8), "s": np.float32(1) * np.ones(()), "r": np.ones((floats, 4), np.float32)}
    found = weight_notes(model(nodes, **weights))
    assert [each.code for each in found] == ["TW3005"] * told
    if told:
        assert found[0].message == "little is gained: 64 of 128 bytes of weights stay float"
        assert found[0].details == ("those of GRU (64 B)",)


def test_a_network_without_weights() -> None:
    assert weight_notes(model([helper.make_node("Relu", ["x"], ["y"])])) == ()


def test_what_becomes_of_recurrent_layers() -> None:
    left = {"a": "an RNN has no integer form", "b": "an RNN has no integer form"}
    found = recurrent_notes(Written(integers=("c",), left=left))
    assert [(each.code, each.severity, each.where) for each in found] == [
        ("TW3031", "warning", "a, b"), ("TW3032", "note", "c"),
    ]  # fmt: skip
    assert "RNN" in found[0].message and recurrent_notes(None) == ()
    assert [each.code for each in recurrent_notes(Written(integers=(), left=left))] == ["TW3031"]
    assert "no LSTM or GRU" in recurrent_notes(Written(integers=(), left={}))[0].message
