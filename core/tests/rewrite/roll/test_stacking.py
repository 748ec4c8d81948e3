"""Values of steps side by side: the value that they are parts of, one product of all, or a Concat."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tilewright.ir.graphs.graph import Graph
from tilewright.ir.tensors.dtypes import DType
from tilewright.rewrite.edit import Draft, GraphView
from tilewright.rewrite.roll.stacking import Made, stacked
from tilewright.testing.sketch import Sketch


def _stacked(graph: Graph, values: list[str]) -> Graph:
    """The graph with all values on top of each other as its only output."""
    made = Made(draft=Draft(graph=graph), name="rolled", origin=(), nodes=[])
    whole = stacked(made, GraphView.of(graph), values)
    tensors = {**graph.tensors, **made.draft.tensors}
    made_graph = replace(graph, outputs=(whole,), tensors=tensors)
    return made_graph.with_nodes((*graph.nodes, *made.nodes)).verify()


def _parts(s: Sketch, x: str, axis: int, places: list[int]) -> list[str]:
    shape = s.tensors[x].shape
    rest = tuple(extent for each, extent in enumerate(shape) if each != axis)
    single = tuple(1 if each == axis else extent for each, extent in enumerate(shape))
    cuts = [tuple(place if each == axis else 0 for each in range(3)) for place in places]
    sliced = [s.node("Slice", (x,), {"starts": cut, "steps": (1, 1, 1), "shape": single}) for cut in cuts]
    return [s.node("Reshape", (value,), {"shape": rest}) for value in sliced]


@pytest.mark.parametrize(
    ("axis", "places", "made"),
    [
        (0, [0, 1, 2, 3], ["Reshape"]),
        (0, [1, 2, 3], ["Slice", "Reshape"]),
        (1, [0, 1, 2, 3], ["Transpose", "Reshape"]),
        (0, [3, 2, 1, 0], ["Reshape"] * 4 + ["Concat"]),
        (0, [0, 0, 1], ["Reshape"] * 3 + ["Concat"]),
    ],
)
def test_parts_of_a_value(
    axis: int, places: list[int], made: list[str], sketch: Callable[[], Sketch], bench: Any
) -> None:
    s = sketch()
    x = s.input("x", DType.F32, (4, 2, 3) if axis == 0 else (2, 4, 3))
    values = _parts(s, x, axis, places)
    graph = s.finish(*values)
    whole = _stacked(graph, values)
    assert [node.op for node in whole.nodes[len(graph.nodes) :]] == made
    assert np.array_equal(np.stack(bench.outputs(graph)), bench.outputs(whole)[0])


def test_products_with_one_matrix_are_one(sketch: Callable[[], Sketch], bench: Any) -> None:
    s = sketch()
    weight = s.constant(np.arange(6, dtype=np.float32).reshape(3, 2))
    parts = _parts(s, s.input("x", DType.F32, (4, 2, 3)), 0, [0, 1, 2, 3])
    values = [s.node("MatMul", (part, weight)) for part in parts]
    graph = s.finish(*values)
    whole = _stacked(graph, values)
    assert [node.op for node in whole.nodes[len(graph.nodes) :]] == ["Reshape", "MatMul"]
    assert np.allclose(np.stack(bench.outputs(graph)), bench.outputs(whole)[0], rtol=1e-5)
