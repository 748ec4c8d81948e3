"""Reductions as loops: played in Python, every element of X is combined into the element of Y that numpy says."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.tests.operators.plain_calls import plain_call
from tilewright.c_text.templates import template
from tilewright.ir.code_fragments import CodeFragment
from tilewright.ir.tensors.dtypes import DType
from tilewright.operators.shared.reducing import (
    NO_REDUCTION,
    REDUCE_CALL,
    Reduction,
    either,
    either_source,
    reduce_source,
    reduce_values,
    sums_argument,
    window_part_fields,
)

HEADER = re.compile(r"for \(int32_t (\w+) = 0; \1 < (\d+); \+\+\1\)")


def trips(headers: tuple[str, ...]) -> list[dict[str, int]]:
    loops = [match.groups() for header in headers if (match := HEADER.fullmatch(header))]
    points = product(*(range(int(extent)) for _, extent in loops))
    return [dict(zip((name for name, _ in loops), point, strict=True)) for point in points]


def play(values: Mapping[str, Any], x: np.ndarray, results: int, to: str = "sums") -> list[int]:
    """What `REDUCE_CALL` does with these values for sums, on flat arrays."""
    y = np.full(results, -1)
    kept, reduced = int(values["kept"]), int(values["reduced"])
    for around in trips(values["nest"]):
        start = {"x": 0, "y": 0, "acc": 0, **around}
        first = eval(values[to], {}, start)
        places = [first + k * values[f"{to}_kept"] for k in range(kept)]
        y[places] = 0
        for inside in trips(values["inner"]):
            at = eval(values["x"], {}, {**start, **inside})
            for k, r in product(range(kept), range(reduced)):
                y[places[k]] += x[at + k * values["x_kept"] + r * values["x_reduced"]]
    return y.tolist()


@given(shape=st.lists(st.integers(1, 4), min_size=1, max_size=4), keeps=st.booleans(), data=st.data())
def test_sums_over_any_axes(shape: list[int], keeps: bool, data: st.DataObject) -> None:
    axes = tuple(sorted(data.draw(st.sets(st.integers(0, len(shape) - 1), min_size=1))))
    x = np.arange(np.prod(shape)).reshape(shape) ** 2
    expected = np.asarray(x.sum(axis=axes, keepdims=keeps))
    call = plain_call({"X": (DType.I32, shape), "Y": (DType.I32, expected.shape)})
    reduction = Reduction(axes=axes, keeps=keeps, combine="sum", empty="0")
    found = play(reduce_values(call, reduction), x.ravel(), expected.size)
    assert found == expected.ravel().tolist()


def test_sums_of_parts_are_beside_the_output() -> None:
    x = np.arange(24).reshape(2, 3, 4)
    forms = {"X": (DType.F32, x.shape), "Y": (DType.F32, (2, 4)), "acc": (DType.F32, (2, 4))}
    call = plain_call(forms, first="c == 0", last="c == 9")
    values = reduce_values(call, Reduction(axes=(1,), keeps=False, combine="sum", empty="0.0f", divisor="3.0f"))
    assert play(values, x.ravel(), 8) == play(values, x.ravel(), 8, "y") == x.sum(axis=1).ravel().tolist()
    assert str(values["sums"]).startswith("acc") and str(values["y"]).startswith("y")
    text = template(REDUCE_CALL).render(**values)
    assert "if (c == 0) {" in text and "if (c == 9) {" in text
    assert "tw_reduce_leave_f32(4, 3.0f, -INFINITY, INFINITY, acc + (tw_i0 * 4), 1, y + (tw_i0 * 4), 1);" in text
    assert [section.name for section in reduce_source(values)][2] == "tw_reduce_leave_${short}"


@pytest.mark.parametrize(("divisor", "finish"), [("", 0), ("4.0f", 1)])
def test_a_mean_is_divided_once(divisor: str, finish: int) -> None:
    call = plain_call({"X": (DType.F32, (3, 4)), "Y": (DType.F32, (3, 1))})
    values = reduce_values(call, Reduction(axes=(1,), keeps=True, combine="sum", empty="0.0f", divisor=divisor))
    assert template(REDUCE_CALL).render(**values).count("tw_reduce_finish_f32(3, 4.0f, y, 1);") == finish
    assert len(reduce_source(values)) == 2 + finish


@pytest.mark.parametrize(("dtype", "pair", "wide"), [
    (DType.F32, "tw_reduce_prod", "uint32_t"), (DType.I32, "tw_reduce_prod_of_i32", "uint32_t"),
    (DType.I64, "tw_reduce_prod_of_i64", "uint64_t"),
])  # fmt: skip
def test_integers_wrap_in_their_own_width(dtype: DType, pair: str, wide: str) -> None:
    call = plain_call({"X": (dtype, (3,)), "Y": (dtype, ())})
    values = reduce_values(call, Reduction(axes=(0,), keeps=False, combine="prod", empty="1"))
    assert (values["pair"], values["wide"], values["type"]) == (pair, wide, dtype.c_type)


def test_a_call_without_reduction_has_every_name() -> None:
    """What the template reads must be there even where the branch around it is not taken."""
    template("% if part:\n" + REDUCE_CALL + "\n% endif\n").render(**NO_REDUCTION)
    call = plain_call({"X": (DType.F32, (3,)), "Y": (DType.F32, ())})
    known = reduce_values(call, Reduction(axes=(0,), keeps=False, combine="sum", empty="0"))
    assert set(NO_REDUCTION) <= set(known) and NO_REDUCTION["part"] is False


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
