"""Between the first Q and the last DQ a quantised network computes in integers, but for a few operators, no others."""

from __future__ import annotations

import pytest

from tests.kit.qdq_networks import BLOCKS, PIECES, float_steps, qdq_network
from tilewright.deployment import Deployment

# What is left in float, and nothing else.
LEFT = {
    "ReduceL2": {"DequantizeLinear", "Mul", "ReduceSum", "Sqrt", "QuantizeLinear"},
    "LpNormalization": {"DequantizeLinear", "Mul", "ReduceSum", "Sqrt", "Equal", "Div", "Where", "QuantizeLinear"},
    "Div": {"DequantizeLinear", "Div", "QuantizeLinear"},  # of two tensors
    "RNN": {"DequantizeLinear", "Gemm", "RNNSteps", "QuantizeLinear"},
    "MatMulInteger": {"DynamicScale", "ReduceMin", "ReduceMax", "Mul"},  # scales are found when it runs
    "ConvInteger": {"DynamicScale", "ReduceMin", "ReduceMax", "Mul"},
}
AROUND = {"Clip", "DequantizeLinear", "QuantizeLinear"}  # of dynamic quantisation, whose ends are float


@pytest.mark.parametrize("name", [*PIECES, *BLOCKS])
def test_what_stays_in_float(name: str) -> None:
    model, _ = qdq_network(name)
    steps = set(float_steps(Deployment(model, "generic").rewritten.graph))
    assert steps - (AROUND if name.endswith("Integer") else set()) == LEFT.get(name, set())
