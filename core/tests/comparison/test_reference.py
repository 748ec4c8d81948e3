"""The reference interpreter: every value, checked inputs, unknown operators."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tilewright.builtin import tilewright_operators
from tilewright.comparison.reference import run, run_site
from tilewright.errors import TilewrightError
from tilewright.ir.graphs.graph import Graph
from tilewright.ir.tensors.dtypes import DType
from tilewright.testing.sketch import Sketch

OPERATORS = {operator.name: operator for operator in tilewright_operators()}


def _graph() -> Graph:
    sketch = Sketch(operators=OPERATORS)
    x = sketch.input("x", DType.F32, (2, 3))
    total = sketch.node("Add", (x, sketch.constant(np.array([1, 2, 3], np.float32))), name="add")
    return sketch.finish(sketch.node("Clip", (total,), {"min": 0.0, "max": 2.5}, name="clip"))


def test_every_value_is_there() -> None:
    x = np.array([[-5, 0, 1], [0.25, -2, 9]], np.float32)
    values = run(_graph(), {"x": x}, OPERATORS)
    assert set(values) == {"x", "c0", "add:0", "clip:0"}
    assert np.array_equal(values["clip:0"], np.array([[0, 2, 2.5], [1.25, 0, 2.5]], np.float32))


def test_one_site_alone() -> None:
    site = _graph().site(_graph().nodes[1])
    (result,) = run_site(site, (np.full((2, 3), 7, np.float32),), OPERATORS)
    assert result.tolist() == [[2.5] * 3] * 2


@pytest.mark.parametrize(
    "inputs",
    [{}, {"x": np.zeros((3, 2), np.float32)}, {"x": np.zeros((2, 3), np.float64)}],
    ids=["missing", "wrong shape", "wrong type"],
)
def test_wrong_inputs_are_refused(inputs: dict[str, np.ndarray]) -> None:
    with pytest.raises(TilewrightError, match=r"TW6020") as caught:
        run(_graph(), inputs, OPERATORS)
    assert "'x'" in str(caught.value)


def test_unknown_operator_names_itself() -> None:
    graph = _graph()
    strange = replace(graph, nodes=(replace(graph.nodes[0], op="Strange"), *graph.nodes[1:]))
    with pytest.raises(TilewrightError, match="'Strange'") as caught:
        run(strange, {"x": np.zeros((2, 3), np.float32)}, OPERATORS)
    assert caught.value.code == "TW9020"
