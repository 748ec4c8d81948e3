"""Literals in the header."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tilewright.emit.border import decimal_float, port_texts
from tilewright.emit.weights import initialiser


@pytest.mark.slow
@given(st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_decimal_floats_read_back_to_the_same_bits(value: float) -> None:
    text = decimal_float(value)
    assert text.endswith("f")
    assert "." in text or "e" in text
    assert np.float32(text[:-1]) == np.float32(value)


@pytest.mark.parametrize("value", [float("inf"), float("nan")])
def test_what_has_no_literal_is_refused(value: float) -> None:
    with pytest.raises(ValueError, match="no decimal literal"):
        decimal_float(value)


def test_initialisers() -> None:
    assert initialiser(np.array([-(2**31), 5], np.int32)) == "    INT32_MIN, 5"
    assert initialiser(np.array([True, False])) == "    1, 0"
    assert initialiser(np.array([0.5], np.float32)) == "    0x1.0000000000000p-1f"
    assert initialiser(np.zeros((2, 9), np.int8)).count("\n") == 1
    assert initialiser(np.zeros(0, np.int8)) == "    0"


def test_what_is_said_of_an_input_goes_on_in_the_next_line(toy: Any) -> None:
    program = toy.program(toy.graph())
    port = program.inputs[0]
    port = replace(port, tensor=replace(port.tensor, shape=(1,) * 40), private=False)
    (text,) = port_texts(program, (port,), "IN")
    assert all(len(f"/* {line} */") <= 120 for line in text.sentence.split("\n"))
    assert text.sentence.endswith("shares bytes with another input or output") and "\n * " in text.sentence
