"""The order of passes, and what happens to a pass that lies."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from tilewright.errors import Exit, TilewrightError
from tilewright.ir.graphs.graph import Graph, Node
from tilewright.ir.graphs.operator import GraphPass, Operator, PassContext, PassResult
from tilewright.ir.tensors.dtypes import DType
from tilewright.rewrite import rewrite
from tilewright.rewrite.passes import PASSES
from tilewright.rewrite.pipeline import ordered
from tilewright.testing.sketch import Sketch

Change = Callable[[Graph], Graph]


def _pass(
    name: str, change: Change = lambda graph: graph, after: tuple[str, ...] = (), before: tuple[str, ...] = ()
) -> GraphPass:
    def apply(graph: Graph, context: PassContext) -> PassResult:
        return PassResult(graph=change(graph))

    return GraphPass(name=name, summary=name, apply=apply, after=after, before=before)


def _names(*passes: GraphPass) -> list[str]:
    return [graph_pass.name for graph_pass in ordered(passes)]


def _graph(sketch: Callable[[], Sketch]) -> Graph:
    s = sketch()
    return s.finish(s.node("Clip", (s.input("x", DType.F32, (4,)),), {"min": 0.0}, name="clip"))


def test_order_is_stable_and_respects_both_demands() -> None:
    assert _names(_pass("a"), _pass("b"), _pass("c")) == ["a", "b", "c"]
    assert _names(_pass("a", after=("c",)), _pass("b"), _pass("c")) == ["b", "c", "a"]
    assert _names(_pass("a"), _pass("b"), _pass("c", before=("a",))) == ["b", "c", "a"]
    assert _names(_pass("a", after=("not installed",))) == ["a"]


def test_a_plugin_can_step_between() -> None:
    names = _names(*PASSES, _pass("mine", after=("fold-constants",), before=("lower-quantised",)))
    assert names.index("fold-constants") < names.index("mine") < names.index("lower-quantised")


def test_circles_and_twins_are_errors() -> None:
    with pytest.raises(TilewrightError, match="TW9023") as circle:
        _names(_pass("a", after=("b",)), _pass("b", after=("a",)), _pass("c"))
    assert "a, b" in str(circle.value)
    with pytest.raises(TilewrightError, match="TW9022"):
        _names(_pass("a"), _pass("a"))


def test_the_trail_says_what_changed(sketch: Callable[[], Sketch], operators: dict[str, Operator]) -> None:
    def narrow(graph: Graph) -> Graph:
        return replace(graph, nodes=(replace(graph.nodes[0], attributes={"min": 1.0}),))

    result = rewrite(_graph(sketch), operators, (_pass("idle"), _pass("narrow", narrow)))
    idle, narrowed = result.trail
    assert idle.idle
    assert not narrowed.idle
    assert narrowed.changed == ("clip",)
    assert narrowed.graph is result.graph


def _wrong_shape(graph: Graph) -> Graph:
    tensors = {**graph.tensors, "middle": replace(graph.tensors["x"], name="middle", shape=(5,))}
    first = Node(name="first", op="Clip", inputs=("x",), outputs=("middle",))
    return replace(graph, nodes=(first, replace(graph.nodes[0], inputs=("middle",))), tensors=tensors)


LIES: dict[str, tuple[Change, str]] = {
    "undefined value": (lambda g: replace(g, nodes=(replace(g.nodes[0], inputs=("nowhere",)),)), "nowhere"),
    "no writer": (lambda g: replace(g, nodes=()), "never written"),
    "unknown operator": (lambda g: replace(g, nodes=(replace(g.nodes[0], op="Strange"),)), "Strange"),
    "wrong shape": (_wrong_shape, "middle"),
    "another output": (lambda g: replace(g, outputs=("x",)), "other names"),
    "another input type": (
        lambda g: replace(g, tensors={**g.tensors, "x": replace(g.tensors["x"], dtype=DType.I8)}),
        "'x'",
    ),
}


@pytest.mark.parametrize("lie", LIES)
def test_no_pass_can_lie(lie: str, sketch: Callable[[], Sketch], operators: dict[str, Operator]) -> None:
    change, expected = LIES[lie]
    with pytest.raises(TilewrightError, match="TW9021") as caught:
        rewrite(_graph(sketch), operators, (_pass("liar", change),))
    assert "liar" in str(caught.value)
    assert expected in str(caught.value)
    assert caught.value.exit_code == Exit.PLUGIN


def test_a_pass_that_lies_is_named_with_its_package(
    sketch: Callable[[], Sketch], operators: dict[str, Operator]
) -> None:
    change, _ = next(iter(LIES.values()))
    with pytest.raises(TilewrightError) as caught:
        rewrite(_graph(sketch), operators, (_pass("liar", change),), owners={"liar": "acme 1.2"})
    assert caught.value.message == "graph pass 'liar' of acme 1.2 returned a graph that is wrong"
    assert caught.value.fix == ("report this to the author of acme 1.2, with the model",)


def test_a_pass_returns_a_result(sketch: Callable[[], Sketch]) -> None:
    lost = GraphPass(name="lost", summary="", apply=lambda graph, context: graph)  # type: ignore[arg-type, return-value]
    with pytest.raises(TilewrightError, match=r"graph pass 'lost': apply must return a PassResult, found Graph"):
        rewrite(_graph(sketch), {}, (lost,))


def test_a_pass_is_only_given_graphs_that_have_one_of_its_roots(sketch: Callable[[], Sketch]) -> None:
    lost = GraphPass(name="lost", summary="", apply=lambda graph, context: graph)  # type: ignore[arg-type, return-value]
    (record,) = rewrite(_graph(sketch), {}, (replace(lost, roots=("Relu", "Sqrt")),)).trail
    assert record.name == "lost" and record.idle
    with pytest.raises(TilewrightError, match="apply must return a PassResult"):
        rewrite(_graph(sketch), {}, (replace(lost, roots=("Relu", "Clip")),))
