"""A kernel that takes one layout only gets it: by a relayout in front of it, or behind it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tilewright.bind.layouts import Relaid, insert_relayouts
from tilewright.ir.graphs.graph import Graph
from tilewright.ir.plans.layer import layer_of
from tilewright.ir.tensors.dtypes import DType
from tilewright.ir.tensors.layout import channels_last, row_major
from tilewright.testing.one_step import portable_kernels, vocabulary
from tilewright.testing.sketch import Sketch

ROWS, LAST = row_major(4), channels_last(4)


def graph(shape: tuple[int, ...] = (1, 2, 3, 4)) -> Graph:
    """Two clips, one after the other."""
    sketch = Sketch(operators=vocabulary())
    one = sketch.node("Clip", (sketch.input("x", DType.F32, shape),), {"min": 0.0}, "one")
    return sketch.finish(sketch.node("Clip", (one,), {"max": 4.0}, "two"))


def relaid(made: Graph, **required: Any) -> Relaid:
    """What `one` and `two` take only in a layout; every value is in row-major order."""
    kernel = portable_kernels()["portable.clip"]
    layers = {}
    for node in made.nodes:
        wanted = required.get(node.name, {})
        strict = replace(kernel, requires=lambda site, wanted=wanted: wanted)
        layers[node.name] = layer_of(vocabulary()["Clip"], strict, made.site(node))
    return insert_relayouts(made, vocabulary(), layers, dict.fromkeys(made.tensors, ROWS))


def names(found: Relaid) -> list[str]:
    return [node.name for node in found.graph.nodes]


def test_nothing_is_inserted_where_nothing_is_required_or_it_is_there_already() -> None:
    made = graph()
    assert names(relaid(made)) == ["one", "two"]
    assert names(relaid(made, one={"X": ROWS, "Y": ROWS})) == ["one", "two"]
    flat = graph((1, 2, 1, 1))
    assert names(relaid(flat, one={"X": LAST})) == ["one", "two"], "the same bytes"


def test_in_front_of_a_reader() -> None:
    found = relaid(graph(), two={"X": LAST})
    assert names(found) == ["one", "two:X", "two"]
    _, move, two = found.graph.nodes
    assert (move.op, move.inputs, move.outputs) == ("Transpose", ("one:0",), ("one:0:two:X",))
    assert move.attributes == {"perm": (0, 1, 2, 3)}, "the same elements, stored in another order"
    assert two.inputs == ("one:0:two:X",)
    assert (found.layouts["one:0"], found.layouts["one:0:two:X"]) == (ROWS, LAST)
    assert found.graph.tensors["one:0:two:X"].shape == (1, 2, 3, 4)


def test_behind_a_writer() -> None:
    found = relaid(graph(), one={"Y": LAST})
    assert names(found) == ["one", "one:Y", "two"]
    one, move, two = found.graph.nodes
    assert (one.outputs, move.inputs, move.outputs) == (("one:0:one:Y",), ("one:0:one:Y",), ("one:0",))
    assert two.inputs == ("one:0",), "readers find it where they did"
    assert found.layouts["one:0:one:Y"] == LAST


@pytest.mark.parametrize("operand", ["X", "Y"])
def test_the_border_of_the_graph_stays(operand: str) -> None:
    made = graph()
    found = relaid(made, one={operand: LAST}, two={operand: LAST})
    assert (found.graph.inputs, found.graph.outputs) == (made.inputs, made.outputs)
    assert len(found.graph.nodes) == 4
    found.graph.verify()
