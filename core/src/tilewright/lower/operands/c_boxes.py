"""Knows how the part of an operand that a box of loops touches is computed by the generated program.
Does not know where boxes come from, nor what is done with the part.

A box of the program has a half-open range for each loop: numbers where the range is the same in every tile, C
expressions otherwise. Windows follow from the same `Index` values that `Access.window` uses, with the same clipping.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from tilewright.ir.access.index import Axis, Box, Index, Span, Term
from tilewright.ir.access.index_map import Access, MapAccess
from tilewright.ir.programs.expressions import Expression, Field, FunctionCall, Name, Number, Struct, quotient

Bounds = tuple[Expression, Expression]  # half-open
CBox = Mapping[str, Bounds]

NOTHING = Number(0)
_REMEMBERED = 1024  # windows


@dataclass(frozen=True, slots=True, kw_only=True)
class CSpan:
    """One axis of a window, and the C variable that must be declared first (or "")."""

    low: Expression
    extent: Expression
    before: Expression = NOTHING
    after: Expression = NOTHING
    name: str = ""  # a tw_span, or a tw_range
    value: Expression = NOTHING
    moved: bool = False  # begins elsewhere than what the loops touch


def whole_box(access: Access) -> Box:
    """The whole range of every loop."""
    return {loop.name: (0, loop.extent) for loop in access.loops}


def ends_of(range_: Expression) -> Bounds:
    """Of a tw_range."""
    return Field(range_, "low"), Field(range_, "high")


def range_of(bounds: Bounds) -> Expression:
    """The tw_range that has these bounds."""
    match bounds:
        case (Field(of=one, member="low"), Field(of=other, member="high")) if one == other:
            return one
        case _:
            return Struct("tw_range", bounds)


def fixed(box: Box) -> CBox:
    """A box that is the same for every tile."""
    return {name: (Number(low), Number(high)) for name, (low, high) in box.items()}


def window(access: Access, operand: str, box: CBox, names: Sequence[str]) -> tuple[CSpan, ...]:
    """`Access.window` as C. `names` are free for C variables, one per axis.

    An access that is no map is never cut: its windows are those of the whole loops.
    """
    if isinstance(access, MapAccess):
        return _window(access, operand, tuple(box.items()), tuple(names))
    return tuple(_known(span) for span in access.window(operand, whole_box(access)))


@lru_cache(maxsize=_REMEMBERED)  # equal layers have the same windows
def _window(
    access: MapAccess, operand: str, box: tuple[tuple[str, Bounds], ...], names: tuple[str, ...]
) -> tuple[CSpan, ...]:
    bounded, whole = dict(box), whole_box(access)
    return tuple(span(axis, bounded, whole, name) for axis, name in zip(access.axes[operand], names, strict=True))


def axis_names(stem: str, rank: int) -> list[str]:
    """C variables for the window of an operand along each axis; `stem` is the operand's."""
    return [f"{stem}_axis_{axis}" for axis in range(rank)]


def lows(access: Access, operand: str, box: CBox) -> tuple[Expression, ...]:
    """Where the window begins along each axis."""
    if isinstance(access, MapAccess):
        return _lows(access, operand, tuple(box.items()))
    return tuple(Number(span.low) for span in access.window(operand, whole_box(access)))


@lru_cache(maxsize=_REMEMBERED)
def _lows(access: MapAccess, operand: str, box: tuple[tuple[str, Bounds], ...]) -> tuple[Expression, ...]:
    bounded, whole = dict(box), whole_box(access)
    return tuple(low_of(axis, bounded, whole) for axis in access.axes[operand])


def span(axis: Axis, box: CBox, whole: Box, name: str) -> CSpan:
    """The positions of `axis` that `box` touches, clipped. `name` is free for a C variable."""
    if axis.index is None:
        return CSpan(low=NOTHING, extent=Number(axis.extent))
    first, last = bounds(axis.index, box, whole)
    least, most = axis.index.range(whole)
    end, length, inside = last + 1, last + 1 - first, least >= 0 and most < axis.extent
    if first.number is not None and last.number is not None:
        return _known(axis.span({loop: (low.number or 0, high.number or 0) for loop, (low, high) in box.items()}))
    window = Name(name)
    return CSpan(
        low=Field(window, "low"),
        extent=length if inside and length.number is not None else Field(window, "extent"),
        before=Field(window, "before") if least < 0 else NOTHING,
        after=Field(window, "after") if most >= axis.extent else NOTHING,
        name=name,
        value=FunctionCall("tw_span_inside", (first, end))
        if inside
        else FunctionCall("tw_span_clipped", (first, end, Number(axis.extent))),
    )


def _known(span: Span) -> CSpan:
    return CSpan(low=Number(span.low), extent=Number(span.extent), before=Number(span.before), after=Number(span.after))


def low_of(axis: Axis, box: CBox, whole: Box) -> Expression:
    """The first position of `axis` that `box` touches."""
    if axis.index is None:
        return NOTHING
    first, _ = bounds(axis.index, box, whole)
    least, most = axis.index.range(whole)
    if least >= 0 and most <= axis.extent:
        return first
    if first.number is not None:
        return Number(min(max(first.number, 0), axis.extent))
    return FunctionCall("tw_clamp", (first, NOTHING, Number(axis.extent)))


def bounds(index: Index, box: CBox, whole: Box) -> Bounds:
    """The smallest and the largest value of `index` over `box`, both included. `whole` bounds every box."""
    low: Expression = Number(index.offset)
    high = low
    for term in index.terms:
        ends = _ends(term, box, whole)
        first, last = ends if term.coefficient >= 0 else ends[::-1]
        low, high = low + first * term.coefficient, high + last * term.coefficient
    return low, high


def _ends(term: Term, box: CBox, whole: Box) -> Bounds:
    if term.inner is None:
        low, high = box[term.loop]
        return low, high - 1
    known = Index((Term(1, inner=term.inner, operation=term.operation, by=term.by),)).range(whole)
    if known[0] == known[1]:
        return Number(known[0]), Number(known[0])
    low, last = bounds(term.inner, box, whole)
    if low.number is not None and last.number is not None:
        alone = Index((Term(1, inner=Index((Term(1, "_"),)), operation=term.operation, by=term.by),))
        ends = alone.range({"_": (low.number, last.number + 1)})
        return Number(ends[0]), Number(ends[1])
    by = tuple(map(Number, term.by))
    if term.operation == "%":
        return FunctionCall("tw_mod_low", (low, last, *by)), FunctionCall("tw_mod_high", (low, last, *by))
    if term.operation == "clamp":
        return FunctionCall("tw_clamp", (low, *by)), FunctionCall("tw_clamp", (last, *by))
    if term.inner.range(whole)[0] >= 0:
        return quotient(low, *by), quotient(last, *by)
    return FunctionCall("tw_floor_div", (low, *by)), FunctionCall("tw_floor_div", (last, *by))
