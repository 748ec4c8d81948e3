"""Requantisations in ONNX's own operators are one node, unless somebody reads what is inside."""

from __future__ import annotations

from typing import Any

import numpy as np
from dialect_models import Net

from tilewright_integer_dialect.chains import JOINED, with_chains_joined
from tilewright_integer_dialect.file_nodes import file_nodes


def _joined(net: Net, constants: dict[str, Any]) -> list[str]:
    return [node.op for node in with_chains_joined(file_nodes(net.nodes), constants)]


def _chain(net: Net, x: str, *, cast: bool = True) -> str:
    value = net.node("Cast", x, to=1) if cast else x
    value = net.node("Add", net.node("Mul", value, net.constant(3)), net.constant(4))
    return net.node("Floor", net.node("Div", value, net.constant(16)))


def test_a_chain_is_one_node() -> None:
    net = Net()
    net.node("Clip", _chain(net, net.input("x", (4,))), min=0.0, max=255.0)
    known = {tensor.name: np.zeros(1) for tensor in net.constants}
    (node,) = with_chains_joined(file_nodes(net.nodes), known)
    assert node.op == JOINED and node.inputs == ("x", "c0", "c1", "c2", "", "")
    assert (node.integer("min"), node.integer("max")) == (0, 255)


def test_what_others_read_stays() -> None:
    net = Net()
    floor = _chain(net, net.input("x", (4,)), cast=False)
    net.node("Clip", floor, min=0.0, max=255.0)
    net.node("Neg", floor)
    known = {tensor.name: np.zeros(1) for tensor in net.constants}
    assert _joined(net, known) == ["Mul", "Add", "Div", "Floor", "Clip", "Neg"]


def test_a_divisor_that_is_computed_is_none_of_it() -> None:
    net = Net()
    floor = net.node("Floor", net.node("Div", net.input("x", (4,)), net.input("y", (4,))))
    net.node("Clip", floor, min=0.0, max=255.0)
    assert _joined(net, {}) == ["Div", "Floor", "Clip"]
