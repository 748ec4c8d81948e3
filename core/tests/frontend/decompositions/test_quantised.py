"""DynamicQuantizeLinear against the formula, also where all values are 0 or there are none; onnxruntime's products of
dynamic quantisation against its own sums.
"""

from __future__ import annotations

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

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


RANDOM = np.random.default_rng(8)
A, BIAS = RANDOM.normal(size=(3, 6)).astype(np.float32), RANDOM.normal(size=4).astype(np.float32)
B, ZEROS = RANDOM.integers(-128, 128, (6, 4)).astype(np.int8), np.array([3, -4, 0, 7], np.int8)
SCALES = (RANDOM.random(4) + 0.1).astype(np.float32)
BYTES, POINT, STEP = RANDOM.integers(0, 256, (3, 6)).astype(np.uint8), np.uint8(90), np.float32(0.02)


@pytest.mark.parametrize("zeros", [None, ZEROS[:1].reshape(()), ZEROS], ids=["no zero", "one zero", "zeros"])
@pytest.mark.parametrize("bias", [None, BIAS], ids=["no bias", "bias"])
@pytest.mark.parametrize("op_type", ["DynamicQuantizeMatMul", "MatMulIntegerToFloat"])
def test_products_of_onnxruntime(op_type, bias, zeros, loads, model, vocabulary):
    dynamic = op_type.startswith("Dynamic")
    constants = {"b": B, "scales": SCALES, "zeros": zeros, "bias": bias, "step": STEP, "point": POINT}
    named = ("scales", "zeros", "bias") if dynamic else ("step", "scales", "point", "zeros", "bias")
    x = A if dynamic else BYTES
    made = model(
        [helper.make_node(op_type, ["x", "b", *(each if constants[each] is not None else "" for each in named)], ["y"],
                          domain="com.microsoft")],
        inputs=[helper.make_tensor_value_info("x", helper.np_dtype_to_tensor_dtype(x.dtype), x.shape)],
        outputs=[helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        constants=[
            numpy_helper.from_array(np.asarray(each), name) for name, each in constants.items() if each is not None
        ],
    )  # fmt: skip
    made.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    step, stored, point = STEP, BYTES, POINT
    if dynamic:
        low, high = min(A.min(), np.float32(0)), max(A.max(), np.float32(0))
        step = (high - low) / np.float32(255)
        point = np.rint(-low / step)
        stored = np.clip(np.rint(A / step) + point, 0, 255)
    sums = (stored.astype(np.int64) - int(point)) @ (B.astype(np.int64) - (0 if zeros is None else zeros))
    wanted = sums.astype(np.float32) * (step * SCALES)
    found = run(loads(made).graph, {"x": x}, vocabulary)["y"]
    assert np.array_equal(found, wanted if bias is None else wanted + BIAS)
