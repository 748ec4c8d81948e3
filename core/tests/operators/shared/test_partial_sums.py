"""Reductions in parts: which of two forms a call takes, and where its sums are."""

from __future__ import annotations

from core.tests.operators.plain_calls import plain_call
from tilewright.c_text.templates import template
from tilewright.ir.code_fragments import CodeFragment
from tilewright.ir.tensors.dtypes import DType
from tilewright.operators.shared.partial_sums import (
    either,
    either_source,
    sums_argument,
    window_part_fields,
)

Y = {"Y": (DType.F32, (1, 8, 5, 6))}
WHOLE = plain_call(Y)
PART = plain_call({**Y, "acc": (DType.F32, (1, 8, 5, 6))}, first="c == 0", last="c == 3")
ONE, OTHER, FIRST = (CodeFragment(name=name, text=f"int {name};") for name in ("one", "other", "first"))


def test_either_call() -> None:
    text = either("f_part(acc);\n", "f(y);\n")
    assert [template(text).render(part=part) for part in (True, False)] == ["f_part(acc);\n", "f(y);\n"]


def test_either_section_after_the_conversions() -> None:
    source = either_source(ONE, OTHER)
    assert source({"part": True}) == (ONE,)
    assert source({"part": False, "conversions": (FIRST,)}) == (FIRST, OTHER)


def test_sums_only_where_there_are_some() -> None:
    assert (sums_argument(PART), sums_argument(WHOLE)) == (" acc,", "")
    assert sums_argument(PART, {"ACC": " + i * 4", "Y": " + i"}) == " acc + i * 4,"


def test_strides_of_the_sums_of_windows() -> None:
    """[N, O, H, W]: the axis that the tensor lacks has stride 0."""
    assert window_part_fields(WHOLE, 4) == {}
    assert window_part_fields(PART, 4) == {
        "first": "c == 0", "last": "c == 3", "group_channels": 4, "acc_batch": 240, "acc_channel": 30,
        "acc_depth": 0, "acc_row": 6, "acc_column": 1,
    }  # fmt: skip
