"""What all graphs of one import share."""

from __future__ import annotations

import numpy as np
import pytest

from tilewright.api.importer import Limits
from tilewright_tflite.flatbuffer import BudgetError
from tilewright_tflite.ledger import Ledger


def test_a_name_is_taken_once() -> None:
    ledger = Ledger(Limits())
    assert [ledger.fresh("x") for _ in range(3)] == ["x", "x_1", "x_2"]
    assert ledger.fresh("x_1") == "x_1_1" and ledger.taken("x_2") and not ledger.taken("y")


@pytest.mark.parametrize(
    ("limits", "what"),
    [(Limits(constant_bytes=5), "constants"), (Limits(initializers=0), "initializers")],
    ids=["bytes", "count"],
)
def test_constants_have_limits(limits: Limits, what: str) -> None:
    ledger = Ledger(limits)
    with pytest.raises(BudgetError, match=what):
        ledger.constant(np.zeros(6, np.int8))


def test_nodes_and_letters_have_limits() -> None:
    ledger = Ledger(Limits(nodes=2))
    ledger.node()
    ledger.node()
    with pytest.raises(BudgetError, match="nodes"):
        ledger.node()
    with pytest.raises(BudgetError, match="names"):
        ledger.spend("x" * (1 << 25), "y")
