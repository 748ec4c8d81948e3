"""Blocks whose input is added to what they compute: sound plans, whichever way round and in whichever layout."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from tilewright.config.options import Options
from tilewright.deployment import Deployment
from tilewright.runners.twin import TwinRunner
from tilewright.validation.validation import validate, vectors_of


def residual(addends: tuple[str, str]) -> bytes:
    """A 1x1 convolution of four channels, and its input beside its result."""
    node, weights = helper.make_node, np.random.default_rng(0).integers(-128, 128, (4, 4, 1, 1)).astype(np.int8)
    constants = {"s": np.float32(0.02), "z": np.int8(0), "w": weights}
    nodes = [
        node("DequantizeLinear", ["x", "s", "z"], ["f"]),
        node("DequantizeLinear", ["w", "s", "z"], ["wf"]),
        node("Conv", ["f", "wf"], ["c"]),
        node("QuantizeLinear", ["c", "s", "z"], ["q"]),
        node("DequantizeLinear", ["q", "s", "z"], ["d"]),
        node("Add", list(addends), ["a"]),
        node("QuantizeLinear", ["a", "s", "z"], ["y"]),
    ]
    ends = (helper.make_tensor_value_info(name, TensorProto.INT8, [1, 4, 4, 4]) for name in "xy")
    stored = [numpy_helper.from_array(np.asarray(array), name) for name, array in constants.items()]
    graph = helper.make_graph(nodes, "residual", [next(ends)], [next(ends)], stored)
    return bytes(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)]).SerializeToString())


@pytest.mark.slow
@pytest.mark.parametrize("addends", [("f", "d"), ("d", "f")])
def test_a_chain_reads_what_is_laid_out_anew(addends: tuple[str, str]) -> None:
    deployment = Deployment(residual(addends), "siracusa", Options())
    kernels = {layer.kernel.name for layer in deployment.bound.layers.values()}
    assert "siracusa.qconv_qadd" in kernels
    verdict = validate(deployment, TwinRunner(), vectors_of(deployment, None, 2))
    assert verdict.passed, str(verdict)
