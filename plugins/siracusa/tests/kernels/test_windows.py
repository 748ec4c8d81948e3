"""Calls over windows: a word of padding is four times a byte, or twice what has two."""

from __future__ import annotations

import struct

import pytest

from tilewright_siracusa.kernels.windows import pad_word


@pytest.mark.parametrize("value", [-128, -1, 0, 5, 127, 255])
def test_padding(value: int) -> None:
    (word,) = struct.unpack("<I", bytes([value & 255]) * 4)
    assert int(pad_word(value).removeprefix("UINT32_C(").removesuffix(")"), 16) == word


@pytest.mark.parametrize("value", [-(2**15), -1, 0, 300, 2**15 - 1])
def test_padding_of_16_bits(value: int) -> None:
    (word,) = struct.unpack("<I", struct.pack("<hh", value, value))
    assert int(pad_word(value, 2).removeprefix("UINT32_C(").removesuffix(")"), 16) == word
