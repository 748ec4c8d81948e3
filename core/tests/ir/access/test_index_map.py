"""Index maps: windows against every point of random maps, kinds and extents of loops, and what a wrong map gets."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tilewright.ir.access.index_map import (
    Access,
    Footprint,
    Loop,
    MapAccess,
    Span,
    constant,
    expression,
    parse_index,
    parse_map,
    split_indices,
    touched,
    whole,
)

many = settings(max_examples=300, deadline=None)
LOOPS = ("i", "j", "k")
CONVOLUTION = "o h w c y x : X[c, h*sh+y-ph?, w*sw+x-pw?] W[o,c,y,x] B[o] -> Y[o,h,w]"


@dataclass(frozen=True)
class Case:
    """A random index with its loops' extents, and whether its window is exact or may be too large."""

    text: str
    extents: dict[str, int]
    exact: bool

    def bind(self, extent: int) -> MapAccess:
        loops = " ".join(f"{name}<{trips}" for name, trips in self.extents.items())
        text = f"{loops} : X[{self.text}?] -> Y[{', '.join(self.extents)}]"
        return parse_map(text).bind({"X": (extent,), "Y": tuple(self.extents.values())})

    def value(self, point: dict[str, int]) -> int:
        """Python's own reading of the text."""
        clamp = {"clamp": lambda value, low, high: min(max(value, low), high)}
        return int(eval(self.text, {"__builtins__": {}}, clamp | point))


@st.composite
def cases(draw: st.DrawFn) -> Case:
    extents = {name: draw(st.integers(1, 6)) for name in LOOPS[: draw(st.integers(1, 3))]}
    parts, used, exact = [], [], True
    for _ in range(draw(st.integers(1, 3))):
        loop, factor = draw(st.sampled_from(sorted(extents))), draw(st.integers(-3, 3))
        exact &= loop not in used  # one loop in two terms: ranges of terms are added up
        used.append(loop)
        inner = f"{draw(st.sampled_from([1, 1, 2, -1]))}*{loop} + {draw(st.integers(-3, 3))}"
        form = draw(st.sampled_from(["plain", "plain", "//", "%", "clamp"]))
        if form == "%":
            exact &= "2*" not in inner  # a remainder of a sparse range is sparse
        parts.append(
            {
                "plain": f"{factor}*{loop}",
                "//": f"{factor}*(({inner}) // {draw(st.integers(1, 4))})",
                "%": f"{factor}*(({inner}) % {draw(st.integers(1, 4))})",
                "clamp": f"{factor}*clamp({inner}, {draw(st.integers(-2, 1))}, {draw(st.integers(1, 4))})",
            }[form]
        )
    parts.append(str(draw(st.integers(-4, 4))))
    return Case(" + ".join(parts), extents, exact)


@pytest.mark.slow
@many
@given(case=cases(), extent=st.integers(1, 12), data=st.data())
def test_a_window_is_the_hull_of_all_positions_touched(case: Case, extent: int, data: st.DataObject) -> None:
    access, box = case.bind(extent), {}
    for name, trips in case.extents.items():
        low = data.draw(st.integers(0, trips - 1))
        box[name] = (low, data.draw(st.integers(low + 1, trips)))
    ranges = (range(*box[name]) for name in case.extents)
    touched = [case.value(dict(zip(case.extents, trips, strict=True))) for trips in itertools.product(*ranges)]
    low, last = min(touched), max(touched)
    (span,) = access.window("X", box)
    inside = {"low": min(max(low, 0), extent), "high": max(min(last + 1, extent), 0)}
    hull = Span(**inside, before=max(0, -low), after=max(0, last + 1 - extent))
    if case.exact:
        assert (span.low, span.high, span.before, span.after) == (hull.low, hull.high, hull.before, hull.after)
    else:
        assert span.low <= hull.low and span.high >= hull.high
        assert span.before >= hull.before and span.after >= hull.after
    if not (span.before or span.after):
        assert all((position - span.low) % span.step == 0 for position in touched)


@pytest.mark.slow
@many
@given(case=cases(), extent=st.integers(1, 12), data=st.data())
def test_a_point_is_a_window_of_one(case: Case, extent: int, data: st.DataObject) -> None:
    access = case.bind(extent)
    point = {name: data.draw(st.integers(0, trips - 1)) for name, trips in case.extents.items()}
    index = access.axes["X"][0].index
    assert index is not None
    assert index.at(point) == case.value(point)


