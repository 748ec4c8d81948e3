"""Arithmetic that quantises in a form nobody knows is named in a warning; other rounding and clipping is not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tilewright.ir.tensors.dtypes import DType
from tilewright.rewrite.qdq.unrecognised import unrecognised


@pytest.mark.parametrize(
    ("ops", "limits", "warned"),
    [
        (("Round",), {"min": -8.0, "max": 7.0}, True),
        (("Round", "Add"), {"min": 0.0, "max": 15.0}, True),
        (("Round",), {"min": -0.5, "max": 7.0}, False),
        (("Round",), {"min": 0.0}, False),
        (("Round",), {"min": -1e9, "max": 1e9}, False),
        (("Add",), {"min": 0.0, "max": 6.0}, False),
        ((), {"min": 0.0, "max": 6.0}, False),
    ],
)
def test_what_is_warned_of(sketch: Any, ops: tuple[str, ...], limits: dict[str, float], warned: bool) -> None:
    s = sketch()
    value = s.input("x", DType.F32, (3, 5))
    for op in ops:
        value = s.node(op, (value,) if op == "Round" else (value, s.constant(np.array(3, np.float32))))
    found = unrecognised(s.graph((s.node("Clip", (value,), limits, name="clip"),)))
    assert [(one.code, one.severity, one.where) for one in found] == [("TW3004", "warning", "clip")] * warned
