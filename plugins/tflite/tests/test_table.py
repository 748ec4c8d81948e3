"""Every conversion is of an operator of the format, each operator has one, and its options are its own."""

from __future__ import annotations

from tilewright_tflite.codes import CODES
from tilewright_tflite.table import _FAMILIES, TABLE


def test_names_are_those_of_the_format() -> None:
    assert set(TABLE) <= set(CODES.values())
    assert sum(len(family.CONVERSIONS) for family in _FAMILIES) == len(TABLE) > 100


def test_options_are_of_one_operator_or_of_kindred_ones() -> None:
    shared: dict[int, set[str]] = {}
    for code, conversion in TABLE.items():
        shared.setdefault(conversion.options_type, set()).add(code)
    shared.pop(0)
    several = {kind: codes for kind, codes in shared.items() if len(codes) > 1}
    pools, reductions = (
        {"AVERAGE_POOL_2D", "MAX_POOL_2D", "L2_POOL_2D"},
        {code for code in TABLE if code.startswith("REDUCE_")},
    )
    assert several == {5: pools, 27: {"MEAN", "SUM", *reductions}}
