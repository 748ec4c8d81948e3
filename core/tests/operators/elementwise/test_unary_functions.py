"""The table of float functions: every entry is one function of its attributes, with C that needs nothing else."""

from __future__ import annotations

import re

import numpy as np

from tilewright.operators.elementwise.unary_functions import FUNCTIONS


def test_entries_are_sorted_and_say_what_they_are() -> None:
    assert list(FUNCTIONS) == sorted(FUNCTIONS)
    assert all(function.summary for function in FUNCTIONS.values())


def test_c_is_over_x_and_the_attributes() -> None:
    for name, function in FUNCTIONS.items():
        words = set(re.findall(r"[a-z_]\w*", re.sub(r"0x[\w.+-]+|\d[\w.]*", "", function.c)))
        assert words <= {"x", *function.attributes, *(word for word in words if word.startswith("tw_"))}, name


def test_there_is_room_for_rounding_only_where_formulas_cancel() -> None:
    x = np.linspace(0.1, 0.9, 5)
    free = [name for name, function in FUNCTIONS.items() if function.slack(x, function.attributes).any()]
    assert free == ["GeluTanh", "HardSigmoid", "HardSwish", "Mish", "Swish"]
