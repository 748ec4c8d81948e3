"""Refusals of operators."""

from __future__ import annotations

from tilewright_tflite.errors import InnerError, LostError, RefusedError


def test_whatever_refuses_an_operator_is_caught_as_one() -> None:
    assert issubclass(InnerError, RefusedError) and issubclass(LostError, RefusedError)
    assert not issubclass(LostError, InnerError)
