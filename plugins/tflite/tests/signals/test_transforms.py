"""The transform in three kinds of numbers: near numpy's, as far as each of them rounds; twiddles are on the circle."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tilewright_tflite.signals.transforms import Kind, complex_twiddles, real_twiddles, samples_of, spectrum

KINDS = {"int16": 2**15 - 1, "int32": 2**31 - 1, "float32": 1}
STEP = {"int16": 1.0, "int32": 1.0, "float32": 1e-6}


def tables(half: int, turn: int, kind: str) -> list[Any]:
    made = [make(half, turn, kind) for make in (complex_twiddles, real_twiddles)]
    return [table.astype(Kind(kind).wide).reshape(-1, 2) for table in made]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("length", [4, 32, 128])
def test_there_and_back(kind: str, length: int) -> None:
    """Fractions are divided by the length on the way there, and the way back divides by it once more."""
    numbers, most = Kind(kind), KINDS[kind]
    samples = (np.random.default_rng(length).uniform(-0.9, 0.9, length) * most).astype(numbers.wide)
    bins = spectrum(numbers, samples, *tables(length // 2, 1, kind))
    divided = length if numbers.whole else 1
    assert np.abs(bins[:, 0] + 1j * bins[:, 1] - np.fft.rfft(samples) / divided).max() < 12 * STEP[kind]
    again = samples_of(numbers, bins, *tables(length // 2, -1, kind))
    wanted = np.fft.irfft(bins[:, 0] + 1j * bins[:, 1])
    assert np.abs(again - wanted).max() < 12 * STEP[kind]


@pytest.mark.parametrize("kind", KINDS)
def test_twiddles_are_on_the_circle(kind: str) -> None:
    pairs = complex_twiddles(16, 1, kind).reshape(-1, 2).astype(np.float64) / KINDS[kind]
    assert np.allclose(pairs[:, 0] + 1j * pairs[:, 1], np.exp(-2j * np.pi * np.arange(16) / 16), atol=1e-4)
    assert np.allclose(complex_twiddles(16, -1, kind).reshape(-1, 2)[4], [0, KINDS[kind]], atol=1e-9)


def test_numbers_wrap_where_their_type_ends() -> None:
    assert Kind("int16").word(np.array([40000])).tolist() == [40000 - 65536]
    assert Kind("int32").half(np.array([2**31 + 2])).tolist() == [-(2**30) + 1]
    assert Kind("int16").half(np.array([2**15 + 2])).tolist() == [2**14 + 1]
    assert Kind("float32").half(np.array([3.0])).tolist() == [1.5]
