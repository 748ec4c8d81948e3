"""What a product takes into its weights: where a bias is possible, and which zeros around an input forbid it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tilewright.ir.graphs.graph import Graph
from tilewright.ir.tensors.dtypes import DType
from tilewright.rewrite.edit import Draft, GraphView
from tilewright.rewrite.fold.product_weights import Product
from tilewright.testing.sketch import Sketch

ONE, NONE = np.ones(1), np.zeros(1)


def _matmul(s: Sketch, *batch: int) -> Graph:
    weight = np.arange(6 * max(1, *batch, 1), dtype=np.float32).reshape(*batch, 2, 3)
    return s.finish(s.node("MatMul", (s.input("x", DType.F32, (*batch, 4, 2)), s.constant(weight))))


def _product(graph: Graph) -> Product:
    product = Product.of(GraphView.of(graph), graph.nodes[0])
    assert product is not None
    return product


def test_a_matrix_gets_a_bias_and_a_stack_of_matrices_none(sketch: Callable[[], Sketch]) -> None:
    one, many = _matmul(sketch()), _matmul(sketch(), 5)
    assert _product(one).takes_behind(one, ONE, ONE)
    assert _product(many).takes_behind(many, 2 * ONE, NONE)
    assert not _product(many).takes_behind(many, ONE, ONE)


@pytest.mark.parametrize("batch", [(), (5,)])
def test_factors_of_both_sides(batch: tuple[int, ...], sketch: Callable[[], Sketch]) -> None:
    graph = _matmul(sketch(), *batch)
    product, draft = _product(graph), Draft(graph=graph)
    product.fold_before(np.array([2.0, 3.0]), NONE, graph.nodes[0])
    product.fold_behind(np.array([1.0, 10.0, 100.0]), NONE, graph.nodes[0])
    made = product.finished(draft)
    old = graph.constants[graph.nodes[0].inputs[1]]
    assert np.array_equal(draft.constants[made.inputs[1]], old * np.outer([2, 3], [1, 10, 100]).astype(np.float32))
    assert made.op == "MatMul"


def test_zeros_around_an_input_are_not_shifted(sketch: Callable[[], Sketch]) -> None:
    for pads, taken in ((0, True), (1, False)):
        s = sketch()
        window: dict[str, Any] = {"kernel_shape": (1, 1), "strides": (1, 1), "dilations": (1, 1), "pads": (pads,) * 4}
        weight = s.constant(np.ones((3, 2, 1, 1), np.float32))
        graph = s.finish(s.node("Conv", (s.input("x", DType.F32, (1, 2, 4, 4)), weight), {**window, "group": 1}))
        assert _product(graph).takes_before(graph, ONE, ONE) == taken
        assert _product(graph).takes_before(graph, 2 * ONE, NONE)


def test_a_computed_bias_or_weight_is_not_touched(sketch: Callable[[], Sketch]) -> None:
    s = sketch()
    a, b, c = (s.input(name, DType.F32, shape) for name, shape in (("a", (2, 3)), ("b", (3, 4)), ("c", (4,))))
    graph = s.finish(s.node("Gemm", (a, b)), s.node("Gemm", (a, s.constant(np.ones((3, 4), np.float32)), c)))
    assert all(Product.of(GraphView.of(graph), node) is None for node in graph.nodes)
