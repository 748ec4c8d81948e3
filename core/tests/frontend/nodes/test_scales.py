"""Scales and zero points that would make results depend on the machine are refused, with exit code 3."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import helper, numpy_helper


@pytest.fixture
def quantised(model):
    """x -> QuantizeLinear -> DequantizeLinear -> y with the given scale and zero points."""

    def make(scale, zero=None, other=None):
        zero = np.array(0, np.int8) if zero is None else zero
        arrays = {"s": scale, "z": zero, "z2": zero if other is None else other}
        nodes = [
            helper.make_node("QuantizeLinear", ["x", "s", "z"], ["q"], "quantise"),
            helper.make_node("DequantizeLinear", ["q", "s", "z2"], ["y"], "dequantise"),
        ]
        return model(nodes, constants=[numpy_helper.from_array(array, name) for name, array in arrays.items()])

    return make


def test_sound(loads, quantised):
    assert len(loads(quantised(np.array(0.5, np.float32))).graph.nodes) == 2


@pytest.mark.parametrize("scale", [0.0, -0.0, -1.0, np.nan, np.inf, -np.inf, 1e-40, 1.1e-38])
def test_bad_scales(refuses, quantised, scale):
    text = refuses(quantised(np.array(scale, np.float32)), "TW3051")
    assert "'quantise'" in text and "'s'" in text
    assert ("where the float network has -inf" in text) == np.isinf(scale)
    assert ("calibration data that reaches" in text) != np.isinf(scale)


def test_one_bad_scale_among_channels_is_named(refuses, quantised):
    zeros = np.zeros(4, np.int8)
    text = refuses(quantised(np.array([1, 2, 0, 3], np.float32), zeros), "TW3051")
    assert "0.0 at index 2" in text


def test_a_scale_of_another_type(refuses, quantised):
    refuses(quantised(np.array(0.5, np.float64)), "TW3051")


def test_half_precision_scales_are_valid_but_not_taken(refuses, quantised):
    assert "float16" in refuses(quantised(np.array(0.5, np.float16)), "TW2101", 4)


def test_a_scale_without_elements(refuses, quantised):
    refuses(quantised(np.zeros(0, np.float32)), "TW3051")


def test_a_zero_point_of_another_type_than_the_tensor(refuses, quantised):
    text = refuses(quantised(np.array(0.5, np.float32), other=np.array(0, np.uint8)), "TW3052")
    assert "'dequantise'" in text


def test_a_zero_point_that_is_no_integer(refuses, quantised):
    refuses(quantised(np.array(0.5, np.float32), np.array(0, np.float32)), "TW3052")


def test_more_zero_points_than_scales(refuses, quantised):
    refuses(quantised(np.array(0.5, np.float32), np.zeros(4, np.int8)), "TW3052")


def test_a_bias_with_a_zero_point(refuses, model):
    arrays = {"b": np.ones(4, np.int32), "s": np.array(0.5, np.float32), "z": np.array(1, np.int32)}
    nodes = [helper.make_node("DequantizeLinear", ["b", "s", "z"], ["d"]), helper.make_node("Add", ["x", "d"], ["y"])]
    constants = [numpy_helper.from_array(array, name) for name, array in arrays.items()]
    assert "must be 0" in refuses(model(nodes, constants=constants), "TW3052")
