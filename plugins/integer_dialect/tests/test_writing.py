"""The model that is written: constants once for each type, names that nothing has, ranges that are held."""

from __future__ import annotations

import numpy as np
import pytest
from dialect_models import Net

from tilewright.api.graph import DType
from tilewright_integer_dialect.file_nodes import OddNode, file_nodes
from tilewright_integer_dialect.values import Range, Value
from tilewright_integer_dialect.writing import Writing, declared_shapes


def _writing() -> tuple[Net, Writing]:
    net = Net()
    net.node("Add", net.input("x", (4,)), net.constant([1, 300]))
    return net, Writing(net.model("v0").graph)


def test_a_constant_is_written_once_for_each_type() -> None:
    net, writing = _writing()
    (node,) = file_nodes(net.nodes)
    value = writing.value(node, 1)
    assert value.dtype is DType.I32 and value.range == Range(low=1, high=300) and writing.parameter(node, 1) == (1, 300)
    wide = writing.in_type(value, DType.I64)
    assert writing.in_type(value, DType.I64) is wide and len(writing.initializers) == 2
    with pytest.raises(OddNode, match="more than 8 bits"):
        writing.bytes_of(value)


def test_computed_values_are_cast() -> None:
    _, writing = _writing()
    value = Value(name="x", dtype=DType.I32, range=Range(low=0, high=200))
    assert writing.bytes_of(value).dtype is DType.U8
    assert [node.op_type for node in writing.nodes] == ["Cast"]


def test_what_wraps_around_is_noted() -> None:
    net, writing = _writing()
    (node,) = file_nodes(net.nodes)
    found = writing.emit(node, "Add", [], DType.I32, Range(low=0, high=2**31))
    assert found.range == Range(low=-(2**31), high=2**31 - 1) and "2,147,483,648" in writing.wide[0]


def test_fractions_and_absent_inputs_are_odd() -> None:
    net = Net()
    net.node("Add", net.input("x", (4,)), net.constant(0.5))
    writing = Writing(net.model("v0").graph)
    (node,) = file_nodes(net.nodes)
    for index, reason in ((1, "has fractions"), (2, "is missing")):
        with pytest.raises(OddNode, match=reason):
            writing.value(node, index)
    with pytest.raises(OddNode, match="must be a constant"):
        writing.parameter(node, 0)


def test_names_and_shapes() -> None:
    net, writing = _writing()
    assert writing.fresh("x") == "x_2" and writing.fresh("new") == "new" and writing.fresh("new") == "new_2"
    assert declared_shapes(net.model("v0").graph) == {"x": (4,), "c0": (2,)}
    assert np.array_equal(writing.constants["c0"], [1, 300])
