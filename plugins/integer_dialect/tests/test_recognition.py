"""Which files are of the dialect."""

from __future__ import annotations

from dialect_models import Net
from onnx import TensorProto

from tilewright.api.graph import DType
from tilewright_integer_dialect.recognition import speaks

ASKED = {"x": DType.I8}


def test_operators_of_its_own_are_enough() -> None:
    net = Net()
    assert speaks(net.model(net.shift(net.input("x", (4,)), 1, 0)), {})


def test_a_chain_that_floors_and_clips_is_enough() -> None:
    net = Net()
    divided = net.node("Div", net.input("x", (4,)), net.constant(4))
    floor = net.node("Floor", divided)
    assert not speaks(net.model(floor), {})
    assert speaks(net.model(net.node("Clip", floor, min=0.0, max=9.0)), {})


def test_whole_numbers_are_so_only_if_somebody_says_it() -> None:
    net = Net()
    model = net.model(net.node("Add", net.input("x", (4,)), net.constant(3)))
    assert not speaks(model, {}) and speaks(model, ASKED) and not speaks(model, {"y": DType.I8})


def test_what_has_fractions_or_is_integer_already_is_another_matter() -> None:
    net = Net()
    assert not speaks(net.model(net.node("Add", net.input("x", (4,)), net.constant(0.5))), ASKED)
    other = Net()
    assert not speaks(other.model(other.node("Sigmoid", other.input("x", (4,)))), ASKED)
    third = Net()
    assert not speaks(third.model(third.node("Relu", third.input("x", (4,), TensorProto.INT8))), ASKED)
