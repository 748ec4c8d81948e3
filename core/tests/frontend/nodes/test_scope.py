"""Bodies see their own values first; nodes that control flow adds have names of their own."""

from __future__ import annotations

import pytest

from tilewright.frontend.nodes.builder import GraphBuilder
from tilewright.frontend.nodes.scope import Scope, chosen_in, emit_in
from tilewright.frontend.reading.names import UniqueNames
from tilewright.frontend.reading.refusals import InvalidNode, RefusedNode
from tilewright.ir.graphs.graph import Tensor
from tilewright.ir.graphs.model_formats import Limits
from tilewright.ir.tensors.dtypes import DType

MAIN = Scope(values={"x": "x", "y": None})
INNER = Scope(outer=MAIN, prefix="loop/0/", values={"x": "loop/0/x"})


def test_values_around_a_body_are_seen() -> None:
    assert MAIN.main
    assert not INNER.main
    assert INNER.find("x") == "loop/0/x"
    assert INNER.has("y")
    assert INNER.find("y") is None
    assert not INNER.has("z")


def test_outputs_must_be_written() -> None:
    assert INNER.results(["x", "y"]) == ["loop/0/x", None]
    with pytest.raises(InvalidNode, match="'z'"):
        INNER.results(["z"])


@pytest.fixture
def builder(vocabulary) -> GraphBuilder:
    """A graph with a condition and three values."""
    made = GraphBuilder(vocabulary, Limits(), UniqueNames(()), UniqueNames(()))
    for name, dtype, shape in (
        ("c", DType.BOOL, (1,)),
        ("a", DType.F32, (2,)),
        ("b", DType.F32, (2,)),
        ("d", DType.F32, (3,)),
    ):
        made.add_input(Tensor(name=name, dtype=dtype, shape=shape))
    return made


def test_names_are_of_the_scope_and_differ(builder: GraphBuilder) -> None:
    scope = Scope(prefix="loop/0/")
    names = [emit_in(scope, builder, "Reshape", ["a"], {"shape": (2, 1)}) for _ in range(2)]
    assert names[0] == "loop/0/Reshape" and names[1].startswith("loop/0/Reshape") and names[0] != names[1]
    assert {node.origin for node in builder.nodes} == {("loop/0",)}


def test_results_that_differ_are_chosen(builder: GraphBuilder) -> None:
    results = chosen_in(Scope(prefix="if/"), builder, "c", [["a", "a", None], ["b", "a", "b"]])
    assert [node.op for node in builder.nodes] == ["Reshape", "Where"]
    assert results == ["if/Where", "a", None]


def test_results_of_other_shapes_are_refused(builder: GraphBuilder) -> None:
    with pytest.raises(RefusedNode, match="its branches make"):
        chosen_in(Scope(prefix="if/"), builder, "c", [["a"], ["d"]])
