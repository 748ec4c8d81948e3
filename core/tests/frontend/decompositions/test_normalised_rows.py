"""LRN, LpNormalization, Hardmax and ReduceLogSumExp by other operators: against numpy, at the edges, and refused.

The onnx package's own cases of these operators are in `test_onnx_cases_more`.
"""

from __future__ import annotations

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from tilewright.comparison.reference import run


@pytest.fixture
def computed(loads, model, vocabulary):
    def compute(op, x, *, opset=17, axes=None, **attributes):
        constants = [] if axes is None else [numpy_helper.from_array(np.array(axes), "axes")]
        inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape)]
        node = helper.make_node(op, ["x", *(["axes"] if constants else [])], ["y"], **attributes)
        graph = loads(model([node], inputs=inputs, constants=constants, opset=opset)).graph
        return run(graph, {"x": x}, vocabulary)["y"]

    return compute


def test_lrn_of_an_even_size(computed):
    x = np.random.default_rng(0).standard_normal((2, 5, 3)).astype(np.float32)
    square = np.pad(x.astype(np.float64) ** 2, ((0, 0), (1, 2), (0, 0)))
    sums = sum(square[:, shift : shift + 5] for shift in range(4))
    wanted = x / (2 + 0.5 / 4 * sums) ** 0.75
    assert computed("LRN", x, size=4, alpha=0.5, bias=2.0) == pytest.approx(wanted, rel=1e-5)


@pytest.mark.parametrize("p", [1, 2])
def test_a_row_of_zeros_stays_0(computed, p):
    x = np.array([[3, -4], [0, 0]], np.float32)
    wanted = {1: [[3 / 7, -4 / 7], [0, 0]], 2: [[0.6, -0.8], [0, 0]]}
    assert computed("LpNormalization", x, p=p) == pytest.approx(np.array(wanted[p]))


def test_hardmax_takes_the_first_of_equals_and_flattened_before(computed):
    x = np.array([[[1, 3], [3, 0]], [[0, 1], [2, 2]]], np.float32)
    assert computed("Hardmax", x, axis=-1).tolist() == [[[0, 1], [1, 0]], [[0, 1], [1, 0]]]
    assert computed("Hardmax", x, opset=11).tolist() == [[[0, 1], [0, 0]], [[0, 0], [1, 0]]]


@pytest.mark.parametrize("keepdims", [0, 1])
def test_log_sum_exp_does_not_overflow(computed, keepdims):
    x = np.array([[1000, 1000], [-1000, -1001], [-np.inf, -np.inf], [np.inf, 0]], np.float32)
    found = computed("ReduceLogSumExp", x, opset=18, axes=[1], keepdims=keepdims)
    assert found.shape == ((4, 1) if keepdims else (4,))
    assert found.reshape(-1).tolist() == pytest.approx(
        [1000 + np.log(2), -1000 + np.log1p(np.exp(-1)), -np.inf, np.inf]
    )


@pytest.mark.parametrize(
    ("node", "reason"),
    [
        (helper.make_node("LpNormalization", ["x"], ["y"], p=3), "p is 3"),
        (helper.make_node("LRN", ["x"], ["y"], size=0), "size is 0"),
        (helper.make_node("Hardmax", ["x"], ["y"], axis=2), "axis 2"),
    ],
)
def test_refused(refuses, model, node, reason):
    assert reason in refuses(model([node]), "TW2101", 4)
