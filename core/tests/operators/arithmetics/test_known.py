"""The arithmetics of the core: each by its name, and with a function for every integer operator of 8 bits."""

from __future__ import annotations

import pytest

from tilewright.operators.arithmetics.known import ARITHMETICS

RESIZED = {"QResizeLinear"}  # TensorFlow Lite's has another formula, which the importer does not ask for
OPERATORS = {"QAdd", "QAveragePool", "QConv", "QGemm", "QMatMul", "QMul", "QReduceMean", "QSoftmax"}


@pytest.mark.parametrize("name", ["onnx", "tflm", "pulp-shift"])
def test_each_knows_every_integer_operator(name: str) -> None:
    assert ARITHMETICS[name].name == name
    assert set(ARITHMETICS[name].functions) == {(op, 8) for op in OPERATORS | (RESIZED if name != "tflm" else set())}
