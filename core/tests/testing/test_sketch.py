"""A graph in a few lines: shapes and types are inferred, names are what each call returns, the result is verified."""

from __future__ import annotations

import numpy as np
import pytest

from tilewright.errors import TilewrightError
from tilewright.ir.tensors.dtypes import DType
from tilewright.testing.one_step import vocabulary
from tilewright.testing.sketch import Sketch


def test_values_have_the_shapes_that_operators_infer() -> None:
    sketch = Sketch(operators=vocabulary())
    x = sketch.input("x", DType.F32, (2, 3))
    w = sketch.constant(np.ones((3, 4), np.float32))
    y = sketch.node("Neg", [sketch.node("MatMul", [x, w], name="mul")], name="last")
    graph = sketch.finish(y)
    assert (graph.inputs, graph.outputs) == (("x",), ("last:0",))
    assert graph.tensors["mul:0"].shape == graph.tensors[y].shape == (2, 4)
    assert [node.origin for node in graph.nodes] == [("mul",), ("last",)]


def test_nodes_without_names_are_told_apart() -> None:
    sketch = Sketch(operators=vocabulary())
    x = sketch.input("x", DType.F32, (2,))
    assert [sketch.node("Neg", [x]) for _ in range(2)] == ["Neg_0:0", "Neg_1:0"]


@pytest.mark.parametrize("dtype", [DType.I8, DType.U8])
def test_numbers_of_a_quantisation_become_constants_of_the_right_types(dtype: DType) -> None:
    sketch = Sketch(operators=vocabulary())
    stored = sketch.quantize(sketch.input("x", DType.F32, (2, 3)), 0.5, 3, dtype)
    back = sketch.dequantize(stored, [0.5, 0.25, 1.0], zero_point=[1, 2, 3], axis=1)
    graph = sketch.finish(back)
    assert (graph.tensors[stored].dtype, graph.tensors[back].dtype) == (dtype, DType.F32)
    scale, zero, scales, zeros = graph.constants.values()
    assert (scale.shape, scale.dtype, zero.dtype) == ((), np.float32, dtype.numpy)
    assert scales.tolist() == [0.5, 0.25, 1.0] and zeros.tolist() == [1, 2, 3] and zeros.dtype == dtype.numpy
    assert graph.nodes[-1].attributes == {"axis": 1}


def test_a_graph_that_was_taken_does_not_change_with_the_sketch() -> None:
    sketch = Sketch(operators=vocabulary())
    y = sketch.node("Add", [sketch.input("x", DType.F32, (2,)), sketch.constant(np.zeros(2, np.float32))])
    before = sketch.finish(y)
    sketch.constants["c0"][:] = 7
    assert not before.constants["c0"].any()


def test_what_is_not_sound_is_not_finished() -> None:
    sketch = Sketch(operators=vocabulary())
    sketch.input("x", DType.F32, (2,))
    with pytest.raises((TilewrightError, ValueError)):
        sketch.finish("nothing")
