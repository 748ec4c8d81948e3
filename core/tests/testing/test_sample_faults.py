"""A layer that is none of its operator is told with what is wrong with it and what to change."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest
from chained_product import CHAIN

from tilewright.ir.graphs.graph import Attribute
from tilewright.testing.one_step import vocabulary
from tilewright.testing.operator_layers import every_layer
from tilewright.testing.operator_sites import Sample
from tilewright.testing.sample_faults import layer_site, sample_fault

OPERATORS = {**vocabulary(), CHAIN.name: CHAIN}
A, B, BYTES = np.ones((3, 4), np.float32), np.ones((4, 5), np.float32), np.ones((1, 3, 4, 4), np.int8)
CONV: Mapping[str, Attribute] = {
    "kernel_shape": (1, 1), "pads": (0,) * 4, "strides": (1, 1), "dilations": (1, 1), "group": 1,
}  # fmt: skip
WRONG = {
    "no operator": (Sample(op="Matmul", inputs=(A, B)), "operator 'Matmul'; did you mean 'MatMul'?"),
    "no chain": (Sample(op="MatMul+Ad", inputs=()), "where an installed kernel has it as `pattern`"),
    "a shape": (Sample(op="MatMul", inputs=(A, A)), "the last axis of A and the last but one of B must be equal"),
    "no input": (Sample(op="QAdd", inputs=(BYTES,)), "input 1 is absent"),
    "one input more": (Sample(op="MatMul", inputs=(A, B, B)), "3 inputs are given"),
    "no array": (Sample(op="Neg", inputs=([1.0],)), "an input is a list, no numpy array"),  # type: ignore[arg-type]
    "no attribute": (
        Sample(op="QConv", inputs=(BYTES, np.ones((2, 3, 1, 1), np.int8)), attributes=CONV, constants=(1,)),
        "attribute 'requant' is missing",
    ),
    "no such constant": (Sample(op="Neg", inputs=(A,), constants=(1,)), "positions [1] of 1 inputs"),
    "a chain with too few": (Sample(op="MatMul+Add", inputs=(A, B, A)), "a chain has all 4, None where absent"),
    "a chain that is none": (Sample(op="MatMul+Add", inputs=(A, B, A, A)), "nothing that Add reads is absent"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_with_a_layer_is_told(case: str) -> None:
    sample, reason = WRONG[case]
    said = sample_fault(sample, OPERATORS)
    assert said.startswith(f"Sample(op='{sample.op}', kind=''): ")
    assert reason in said
    assert said.endswith("correct it where `pytest_tilewright_layers` returns it")


def test_right_layers_have_no_fault() -> None:
    of_few = [layer for layer in every_layer() if layer.op in ("MatMul", "QConv", "LSTMSteps")]
    chain = Sample(op="MatMul+Add", inputs=(A, B, None, np.ones((3, 5), np.float32)))
    for sample in (*of_few, chain):
        assert sample_fault(sample, OPERATORS) == ""
        assert layer_site(sample, OPERATORS) is not None
