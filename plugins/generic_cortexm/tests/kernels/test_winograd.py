"""Winograd's transforms in integers: exact modulo 2**32, in 16 bits, and refused where sums could be larger."""

from __future__ import annotations

import numpy as np
import pytest

from tilewright_cortexm.kernels.winograd import FOUR, MOST, NINTH, TWO, Transform

REGISTER = 2**32


def test_nine_has_an_inverse() -> None:
    assert 9 * NINTH % REGISTER == 1


@pytest.mark.parametrize("transform", [FOUR, TWO], ids=["four", "two"])
@pytest.mark.parametrize("channels", [1, 100])
def test_sums_are_found_in_what_is_left_of_them(transform: Transform, channels: int) -> None:
    rng = np.random.default_rng(channels)
    n, side = transform.reads, transform.side
    x, w = rng.integers(0, MOST + 1, (channels, n, n)), rng.integers(-128, 128, (channels, 3, 3))
    values, results = np.array(transform.values), np.array(transform.results)
    products = (transform.of_weights(w) * (values @ x @ values.T)).sum(axis=0) % REGISTER
    scaled = (results @ products @ results.T * transform.inverse) % REGISTER
    signed = np.where(scaled < REGISTER // 2, scaled, scaled - REGISTER)
    shifts = np.array(transform.shifts)
    found = signed >> (shifts[:, None] + shifts)
    assert np.array_equal(found, [[(x[:, i : i + 3, j : j + 3] * w).sum() for j in range(side)] for i in range(side)])


@pytest.mark.parametrize("transform", [FOUR, TWO], ids=["four", "two"])
def test_points_fit_sixteen_bits(transform: Transform) -> None:
    values = np.array(transform.values)
    rows = np.einsum("ai,bj->abij", values, values)
    most, least = (MOST * np.maximum(sign * rows, 0).sum(axis=(2, 3)).max() for sign in (1, -1))
    weights = 128 * np.abs(np.einsum("ai,bj->abij", transform.weights, transform.weights)).sum(axis=(2, 3)).max()
    assert max(most, least, weights) < 2**15


@pytest.mark.parametrize(("transform", "bits"), [(FOUR, 25), (TWO, 29)])
def test_sums_that_do_not_fit_are_refused(transform: Transform, bits: int) -> None:
    fits = 2**bits // (MOST * 127)
    assert transform.is_exact(np.full((1, fits), 127)) and not transform.is_exact(np.full((1, fits + 1), 127))
    assert transform.is_exact(np.array([[127] * fits + [-127] * fits]))
    assert not transform.is_exact(np.full((1, fits + 1), -127))
