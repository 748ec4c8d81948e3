"""Scales of blocks: against numpy with every scale repeated, blocks that divide the axis and blocks that do not."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from tilewright.comparison.reference import run
from tilewright.errors import TilewrightError
from tilewright.frontend.load import load
from tilewright.operators.families import FAMILIES

OPERATORS = {operator.name: operator for family in FAMILIES for operator in import_module(family).OPERATORS}
TYPES = {"float32": TensorProto.FLOAT, "int8": TensorProto.INT8, "uint8": TensorProto.UINT8, "int16": TensorProto.INT16}


def result(op: str, x: np.ndarray, *parameters: np.ndarray, **attributes: Any) -> np.ndarray:
    """What a node computes whose scale and zero point are constants."""
    names = ["s", "z"][: len(parameters)]
    node = helper.make_node(op, ["x", *names], ["y"], name="n", **attributes)
    constants = [numpy_helper.from_array(array, name) for name, array in zip(names, parameters, strict=True)]
    ends = [helper.make_tensor_value_info("x", TYPES[x.dtype.name], x.shape)]
    graph = helper.make_graph([node], "g", ends, [helper.make_tensor_value_info("y", 0, None)], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    loaded = load(model.SerializeToString(), operators=OPERATORS).graph
    return run(loaded, {"x": x}, OPERATORS)["y"]


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16"])
@pytest.mark.parametrize("size", [2, 3, 4, 7])
@pytest.mark.parametrize("zeros", [True, False])
def test_there_and_back(zeros: bool, size: int, dtype: str) -> None:
    random, info = np.random.default_rng(size), np.iinfo(dtype)
    blocks = -(-6 // size)
    x = (random.standard_normal((3, 6, 2)) * 40).astype(np.float32)
    scale = random.choice([0.25, 0.3, 1.5], (3, blocks, 2)).astype(np.float32)
    zero = random.integers(0 if info.min == 0 else -9, 9, scale.shape).astype(dtype)
    wide, wide_zero = (np.repeat(each, size, axis=1)[:, :6] for each in (scale, zero * zeros))
    expected = np.clip(np.rint(x / wide) + wide_zero.astype(np.int64), info.min, info.max).astype(dtype)
    how = {"axis": 1, "block_size": size}
    given = (scale, zero) if zeros else (scale,)
    stored = result("QuantizeLinear", x, *given, **how, **({} if zeros else {"output_dtype": TYPES[dtype]}))
    assert stored.dtype == expected.dtype and np.array_equal(stored, expected)
    back = result("DequantizeLinear", expected, *given, **how)
    assert np.array_equal(back, (expected - wide_zero.astype(np.float32)).astype(np.float32) * wide)


def test_scales_that_are_not_one_for_each_block() -> None:
    with pytest.raises(TilewrightError, match="do not fit"):
        result("QuantizeLinear", np.zeros((4, 6), np.float32), np.ones((4, 2), np.float32), axis=1, block_size=2)
