"""Small values that are made of constants: what is computed, and what is left."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import helper, numpy_helper

from tilewright_tflite.folding import folded


def constant(name: str, *values: int) -> Any:
    return numpy_helper.from_array(np.array(values, np.int64), name)


SUM = helper.make_node("Add", ["a", "b"], ["sum"])
TWICE = helper.make_node("Add", ["sum", "sum"], ["twice"])


def test_a_chain_is_computed() -> None:
    found = folded("twice", [SUM, TWICE], [constant("a", 1, 2), constant("b", 3)])
    assert found is not None and found.tolist() == [8, 10]


@pytest.mark.parametrize(
    ("nodes", "constants"),
    [
        ([SUM, TWICE], [constant("a", 1)]),  # b is an input
        ([helper.make_node("Relu", ["a"], ["sum"]), TWICE], [constant("a", 1)]),
        ([helper.make_node("Add", ["a", "a"], ["sum"], domain="acme"), TWICE], [constant("a", 1)]),
        ([SUM, TWICE], [constant("a", 1, 2), constant("b", 1, 2, 3)]),  # of shapes that do not fit
        ([SUM, TWICE], [constant("a", *range(5000)), constant("b", 1)]),
    ],
)
def test_what_depends_on_more_is_not(nodes: list[Any], constants: list[Any]) -> None:
    assert folded("twice", nodes, constants) is None


def test_values_do_not_grow_without_end() -> None:
    nodes = [helper.make_node("Concat", [f"v{at}"] * 2, [f"v{at + 1}"], axis=0) for at in range(100)]
    assert folded("v100", nodes, [constant("v0", 1)]) is None
    found = folded("v9", nodes, [constant("v0", 1)])
    assert found is not None and found.shape == (512,)


def test_values_that_are_made_of_themselves_are_not_computed() -> None:
    nodes = [helper.make_node("Add", ["b", "b"], ["a"]), helper.make_node("Add", ["a", "a"], ["b"])]
    assert folded("a", nodes, []) is None
