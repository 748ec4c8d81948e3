"""Weights of 4 bits of two channels in a byte: the sums come apart exactly, and beyond the bounds they would not."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tilewright.api.graph import Site
from tilewright.api.testing import refusal, site_of, vocabulary
from tilewright.ir.tensors.requant import Requant
from tilewright.ir.tensors.roundings import MultiplyShift
from tilewright_siracusa.kernels.nibbles import nibble_biases, nibble_bytes
from tilewright_siracusa.kernels.vector import VECTOR_NIBBLES


def wrapped(value: int) -> int:
    return (value + 2**31) % 2**32 - 2**31


def sums_of(weights: np.ndarray, biases: np.ndarray, x: np.ndarray) -> list[int]:
    """What the instructions make of [channels, values]: sums of bytes and of lower nibbles, modulo 2**32."""
    stored, begun = nibble_bytes(weights.astype(np.int8)).astype(np.int64), nibble_biases(biases)
    found = list[int]()
    for pair, row in enumerate(stored):
        lower_bias = int(begun[2 * pair + 1]) if 2 * pair + 1 < len(begun) else 0
        both, lower = int(begun[2 * pair]) + int((row * x).sum()), lower_bias + int(((row & 15) * x).sum())
        found += [wrapped(wrapped(both) - wrapped(lower)) >> 4, lower - 8 * int(x.sum())]
    return found


@given(
    channels=st.integers(1, 5), depth=st.integers(1, 20), seed=st.integers(0, 2**32), saturated=st.booleans(),
    total=st.sampled_from([1 - 2**27, -1, 0, 2**27 - 1]),
)  # fmt: skip
def test_sums_at_the_edges_are_those_of_the_channels(
    channels: int, depth: int, seed: int, saturated: bool, total: int
) -> None:
    rng = np.random.default_rng(seed)
    weights = rng.choice([-8, 7], (channels, depth)) if saturated else rng.integers(-8, 8, (channels, depth))
    x = rng.choice([-128, 127, 255], depth)
    biases = total - (weights * x).sum(axis=1)
    assert sums_of(weights, biases, x)[:channels] == [total] * channels


def test_what_does_not_come_apart_is_refused() -> None:
    assert refusal(VECTOR_NIBBLES, gemm()) is None
    assert refusal(VECTOR_NIBBLES, gemm(b_zero_point=(1,))) == "weights minus their zero points do not fit 4 bits"
    apart = "sums leave the 28 bits in which two channels come apart"
    assert refusal(VECTOR_NIBBLES, gemm(bias=2**27 - 20000)) is None
    assert refusal(VECTOR_NIBBLES, gemm(bias=2**27)) == apart
    moved = MultiplyShift(multiplier=(1,), addend=(2**27,), shift=(16,), bits=32)
    requant = Requant(scale=(2.0**-16,), zero_point=0, low=-128, high=127, rounding=moved)
    assert refusal(VECTOR_NIBBLES, gemm(requant=requant)) == apart
    assert sums_of(np.zeros((1, 4)), np.array([2**27]), np.zeros(4, np.int64))[0] != 2**27


def gemm(bias: int = 0, **changes: object) -> Site:
    inputs = [np.zeros((1, 4), np.int8), np.full((4, 2), -8, np.int8), np.full(2, bias, np.int32)]
    requant = Requant(scale=(0.01,), zero_point=0, low=-128, high=127)
    attributes = {"a_zero_point": 3, "b_zero_point": (0,), "requant": requant, "output_type": "i8", "weight_bits": 4}
    return site_of(vocabulary()["QGemm"], inputs, {**attributes, **changes}, (1, 2))
