"""Sigmoid and tanh of 16 bits: all 65,536 values against the functions, and against loops over whole numbers."""

from __future__ import annotations

import zlib

import numpy as np
import pytest

from tilewright.operators.recurrent.gate_tables import gate_table, sigmoid, tanh, tanh_shift

EVERY = np.arange(-32768, 32768)
TABLE = gate_table().tolist()


def test_the_table_is_that_of_tensorflow_lite_micro() -> None:
    assert TABLE[:4] == [32768, 33451, 34133, 34813] and TABLE[-4:] == [65534, 65534, 65534, 65535]
    assert zlib.crc32(gate_table().astype("<u2").tobytes()) == 0xB84F6AB4


def test_sigmoid_is_near_its_function() -> None:
    assert np.abs(sigmoid(EVERY) - 2**15 / (1 + np.exp(-EVERY / 4096))).max() < 2.5


@pytest.mark.parametrize("power", range(-15, 1))
def test_tanh_is_near_its_function(power: int) -> None:
    limit = 4.0 if power <= -12 else 6.0
    assert np.abs(tanh(EVERY, power) - 2**15 * np.tanh(EVERY * 2.0**power)).max() < limit


def test_sigmoid_of_whole_numbers() -> None:
    for v, found in zip(EVERY[::97].tolist(), sigmoid(EVERY[::97]).tolist(), strict=True):
        k, part = divmod(3 * abs(v), 512)
        value = 32767 * 1024 if k >= 255 else TABLE[k] * 512 + part * (TABLE[k + 1] - TABLE[k])
        assert found == ((value + 512) // 1024 if v >= 0 else (2**25 - value + 511) // 1024)


@pytest.mark.parametrize("power", [-15, -12, -9])
def test_tanh_of_whole_numbers(power: int) -> None:
    factor, shift = tanh_shift(power)
    for v, found in zip(EVERY[::97].tolist(), tanh(EVERY[::97], power).tolist(), strict=True):
        at = (v * factor + (2**shift // 2)) // 2**shift
        k, part = divmod(abs(at), 256)
        value = 65535 * 256 if k >= 255 else TABLE[k] * 256 + part * (TABLE[k + 1] - TABLE[k])
        # as the source has it: of a negative number the sum is negated first
        assert found == ((value - 2**23 + 128) // 256 if at >= 0 else (2**23 - value + 127) // 256)
