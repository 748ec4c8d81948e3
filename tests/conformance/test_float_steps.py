"""Between the first Q and the last DQ a quantised network computes in integers, but for a few operators, no others."""

from __future__ import annotations

import pytest

from tests.kit.qdq_networks import BLOCKS, PIECES, float_steps, qdq_network
from tilewright.deployment import Deployment

AROUND = {"Clip", "DequantizeLinear", "QuantizeLinear"}  # of dynamic quantisation, whose ends are float
# What is left in float, and nothing else.
LEFT = {
    "ReduceL2": {"DequantizeLinear", "Mul", "ReduceSum", "Sqrt", "QuantizeLinear"},
    "LpNormalization": {"DequantizeLinear", "Mul", "ReduceSum", "Sqrt", "Equal", "Div", "Where", "QuantizeLinear"},
    "Div": {"DequantizeLinear", "Div", "QuantizeLinear"},  # of two tensors
    "RNN": {"DequantizeLinear", "Gemm", "RNNSteps", "QuantizeLinear"},
    "MatMulInteger": AROUND | {"DynamicQuantizeLinear", "MatMulInteger"},  # of floats, to floats
    "ConvInteger": AROUND | {"DynamicQuantizeLinear", "ConvInteger"},
}


@pytest.mark.parametrize("name", [*PIECES, *BLOCKS])
def test_what_stays_in_float(name: str) -> None:
    model, _ = qdq_network(name)
    steps = set(float_steps(Deployment(model, "generic").rewritten.graph))
    assert steps == LEFT.get(name, set())
