"""The C that is printed for windows says what `Access.window` says, for every box."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tilewright.ir.access.index_map import MapAccess, Span, parse_map
from tilewright.ir.programs.expressions import Field, Name, Number, Struct
from tilewright.lower.operands.c_boxes import CBox, ends_of, lows, range_of, whole_box, window


def clamp(value: int, low: int, high: int) -> int:
    return min(max(value, low), high)


def span(low: int, extent: int, before: int, after: int) -> SimpleNamespace:
    return SimpleNamespace(low=low, extent=extent, before=before, after=after)


def clipped(first: int, end: int, size: int) -> SimpleNamespace:
    low, high = clamp(first, 0, size), clamp(end, 0, size)
    return span(low, max(high - low, 0), max(-first, 0), max(end - size, 0))


def mod(low: int, high: int, by: int) -> tuple[int, int]:
    return (low % by, high % by) if low // by == high // by else (0, by - 1)


# text/tiles.c, in Python
HELPERS: dict[str, Any] = {
    "tw_clamp": clamp,
    "tw_span_inside": lambda first, end: span(first, end - first, 0, 0),
    "tw_span_clipped": clipped,
    "tw_floor_div": lambda value, by: value // by,
    "tw_mod_low": lambda low, high, by: mod(low, high, by)[0],
    "tw_mod_high": lambda low, high, by: mod(low, high, by)[1],
}


def value(text: str, names: dict[str, Any]) -> Any:
    """A C expression; its divisions are only printed where nothing is negative."""
    return eval(text.replace(" / ", " // "), {**HELPERS, **names})


def printed_windows(access: MapAccess, operand: str, cut: dict[str, tuple[int, int]]) -> list[tuple[int, ...]]:
    """The windows over a box in which the loops in `cut` have ranges of their own, as the program computes them."""
    box: CBox = {
        name: ends_of(Field(Name("box"), name)) if name in cut else (Number(low), Number(high))
        for name, (low, high) in whole_box(access).items()
    }
    ranges = {name: SimpleNamespace(low=low, high=high) for name, (low, high) in cut.items()}
    names: dict[str, Any] = {"box": SimpleNamespace(**ranges)}
    found = []
    spans = window(access, operand, box, [f"x_{axis}" for axis in range(len(access.axes[operand]))])
    for one, low in zip(spans, lows(access, operand, box), strict=True):
        if one.name:
            names[one.name] = value(str(one.value), names)
        ends = tuple(value(str(part), names) for part in (one.low, one.extent, one.before, one.after))
        assert value(str(low), names) == ends[0]
        found.append(ends)
    return found


def as_tuple(one: Span) -> tuple[int, ...]:
    return one.low, one.extent, one.before, one.after


@st.composite
def accesses(draw: st.DrawFn) -> MapAccess:
    """Maps of two loops and one input axis of every form."""
    extents = {"a": draw(st.integers(1, 7)), "b": draw(st.integers(1, 4))}
    number = st.integers(-3, 3)
    inner = f"a*{draw(number)} + b*{draw(number)} + {draw(st.integers(-4, 9))}"
    form = draw(
        st.sampled_from(["{}", "({}) // 2", "({}) % 3", "clamp({}, 0, 4)", "2*(({}) // 3) + b", "-(({}) % 2) + a"])
    )
    text = f"a b : X[{form.format(inner)}?] -> Y[a, b]"
    return parse_map(text).bind({"X": (draw(st.integers(1, 9)),), "Y": (extents["a"], extents["b"])})


@pytest.mark.slow
@given(accesses(), st.data())
@settings(max_examples=300, deadline=None)
def test_every_window_is_what_the_access_says(access: MapAccess, data: st.DataObject) -> None:
    cut = {}
    for name, (_, extent) in whole_box(access).items():
        if data.draw(st.booleans()):
            low = data.draw(st.integers(0, extent - 1))
            cut[name] = (low, data.draw(st.integers(low + 1, extent)))
    for operand in ("X", "Y"):
        expected = [as_tuple(one) for one in access.window(operand, {**whole_box(access), **cut})]
        assert printed_windows(access, operand, cut) == expected


def test_what_no_tile_changes_is_a_number() -> None:
    access = parse_map("o h y<3 : X[o//4*2, h*2+y-1?] -> Y[o, h]").bind({"X": (2, 9), "Y": (4, 5)})
    whole = {name: (Number(low), Number(high)) for name, (low, high) in whole_box(access).items()}
    cut = {**whole, "o": ends_of(Name("o"))}
    group, rows = window(access, "X", cut, ["g", "r"])
    assert (str(group.low), str(group.extent)) == ("0", "1")
    assert (str(rows.extent), str(rows.before), str(rows.after)) == ("9", "1", "1")
    assert group.name == rows.name == ""


def test_a_window_that_ends_somewhere_else_in_every_tile_is_not_known() -> None:
    """Though it always begins at the same place."""
    access = parse_map("h : X[h+1] -> Y[h]").bind({"X": (9,), "Y": (8,)})
    (one,) = window(access, "X", {"h": (Number(0), Name("end"))}, ["x"])
    assert value(str(one.value), {"end": 5}) == span(1, 5, 0, 0)
    (other,) = window(access, "X", {"h": (Name("begin"), Number(8))}, ["x"])
    assert value(str(other.value), {"begin": 3}) == span(4, 5, 0, 0)


def test_a_range_is_named_where_it_has_a_name() -> None:
    assert range_of(ends_of(Field(Name("box"), "h"))) == Field(Name("box"), "h")
    assert range_of((Number(0), Number(8))) == Struct("tw_range", (Number(0), Number(8)))
    low, _ = ends_of(Name("a"))
    _, high = ends_of(Name("b"))
    assert str(range_of((low, high))) == "(tw_range){a.low, b.high}"
