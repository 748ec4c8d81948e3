"""Which C functions an expression calls, by its text alone."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path

import pytest

from core.tests.operators.plain_calls import plain_call
from tilewright.ir.tensors.dtypes import DType
from tilewright.operators.c_code.c_functions import c_functions, elementwise_source
from tilewright.operators.c_code.c_source import ELEMENTWISE
from tilewright.operators.c_code.walk import elementwise_values


def test_every_function_once_in_the_order_of_names() -> None:
    found = c_functions("tw_max_f32(tw_expf(x), tw_expf(tw_erff (y)) + tw_pi * sqrtf(z))")
    assert [section.name for section in found] == [
        "tilewright/functions/tw_expf.h",
        "tilewright/functions/tw_max_f32.h",
    ]
    assert c_functions("x + 1.0f") == ()


def test_a_function_that_nobody_wrote() -> None:
    with pytest.raises(FileNotFoundError, match="tw_missing"):
        c_functions("tw_missing(x)")


def test_functions_then_conversions_then_the_loops() -> None:
    call = plain_call({"X": (DType.BF16, (4,)), "Y": (DType.BF16, (4,))})
    names = [section.name for section in elementwise_source(elementwise_values(call, "e", "tw_expf(x)"))]
    assert names[-1] == ELEMENTWISE.name
    assert {"tilewright/functions/tw_expf.h", "tilewright/functions/tw_f32_of_bf16.h"} <= set(names)


def test_no_operator_asks_a_library_for_a_function_of_floats() -> None:
    """A bare machine has no libm, and the headers of its runtime declare nothing of it but fabsf."""
    asked = re.compile(r"(?<![\w.])(?!tw_|fabsf\()[a-z]\w*f\(")
    home = Path(str(files("tilewright.operators")))
    texts = {file: file.read_text(encoding="utf-8") for file in home.rglob("*") if file.suffix in (".c", ".h", ".mako")}
    code = {file: re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL) for file, text in texts.items()}
    assert len(code) > 100
    assert [(file.name, found) for file, text in sorted(code.items()) for found in asked.findall(text)] == []