@pytest.mark.slow
@many
@given(case=cases(), extent=st.integers(1, 12))
def test_verify_finds_every_index_that_leaves_its_operand(case: Case, extent: int) -> None:
    if not case.exact:
        return
    loops = " ".join(f"{name}<{trips}" for name, trips in case.extents.items())
    text = f"{loops} : X[{case.text}] -> Y[{', '.join(case.extents)}]"
    access = parse_map(text).bind({"X": (extent,), "Y": tuple(case.extents.values())})
    ranges = (range(trips) for trips in case.extents.values())
    values = [case.value(dict(zip(case.extents, trips, strict=True))) for trips in itertools.product(*ranges)]
    leaves = min(values) < 0 or max(values) >= extent
    if leaves:
        with pytest.raises(ValueError, match="leaves the operand"):
            access.verify()
    else:
        assert access.verify() is access


def test_a_convolution() -> None:
    shapes = {"X": (3, 10, 12), "W": (8, 3, 3, 5), "B": (8,), "Y": (8, 5, 12)}
    access = parse_map(CONVOLUTION).bind(shapes, {"sh": 2, "sw": 1, "ph": 1, "pw": 2}).verify()
    assert [(loop.name, loop.extent, loop.kind) for loop in access.loops] == [
        ("o", 8, "parallel"), ("h", 5, "parallel"), ("w", 12, "parallel"),
        ("c", 3, "reduce"), ("y", 3, "reduce"), ("x", 5, "reduce"),
    ]  # fmt: skip
    box = {"o": (0, 4), "h": (0, 2), "w": (10, 12), "c": (0, 3), "y": (0, 3), "x": (0, 5)}
    assert access.window("X", box) == (
        Span(low=0, high=3), Span(low=0, high=4, before=1), Span(low=8, high=12, after=2),
    )  # fmt: skip
    assert access.window("W", box)[0] == Span(low=0, high=4)
    assert touched(access, "X") == (
        Span(low=0, high=3),
        Span(low=0, high=10, before=1),
        Span(low=0, high=12, before=2, after=2),
    )
    assert access.moves["X"] == (("c",), ("h", "y"), ("w", "x")) and access.moves["B"] == (("o",),)


def test_absent_operands_are_dropped() -> None:
    shapes = {"X": (3, 4, 4), "W": (8, 3, 1, 1), "Y": (8, 4, 4)}
    access = parse_map(CONVOLUTION).bind(shapes, {"sh": 1, "sw": 1, "ph": 0, "pw": 0})
    assert access.inputs == ("X", "W")
    assert access.outputs == ("Y",)


def test_a_strided_window_says_its_step() -> None:
    access = parse_map("i : X[3*i + 1] -> Y[i]").bind({"X": (20,), "Y": (5,)})
    assert access.window("X", {"i": (1, 4)}) == (Span(low=4, high=11, step=3),)
    assert access.window("X", {"i": (1, 2)}) == (Span(low=4, high=5),)


def test_leading_axes_align_at_the_right_and_broadcast() -> None:
    access = parse_map("n : A[..., n] B[..., n] -> Y[..., n]").bind({"A": (2, 1, 5), "B": (4, 5), "Y": (2, 4, 5)})
    assert [loop.extent for loop in access.loops] == [2, 4, 5]
    outer, inner, last = (loop.name for loop in access.loops)
    box = {outer: (1, 2), inner: (2, 4), last: (0, 5)}
    assert access.window("A", box) == (Span(low=1, high=2), Span(low=0, high=1), Span(low=0, high=5))
    assert access.window("B", box) == (Span(low=2, high=4), Span(low=0, high=5))


def test_a_whole_axis_does_not_depend_on_the_box() -> None:
    access = parse_map("r : X[r,:] -> Y[r,:]").bind({"X": (4, 7), "Y": (4, 7)})
    assert access.window("Y", {"r": (1, 2)}) == (Span(low=1, high=2), Span(low=0, high=7))


def test_sequential_loops() -> None:
    access = parse_map("~t i : X[t, i] -> Y[t, i]").bind({"X": (4, 7), "Y": (4, 7)})
    assert [loop.kind for loop in access.loops] == ["sequential", "parallel"]


def test_extents_come_from_attributes_too() -> None:
    access = parse_map("i y<k*2 : X[i + y] -> Y[i]").bind({"X": (9,), "Y": (4,)}, {"k": 3})
    assert [loop.extent for loop in access.loops] == [4, 6]


