"""Layers of integer recurrences reach limits of gates and of states, and are the same for the same numbers."""

from __future__ import annotations

import numpy as np
import pytest

from tilewright.ir.tensors.dtypes import DType
from tilewright.operators.recurrent.integer_recurrent import OPERATORS
from tilewright.testing.integer_recurrences import integer_recurrence, integer_recurrences
from tilewright.testing.operator_sites import site_of

BY_NAME = {operator.name: operator for operator in OPERATORS}


def test_the_same_numbers_make_the_same_layers() -> None:
    one, other = (list(integer_recurrences(np.random.default_rng(7))) for _ in range(2))
    assert [layer.name for layer in one] == [layer.name for layer in other] and len({layer.name for layer in one}) == 6
    pairs = [
        (a, b) for left, right in zip(one, other, strict=True) for a, b in zip(left.inputs, right.inputs, strict=True)
    ]
    assert all(np.array_equal(a, b) for a, b in pairs if a is not None)


@pytest.mark.parametrize("dtype", [DType.I8, DType.I16])
@pytest.mark.parametrize("op", BY_NAME)
def test_states_come_near_their_limits_and_are_spread(op: str, dtype: DType) -> None:
    layer = integer_recurrence(np.random.default_rng(8), op, optional=False, dtype=dtype)
    *_, every = BY_NAME[op].reference(site_of(BY_NAME[op], layer.inputs, layer.attributes), layer.inputs)
    assert np.abs(every.astype(int)).max() > 0.7 * dtype.limits[1] and len(np.unique(every)) > 40
