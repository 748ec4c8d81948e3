"""Names and patterns: a name stands for itself before it is a pattern; patterns join what they match."""

from __future__ import annotations

from dataclasses import replace

from tilewright.config.name_patterns import KnownNames, Meaning, names_of, values_named
from tilewright.ir.tensors.dtypes import DType
from tilewright.testing.cluster import CLUSTER
from tilewright.testing.one_step import one_step, vocabulary
from tilewright.testing.sketch import Sketch

A, B = Meaning(values=("a",), constants=("w",)), Meaning(values=("b", "a"), scratch=("s",))


def test_meanings_join_without_repeating() -> None:
    assert Meaning(values=("a", "b"), scratch=("s",), constants=("w",)) == A | B
    assert A | Meaning() == A


def test_a_name_is_itself_before_it_is_a_pattern() -> None:
    names = KnownNames(meanings={"x*": A, "xy": B})
    assert names.matching("x*") == A
    assert names.matching("x?") == A | B
    assert names.matching("[ab]") is None
    assert KnownNames(meanings={"Xy": A}).matching("x*") is None


def test_a_layer_stands_for_what_it_writes_its_scratch_and_its_constants() -> None:
    import numpy as np

    x, w = np.ones((4, 6), np.float32), np.ones((6, 5), np.float32)
    bound = one_step("MatMul", (x, w), CLUSTER, constants=(1,)).bound
    (node,) = bound.graph.nodes
    meaning = names_of(bound).matching(node.name)
    assert meaning is not None
    assert meaning.values == node.outputs
    assert meaning.scratch == (f"{node.name}.scratch",)
    assert set(meaning.constants) == set(bound.constants)
    assert names_of(bound).matching("in0") == Meaning(values=("in0",))


def test_names_of_what_passes_took_in_stand_for_the_layer_that_is_left() -> None:
    sketch = Sketch(operators=vocabulary())
    x = sketch.input("x", DType.F32, (4, 6))
    inner = sketch.node("Neg", (x,), name="inner")
    imported = sketch.finish(sketch.node("Sigmoid", (inner,), name="outer"))
    (last,) = (node for node in imported.nodes if node.name == "outer")
    merged = replace(last, name="merged", inputs=("x",), origin=("inner", "outer"))
    graph = imported.with_nodes((merged,))
    assert {values_named(name, graph, imported) for name in (inner, "inner", "merged", *last.outputs)} == {last.outputs}
    assert values_named("x", graph) == ("x",)
    assert values_named("x*", graph, imported) == values_named("w", graph, imported) == ()
