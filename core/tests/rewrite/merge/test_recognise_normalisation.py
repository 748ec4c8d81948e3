"""Normalisations written as arithmetic are found; what only looks like one is left alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tilewright.ir.graphs.graph import Graph
from tilewright.ir.tensors.dtypes import DType
from tilewright.rewrite.merge.recognise_normalisation import PASS
from tilewright.testing.sketch import Sketch

SHAPE = (2, 3, 4)


def ops(graph: Graph) -> list[str]:
    return [node.op for node in graph.nodes]


def written(operators: Any, *, centred: bool = True, ending: str = "Div", **how: Any) -> Graph:
    """`how`: other axes, epsilon, or other `squares` than those of the value."""
    s = Sketch(operators=operators)
    x = s.input("x", DType.F32, SHAPE)
    axes: dict[str, Any] = {"axes": how.get("axes", (2,)), "keepdims": 1}
    value = s.node("Sub", (x, s.node("ReduceMean", (x,), {**axes, **how.get("mean", {})}))) if centred else x
    other = s.node("Abs", (value,)) if how.get("squares") else value
    mean = s.node("ReduceMean", (s.node("Mul", (value, other)),), axes)
    epsilon = s.constant(np.array(how.get("epsilon", 1e-3), np.float32))
    root = s.node("Sqrt", (mean if how.get("bare") else s.node("Add", (epsilon, mean)),))
    if ending == "Div":
        return s.finish(s.node("Div", (root, value) if how.get("upside_down") else (value, root)))
    one = s.constant(np.array(1, np.float32))
    inverse = s.node("Reciprocal", (root,)) if ending == "Reciprocal" else s.node("Div", (one, root))
    return s.finish(s.node("Mul", (inverse, value)))


@pytest.mark.parametrize("centred", [True, False])
@pytest.mark.parametrize("ending", ["Div", "Reciprocal", "one over"])
@pytest.mark.parametrize("axes", [(2,), (1, 2)])
@pytest.mark.parametrize("bare", [True, False])
def test_what_is_found(
    centred: bool, ending: str, axes: tuple[int, ...], bare: bool, operators: Any, bench: Any
) -> None:
    graph = written(operators, centred=centred, ending=ending, axes=axes, bare=bare)
    after = bench.apply(graph, PASS)
    assert [op for op in ops(after) if op != "Reshape"] == ["LayerNormalization" if centred else "RMSNormalization"]
    (row,) = (node for node in after.nodes if node.op != "Reshape")
    assert row.number("epsilon") == (0.0 if bare else float(np.float32(1e-3)))
    assert set(row.origin) == {node.name for node in graph.nodes}
    for seed in range(3):
        np.testing.assert_allclose(bench.outputs(after, seed)[0], bench.outputs(graph, seed)[0], 1e-5, 1e-6)


@pytest.mark.parametrize(
    "how",
    [
        {"axes": (1,)}, {"mean": {"axes": (1,)}}, {"squares": True}, {"epsilon": -0.1}, {"upside_down": True},
        {"epsilon": [0.1, 0.2, 0.3, 0.4]},
    ],
    ids=str,
)  # fmt: skip
def test_what_is_not(how: dict[str, Any], operators: Any, bench: Any) -> None:
    graph = written(operators, **how)
    assert "LayerNormalization" not in ops(bench.apply(graph, PASS))
