"""The C that is printed for windows says what `Access.window` says, for every box."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tilewright.ir.access import MapAccess, Span, parse_map
from tilewright.lower.boxes import CBox, lows, whole_box, window
from tilewright.lower.sums import Sum, variable


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
        name: (variable(f"box.{name}.low"), variable(f"box.{name}.high")) if name in cut else (Sum(low), Sum(high))
        for name, (low, high) in whole_box(access).items()
    }
    ranges = {name: SimpleNamespace(low=low, high=high) for name, (low, high) in cut.items()}
    names: dict[str, Any] = {"box": SimpleNamespace(**ranges)}
    found = []
    spans = window(access, operand, box, [f"x_{axis}" for axis in range(len(access.axes[operand]))])
    for one, low in zip(spans, lows(access, operand, box), strict=True):
        if one.name:
            names[one.name] = value(one.value, names)
        ends = tuple(value(str(part), names) for part in (one.low, one.extent, one.before, one.after))
        assert value(str(low), names) == ends[0]
        assert value(low.primary(), names) == ends[0]
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
    whole = {name: (Sum(low), Sum(high)) for name, (low, high) in whole_box(access).items()}
    cut = {**whole, "o": (variable("o.low"), variable("o.high"))}
    group, rows = window(access, "X", cut, ["g", "r"])
    assert (str(group.low), str(group.extent)) == ("0", "1")
    assert (str(rows.extent), str(rows.before), str(rows.after)) == ("9", "1", "1")
    assert group.name == rows.name == ""


@pytest.mark.parametrize(
    ("sum_", "text"),
    [
        (Sum(), "0"),
        (variable("x") * 3 - 2, "3 * x - 2"),
        (Sum(4) - variable("x"), "-x + 4"),
        (variable("x") - variable("y") * 2, "x - 2 * y"),
        (variable("x") - variable("x") + 1, "1"),
    ],
)
def test_sums_read_well(sum_: Sum, text: str) -> None:
    assert str(sum_) == text
