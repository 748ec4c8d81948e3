"""What a graph pass is: a pure function whose result says whether anything changed, verified after it has run."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tilewright.errors import Diagnostic, TilewrightError
from tilewright.ir.graphs.graph import Graph
from tilewright.ir.graphs.graph_pass import GraphPass, PassContext, PassResult
from tilewright.ir.tensors.dtypes import DType
from tilewright.rewrite import rewrite
from tilewright.testing.one_step import vocabulary
from tilewright.testing.sketch import Sketch


def graph() -> Graph:
    sketch = Sketch(operators=vocabulary())
    return sketch.finish(sketch.node("Neg", [sketch.input("x", DType.F32, (3,))], name="neg"))


def renamed(of: Graph, context: PassContext) -> PassResult:
    """The node has another name."""
    assert context.operators.keys() >= {"Neg"}
    nodes = tuple(replace(node, name=f"{node.name}'") for node in of.nodes)
    note = Diagnostic(code="TW1209", severity="note", message="renamed")
    return PassResult(graph=replace(of, nodes=nodes), diagnostics=(note,))


def test_what_a_pass_does_and_says_is_kept() -> None:
    one = GraphPass(name="rename", summary="", apply=renamed)
    found = rewrite(graph(), vocabulary(), [one])
    assert found.graph.nodes[0].name.startswith("neg'")
    assert found.diagnostics[0].message == "renamed"
    assert [record.name for record in found.trail if record.added] == ["rename"]


def test_a_pass_that_changes_nothing_returns_the_same_object_and_leaves_no_trail() -> None:
    idle = GraphPass(name="idle", summary="", apply=lambda of, _: PassResult(graph=of))
    before = graph()
    found = rewrite(before, vocabulary(), [idle])
    assert found.graph is before or found.graph == before
    assert not any(record.added or record.removed or record.changed for record in found.trail)


def test_a_graph_that_is_not_sound_after_a_pass_is_an_error_that_names_it() -> None:
    broken = GraphPass(
        name="breaks", summary="", apply=lambda of, _: PassResult(graph=replace(of, outputs=("nothing",)))
    )
    with pytest.raises(TilewrightError) as caught:
        rewrite(graph(), vocabulary(), [broken])
    assert "breaks" in str(caught.value)
