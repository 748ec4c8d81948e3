"""Faults of graph passes, each planted in one that is right: all are found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import count

import numpy as np
import pytest

from tilewright.ir.graphs.graph import Graph
from tilewright.ir.graphs.operator import GraphPass, PassContext, PassResult
from tilewright.ir.tensors.dtypes import DType
from tilewright.testing.one_step import vocabulary
from tilewright.testing.pass_faults import pass_faults
from tilewright.testing.sketch import Sketch

FEEDS = {"x": np.linspace(-2, 2, 12, dtype=np.float32).reshape(3, 4)}
turns = count()


def graph() -> Graph:
    sketch = Sketch(operators=vocabulary())
    x = sketch.input("x", DType.F32, (3, 4))
    shifted = sketch.node("Add", (x, sketch.constant(np.float32([1, 2, 3, 4]))))
    return sketch.finish(sketch.node("Tanh", (shifted,), name="last"))


def nothing(given: Graph, context: PassContext) -> Graph:
    return given


def renames(given: Graph, context: PassContext) -> Graph:
    """Another graph, and the same network."""
    return given.with_nodes(tuple(replace(node, origin=("renamed",)) for node in given.nodes))


def mutates(given: Graph, context: PassContext) -> Graph:
    (array,) = given.constants.values()
    array.flags.writeable = True
    array[0] += 1
    return given


def random(given: Graph, context: PassContext) -> Graph:
    return given.with_nodes(tuple(replace(node, origin=(str(next(turns)),)) for node in given.nodes))


def wrong(given: Graph, context: PassContext) -> Graph:
    return given.with_nodes(tuple(replace(node, op="Sin") if node.op == "Tanh" else node for node in given.nodes))


def broken(given: Graph, context: PassContext) -> Graph:
    return given.with_nodes(given.nodes[1:])


def fails(given: Graph, context: PassContext) -> Graph:
    raise ZeroDivisionError("division by zero")


def faults(apply: Callable[[Graph, PassContext], Graph], *, lossy: bool = False) -> list[str]:
    def answer(given: Graph, context: PassContext) -> PassResult:
        return PassResult(graph=apply(given, context))

    made = GraphPass(name="acme.pass", summary="made up", apply=answer, lossy=lossy)
    return pass_faults(made, graph(), vocabulary(), FEEDS)


@pytest.mark.parametrize("apply", [nothing, renames])
def test_a_right_pass_has_none(apply: Callable[[Graph, PassContext], Graph]) -> None:
    assert faults(apply) == []


@pytest.mark.parametrize(
    ("apply", "reason"),
    [
        (mutates, "changes the graph that it is given"),
        (random, "answers something else when it is asked again"),
        (wrong, "output 'last:0' is another one"),
        (fails, "fails: ZeroDivisionError: division by zero in fails at testing/test_pass_faults.py:"),
        (broken, "returned a graph that is wrong: the graph is broken"),
    ],
)
def test_each_fault_is_found_with_the_pass(apply: Callable[[Graph, PassContext], Graph], reason: str) -> None:
    (fault,) = faults(apply)
    assert fault.startswith("graph pass 'acme.pass' (answer at testing/test_pass_faults.py:")
    assert reason in fault


def test_a_lossy_pass_may_move_outputs_and_nothing_else() -> None:
    assert faults(wrong, lossy=True) == []
    assert faults(mutates, lossy=True)
