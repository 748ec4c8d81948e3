"""Names and patterns: a name stands for itself before it is a pattern; patterns join what they match."""

from __future__ import annotations

from tilewright.config.name_patterns import KnownNames, Meaning, names_of
from tilewright.testing.cluster import CLUSTER
from tilewright.testing.one_step import one_step

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
