"""An arithmetic by operator and width, and which layers have which."""

from __future__ import annotations

import numpy as np
import pytest

from tilewright.builtin import tilewright_operators
from tilewright.ir.graphs.arithmetic import Arithmetic, ArithmeticChoice
from tilewright.ir.graphs.graph import Node
from tilewright.testing.operator_sites import site_of

ONE = Arithmetic(name="one", summary="", functions={("QLookup", 8): lambda site: {"rounding": "one"}})
TWO = Arithmetic(name="two", summary="", functions={})
CHOICE = ArithmeticChoice(own="one", known={"one": ONE, "two": TWO}, rules=(("conv*", "two"), ("conv_3", "one")))


def test_a_function_by_operator_and_width() -> None:
    lookup = next(operator for operator in tilewright_operators() if operator.name == "QLookup")
    site = site_of(lookup, [np.zeros(3, np.int8), np.zeros(256, np.int8)], {}, (1,))
    assert ONE.declared(site) == {"rounding": "one"}
    assert TWO.declared(site) == "two has no QLookup of 8 bits"


@pytest.mark.parametrize(("name", "origin", "expected"), [
    ("conv", (), "two"), ("conv_3", (), "one"), ("gemm", (), "one"), ("gemm", ("conv_of_it",), "two"),
])  # fmt: skip
def test_the_last_rule_counts(name: str, origin: tuple[str, ...], expected: str) -> None:
    assert CHOICE.of(Node(name=name, op="QConv", inputs=(), outputs=(), origin=origin)).name == expected
