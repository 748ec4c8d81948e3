"""Bytes of constants as their elements."""

from __future__ import annotations

import numpy as np
import pytest

from tilewright_tflite.elements import elements_of
from tilewright_tflite.errors import RefusedError
from tilewright_tflite.model import Tensor

NONE = np.zeros(0, np.float32)


def tensor(kind: str, *shape: int) -> Tensor:
    return Tensor(index=0, name="c", type=kind, shape=shape, scales=NONE, zero_points=NONE)


def of(kind: str, *shape: int, data: bytes) -> list[float]:
    return list(elements_of(tensor(kind, *shape), np.frombuffer(data, np.uint8)).reshape(-1))


def test_types_are_little_endian() -> None:
    assert of("int16", 2, data=b"\x01\x02\xff\xff") == [0x0201, -1]
    assert of("bool", 1, 2, data=b"\x00\x01") == [False, True]
    assert of("float16", 1, data=b"\x00\x3c") == [1.0]


def test_halves_of_bytes_are_numbers_with_a_sign() -> None:
    assert of("int4", 3, data=b"\x7f\x08") == [-1, 7, -8]


@pytest.mark.parametrize(
    ("kind", "size", "said"),
    [("int32", 7, "has 7 bytes, and its shape needs 8"), ("string", 8, "is string, which tilewright does not hold")],
)
def test_what_does_not_fit_is_refused(kind: str, size: int, said: str) -> None:
    with pytest.raises(RefusedError, match=said):
        of(kind, 2, data=bytes(size))
