"""Nodes that are written in the place of one."""

from __future__ import annotations

from dialect_models import Net

from tilewright_integer_dialect.file_nodes import file_nodes
from tilewright_integer_dialect.float_nodes import FloatNodes


def test_nodes_are_kept_without_some_attributes_and_written_under_new_names() -> None:
    net = Net()
    net.node("Gemm", net.input("x", (2, 3)), net.constant(1), alpha=2.0, description="note")
    nodes = FloatNodes(net.model("v0").graph, {"x": (2, 3)})
    (node,) = file_nodes(net.nodes)
    nodes.keep(node, without=("description",), inputs=("x", "other"))
    (kept,) = nodes.nodes
    assert [each.name for each in kept.attribute] == ["alpha"] and list(kept.input) == ["x", "other"]
    assert [each.name for each in node.raw.attribute] == ["alpha", "description"]
    first, second = (nodes.write(node, "Neg", ["x"]) for _ in "ab")
    assert len({first, second, "v0", "x", "c0"}) == 5
    assert nodes.write(node, "Neg", ["x"], "v0") == "v0" and nodes.nodes[-1].name == node.name
    assert nodes.rank("x") == 2 and nodes.rank("unknown", 3) == 3
    assert [tensor.name for tensor in nodes.initializers] == []
    assert nodes.number(node, 0.5) == nodes.initializers[0].name != nodes.axes(node, [1])
