"""The arithmetics of the core: each by its name, and with a function for every integer operator of its widths."""

from __future__ import annotations

import pytest

from tilewright.operators.arithmetics.known import ARITHMETICS

RESIZED = {"QResizeLinear"}  # TensorFlow Lite's has another formula, which the importer does not ask for
OPERATORS = {"QAdd", "QAveragePool", "QConv", "QGemm", "QMatMul", "QMul", "QReduceMean", "QSoftmax"}
WIDE = {(op, 16) for op in OPERATORS} | {("QRescale", 8), ("QRescale", 16)}


@pytest.mark.parametrize("name", ["onnx", "tflm", "pulp-shift"])
def test_each_knows_every_integer_operator(name: str) -> None:
    assert ARITHMETICS[name].name == name
    wide = set[tuple[str, int]]() if name == "pulp-shift" else WIDE
    resized = RESIZED if name != "tflm" else set[str]()
    assert set(ARITHMETICS[name].functions) == {(op, 8) for op in OPERATORS | resized} | wide
    assert ARITHMETICS[name].knows("QConv") and not ARITHMETICS[name].knows("Conv")
