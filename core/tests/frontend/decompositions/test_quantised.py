"""DynamicQuantizeLinear by other operators: against the formula, and where all values are 0 or there are none."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import TensorProto, helper

from tilewright.comparison.reference import run


@pytest.fixture
def quantised(loads, model, vocabulary):
    def compute(x):
        node = helper.make_node("DynamicQuantizeLinear", ["x"], ["y", "scale", "zero_point"])
        inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape)]
        kinds = (("y", TensorProto.UINT8), ("scale", TensorProto.FLOAT), ("zero_point", TensorProto.UINT8))
        outputs = [helper.make_tensor_value_info(name, kind, None) for name, kind in kinds]
        graph = loads(model([node], inputs=inputs, outputs=outputs)).graph
        found = run(graph, {"x": x}, vocabulary)
        return found["y"].tolist(), found["scale"].item(), found["zero_point"].item()

    return compute


def test_both_signs(quantised):
    values, scale, zero = quantised(np.array([-1.0, 0.0, 4.1], np.float32))
    assert (values, zero) == ([0, 50, 255], 50)
    assert scale == pytest.approx(5.1 / 255, rel=1e-6)


@pytest.mark.parametrize("sign", [1, -1])
def test_0_is_always_inside(quantised, sign):
    values, scale, zero = quantised(np.array([2.0, 5.1], np.float32) * np.float32(sign))
    assert scale == pytest.approx(5.1 / 255, rel=1e-6)
    assert (values, zero) == (([100, 255], 0) if sign > 0 else ([155, 0], 255))


@pytest.mark.parametrize("shape", [(), (3,), (0,)])
def test_the_scale_of_silence_is_1(quantised, shape):
    values, scale, zero = quantised(np.zeros(shape, np.float32))
    assert (np.array(values).tolist(), scale, zero) == (np.zeros(shape).tolist(), 1.0, 0)