def test_whole_and_footprints_are_accesses() -> None:
    piece: Access = whole({"X": (2, 3)}, {"Y": (6,)})
    assert piece.loops == () and piece.window("X", {}) == (Span(low=0, high=2), Span(low=0, high=3))
    loop = Loop(name="i", extent=3, kind="parallel")
    shifted: Access = Footprint(
        loops=(loop,), inputs=("X",), outputs=("Y",), windows=lambda operand, box: (Span(low=box["i"][0], high=3),)
    )
    assert shifted.window("X", {"i": (1, 2)})[0].extent == 2
    assert touched(shifted, "X") == (Span(low=0, high=3),)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("i X[i] -> Y[i]", "must read"),
        ("i : X[i] Y[i]", "must read"),
        ("i : X[i] ->", "at least one output"),
        ("i : X[i] X[i] -> Y[i]", "every operand once"),
        ("i i : X[i] -> Y[i]", "every loop once"),
        ("2i : X[i] -> Y[i]", "is not a loop"),
        ("i : X[i] W(i) -> Y[i]", "cannot read 'W(i)'"),
        ("i : X[i+] -> Y[i]", "cannot read 'i+'"),
        ("i : X[j] -> Y[i]", "'j' is neither a loop nor an attribute"),
        ("i : X[i*i] -> Y[i]", "multiplies two loops"),
        ("i : X[i // 0] -> Y[i]", "divides by 0"),
        ("i : X[i % -2] -> Y[i]", "divides by -2"),
        ("i : X[i, 0] -> Y[i]", "X has 2 indices"),
        ("i j : X[i] -> Y[i]", "nothing says how often 'j' runs"),
        ("i : X[f(i)] -> Y[i]", "is not an integer expression"),
    ],
)
def test_wrong_maps_quote_themselves(text: str, reason: str) -> None:
    with pytest.raises(ValueError) as caught:
        parse_map(text).bind({"X": (4,), "Y": (4,)})
    assert reason in str(caught.value)
    assert text in str(caught.value)


VALUES = {"s": 3, "p": 2}


@pytest.mark.parametrize(
    "text",
    [
        "i",
        "4",
        "i+j",
        "i*s+j-p?",
        "2*(i+j)",
        "-(i-j)",
        "s*2*i",
        "(i+j)//2",
        "(i-j)%3",
        "clamp(i-j, 0, s)",
        "i//1",
        "p*4//s",
    ],
)
def test_an_index_has_the_value_that_python_says(text: str) -> None:
    """At every point: what `?` marks is only where it may be outside."""
    index = parse_index(text, ("i", "j"), VALUES, "map")
    assert index is not None
    for i, j in product(range(4), range(3)):
        names = {**VALUES, "i": i, "j": j, "clamp": lambda value, low, high: min(max(value, low), high)}
        assert index.at({"i": i, "j": j}) == eval(text.removesuffix("?"), {}, names)


def test_a_colon_is_the_whole_axis() -> None:
    assert parse_index(":", ("i",), {}, "map") is None


def test_commas_inside_parentheses_do_not_part() -> None:
    assert split_indices("n, clamp(i, 0, 3) , c") == ("n", "clamp(i, 0, 3)", "c")
    assert split_indices("") == ()
    assert split_indices("i,") == ("i",)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("i*j", "'i * j' multiplies two loops"),
        ("i//0", "'i // 0' divides by 0"),
        ("i%(p-s)", "'i % (p - s)' divides by -1"),
        ("k", "'k' is neither a loop nor an attribute"),
        ("i+", "cannot read 'i+'"),
        ("f(i)", "'f(i)' is not an integer expression"),
        ("i//j", "'j' is neither a loop nor an attribute"),
        ("1.5", "'1.5' is not an integer expression"),
    ],
)
def test_what_is_no_index_is_quoted_with_its_map(text: str, reason: str) -> None:
    with pytest.raises(ValueError, match="index map 'the map': ") as caught:
        parse_index(text, ("i", "j"), VALUES, "the map")
    assert reason in str(caught.value)


@pytest.mark.parametrize(
    ("text", "value"), [("7", 7), ("s", 3), ("-p", -2), ("s*4+p-1", 13), ("(s+4)//p", 3), ("s-p", 1)]
)
def test_numbers_are_made_of_integers_and_attributes(text: str, value: int) -> None:
    assert constant(expression(text, "map"), VALUES, "map") == value


def test_nothing_is_divided_by_zero() -> None:
    with pytest.raises(ValueError, match="is not an integer expression"):
        constant(expression("4//(p-2)", "map"), VALUES, "map")
