"""A graph while it is built: what is taken and refused, what follows from constants, and how it gets its outputs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
import pytest

from tilewright.errors import TilewrightError
from tilewright.frontend.nodes.builder import GraphBuilder
from tilewright.frontend.reading.names import UniqueNames
from tilewright.frontend.reading.refusals import InvalidNode, RefusedNode
from tilewright.ir.graphs.graph import Node, Tensor
from tilewright.ir.graphs.model_formats import Limits
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.tensors.dtypes import DType

Make = Callable[..., GraphBuilder]


@pytest.fixture
def make(vocabulary: Mapping[str, Operator]) -> Make:
    """Makes a builder with an input `x` of four floats and a constant `c` of four."""

    def run(**limits: int) -> GraphBuilder:
        builder = GraphBuilder(vocabulary, replace(Limits(), **limits), UniqueNames(), UniqueNames())
        builder.add_input(Tensor(name="x", dtype=DType.F32, shape=(4,)))
        builder.add_constant("c", np.arange(4, dtype=np.float32))
        return builder

    return run


def node(op: str, inputs: str, outputs: str, **attributes: object) -> Node:
    return Node(
        name=f"n_{outputs}", op=op, inputs=tuple(inputs.split(",")), outputs=tuple(outputs.split(",")),
        attributes=attributes,  # type: ignore[arg-type]  # of any type, as in a file
    )  # fmt: skip


def test_types_of_values(make: Make) -> None:
    builder = make()
    builder.add_node(node("Add", "x,c", "y"))
    assert builder.tensor("y") == Tensor(name="y", dtype=DType.F32, shape=(4,))
    assert builder.described("y") == ("float32", (4,)) and builder.described("nothing") is None
    assert [builder.has(name) for name in ("x", "c", "y", "z")] == [True, True, True, False]


def test_constants_of_types_that_are_not_held(make: Make) -> None:
    """They may be there, to be folded away, but no node may read them."""
    builder = make()
    builder.add_constant("words", np.array([1j]))
    assert builder.has("words") and builder.known("words") is not None and builder.described("words") is None
    with pytest.raises(RefusedNode, match="its input 'words' is complex128, which tilewright does not hold"):
        builder.add_node(node("Add", "x,words", "y"))


@pytest.mark.parametrize(("given", "error", "reason"), [
    (node("Missing", "x", "y"), RefusedNode, "needs the operator Missing, which no installed package has"),
    (node("Concat", "x,", "y", axis=7), InvalidNode, "^Concat: "),
    (node("Add", ",x", "y"), InvalidNode, "^Add: .*input 0 is absent"),
    (node("Add", "x,x", "y,z"), RefusedNode, "has 2 outputs, only 1 are supported"),
])  # fmt: skip
def test_nodes_that_are_not_taken(given: Node, error: type[Exception], reason: str, make: Make) -> None:
    builder = make()
    with pytest.raises(error, match=reason):
        builder.add_node(given)
    assert builder.nodes == [] and not builder.has("y")


def test_an_import_that_writes_twice_is_a_defect_of_its_own(make: Make) -> None:
    with pytest.raises(ValueError, match="import of 'n_x' writes 'x' twice"):
        make().add_node(node("Add", "c,c", "x"))


def test_outputs_that_are_too_large(make: Make) -> None:
    builder = make(tensor_bytes=16)
    builder.add_node(node("Add", "x,c", "y"))
    builder.add_constant("wide", np.zeros((2, 1), np.float32))
    with pytest.raises(TilewrightError, match="n_z"):
        builder.add_node(node("Add", "x,wide", "z"))


def test_what_follows_from_constants(make: Make) -> None:
    """Nothing is computed before somebody asks; the chain is computed once."""
    builder = make()
    for given in (node("Add", "c,c", "two"), node("Mul", "two,c", "three"), node("Add", "three,x", "run")):
        builder.add_node(given)
    found = builder.known("three")
    assert found is not None and found.tolist() == [0, 2, 8, 18]
    assert builder.known("three") is found
    assert builder.known("run") is None and builder.known("x") is None


def test_what_was_computed_costs_nothing_again(make: Make) -> None:
    """Neither asking twice nor needing a value twice takes from what may be computed in all."""
    builder = make(fold_total_bytes=32)
    builder.add_node(node("Add", "c,c", "two"))
    builder.add_node(node("Mul", "two,two", "four"))
    assert [builder.known(name) is not None for name in ("four", "two", "four", "four")] == [True] * 4


@pytest.mark.parametrize(("limits", "known"), [
    ({"fold_bytes": 15}, [False, False]), ({"fold_total_bytes": 31}, [True, False]),
    ({"fold_total_bytes": 32}, [True, True]),
])  # fmt: skip
def test_what_is_computed_has_a_limit(limits: dict[str, int], known: list[bool], make: Make) -> None:
    builder = make(**limits)
    builder.add_node(node("Add", "c,c", "two"))
    builder.add_node(node("Mul", "two,c", "three"))
    assert [builder.known(name) is not None for name in ("two", "three")] == known


def test_outputs_are_renamed(make: Make) -> None:
    """A value takes the name of its output, in all who read it; a second output of the same value is a copy."""
    builder = make()
    builder.add_node(node("Add", "x,c", "inside"))
    builder.add_node(node("Mul", "inside,c", "y"))
    graph = builder.finish("net", ["x"], {"first": "inside", "second": "inside", "y": "y"})
    assert graph.outputs == ("first", "second", "y")
    assert [(each.op, each.inputs, each.outputs) for each in graph.nodes] == [
        ("Add", ("x", "c"), ("first",)), ("Mul", ("first", "c"), ("y",)), ("Reshape", ("first",), ("second",))
    ]  # fmt: skip
    assert graph.tensors["first"].name == "first" and "inside" not in graph.tensors


@pytest.mark.parametrize("source", ["x", "c"])
def test_inputs_and_constants_handed_straight_on(source: str, make: Make) -> None:
    graph = make().finish("net", ["x"], {"y": source})
    assert [(each.op, each.inputs, each.outputs) for each in graph.nodes] == [("Reshape", (source,), ("y",))]


def test_a_constant_with_the_name_of_an_output(make: Make) -> None:
    builder = make()
    builder.add_node(node("Add", "x,c", "y"))
    graph = builder.finish("net", ["x"], {"c": "c", "y": "y"})
    assert "c" not in graph.constants and graph.constants["c/value"].tolist() == [0, 1, 2, 3]
    assert [(each.op, each.inputs, each.outputs) for each in graph.nodes] == [
        ("Add", ("x", "c/value"), ("y",)), ("Reshape", ("c/value",), ("c",))
    ]  # fmt: skip


def test_what_nothing_reads_is_gone(make: Make) -> None:
    builder = make()
    builder.add_constant("unused", np.zeros(3, np.float32))
    builder.add_constant("words", np.array([1j]))
    builder.add_node(node("Round", "x", "y"))
    graph = builder.finish("net", ["x"], {"y": "y"})
    assert (set(graph.tensors), set(graph.constants)) == ({"x", "y"}, set())
