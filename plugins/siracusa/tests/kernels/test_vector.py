"""Fully connected layers of a single row: right whole, in tiles and in parts, with rows of whole words and others."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tilewright.api.graph import DType, Site
from tilewright.api.testing import byte_array, make_requant, refusal, site_of, vocabulary
from tilewright.ir.plans.layer import layer_of
from tilewright_siracusa.kernels.vector import VECTOR, VECTOR_NIBBLES

QGEMM = vocabulary()["QGemm"]


def layer(
    depth: int, columns: int, rows: int = 1, dtype: DType = DType.I8, bits: int = 8
) -> tuple[Site, list[np.ndarray]]:
    rng = np.random.default_rng(depth)
    inputs = [
        byte_array(rng, dtype, (rows, depth), False), byte_array(rng, DType.I8, (depth, columns), False),
        rng.integers(-900, 900, columns).astype(np.int32),
    ]  # fmt: skip
    inputs[1] = inputs[1] >> (8 - bits)
    requant = make_requant(rng, columns, DType.I8, 130 * 2 ** (bits - 1) * np.sqrt(depth), "random")
    attributes = {"a_zero_point": 3, "b_zero_point": (0,), "requant": requant, "output_type": "i8"}
    attributes |= {"weight_bits": bits} if bits < 8 else {}
    return site_of(QGEMM, inputs, attributes, (1, 2)), inputs


@pytest.mark.parametrize(("depth", "dtype"), [(64, DType.I8), (61, DType.U8)])
def test_results_are_those_of_the_reference(depth: int, dtype: DType, check: Callable[..., None]) -> None:
    site, inputs = layer(depth, 13, dtype=dtype)
    assert refusal(VECTOR, site) is None
    check(QGEMM, VECTOR, site, inputs, np.random.default_rng(1))


@pytest.mark.parametrize(("depth", "columns"), [(64, 13), (61, 10), (60, 1)])
def test_weights_of_4_bits(depth: int, columns: int, check: Callable[..., None]) -> None:
    site, inputs = layer(depth, columns, bits=4)
    assert refusal(VECTOR_NIBBLES, site) is None
    check(QGEMM, VECTOR_NIBBLES, site, inputs, np.random.default_rng(1))
    packed = layer_of(QGEMM, VECTOR_NIBBLES, site).packed["W"]
    assert packed.shape == ((columns + 1) // 2, 4 * ((depth + 3) // 4))


def test_several_rows_are_not_its_business() -> None:
    assert refusal(VECTOR, layer(64, 13, rows=2)[0]) == "A has 2 rows, not one"


def test_only_rows_of_whole_words_are_computed_in_parts_and_the_others_need_a_copy() -> None:
    whole, odd = (layer_of(QGEMM, VECTOR, layer(depth, 13)[0]) for depth in (64, 61))
    assert whole.sums is not None and whole.sums.loops == ("k",) and VECTOR.scratch_bytes(whole.whole) == 0
    assert odd.sums is None and VECTOR.scratch_bytes(odd.whole) == 64
    assert whole.packed["W"].shape == (13, 64) and odd.packed["W"].shape == (13, 64)
    assert not odd.packed["W"][:, 61:].any()  # what is beside the row adds nothing


def test_cost_grows_with_depth_and_columns() -> None:
    costs = []
    for depth, columns in ((64, 13), (128, 13), (128, 26)):
        assert VECTOR.cycles is not None
        costs.append(VECTOR.cycles(layer_of(QGEMM, VECTOR, layer(depth, columns)[0]).whole))
    assert 0 < costs[0] < costs[1] < costs[2]
