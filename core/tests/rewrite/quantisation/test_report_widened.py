"""Constants of 4 and 2 bits that become floats are named, with the bytes that they take."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tilewright.ir.tensors.dtypes import DType
from tilewright.rewrite.quantisation.report_widened import PASS
from tilewright.testing.sketch import Sketch


def added(operators: Any, bits: int) -> Any:
    """x + constants of so many bits, one scale for each row."""
    s = Sketch(operators=operators)
    stored = s.constant(np.ones((4, 8), np.int8)), s.constant(np.ones(4, np.float32)), s.constant(np.zeros(4, np.int8))
    w = s.node("DequantizeLinear", stored, {"axis": 0, "weight_bits": bits})
    return s.finish(s.node("Add", (s.input("x", DType.F32, (4, 8)), w)))


@pytest.mark.parametrize(("bits", "packed"), [(4, 16), (2, 8)])
def test_they_are_named_with_their_bytes(bits: int, packed: int, operators: Any, bench: Any) -> None:
    (found,) = bench.diagnostics(added(operators, bits), PASS)
    assert (found.code, found.severity) == ("TW3016", "warning")
    said = f"32 weights of {bits} bits become float32: 128 B of flash, and not {packed} B; Add takes floats"
    assert said in found.message


def test_bytes_are_nothing_new(operators: Any, bench: Any) -> None:
    assert bench.diagnostics(added(operators, 8), PASS) == ()
