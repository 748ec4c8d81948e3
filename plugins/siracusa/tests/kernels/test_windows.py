"""Calls over windows: a word of padding is four times a byte."""

from __future__ import annotations

import struct

import pytest

from tilewright_siracusa.kernels.windows import pad_word


@pytest.mark.parametrize("value", [-128, -1, 0, 5, 127, 255])
def test_padding(value: int) -> None:
    (word,) = struct.unpack("<I", bytes([value & 255]) * 4)
    assert int(pad_word(value).removeprefix("UINT32_C(").removesuffix(")"), 16) == word
