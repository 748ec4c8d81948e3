"""Knows how the part of an operand that a box of loops touches is computed by the generated program.
Does not know where boxes come from, nor what is done with the part.

A box of the program is, for each loop, where its trips begin and end: numbers where every tile has the same, C
expressions otherwise. Windows follow from the same `Index` values that `Access.window` uses, with the same clipping.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tilewright.ir.access import Access, MapAccess
from tilewright.ir.index import Axis, Box, Index, Span, Term
from tilewright.lower.sums import Sum, variable

Bounds = tuple[Sum, Sum]  # first trip, and one after the last
CBox = Mapping[str, Bounds]


@dataclass(frozen=True, slots=True, kw_only=True)
class CSpan:
    """One axis of a window: sums over C expressions, and the C variable that must be declared first (or "")."""

    low: Sum
    extent: Sum
    before: Sum
    after: Sum
    name: str = ""  # a tw_span
    value: str = ""


def whole_box(access: Access) -> Box:
    """All trips of every loop."""
    return {loop.name: (0, loop.extent) for loop in access.loops}


def fixed(box: Box) -> CBox:
    """A box that is the same for every tile."""
    return {name: (Sum(low), Sum(high)) for name, (low, high) in box.items()}


def window(access: Access, operand: str, box: CBox, names: Sequence[str]) -> tuple[CSpan, ...]:
    """`Access.window` as C. `names` are free for C variables, one per axis.

    An access that is no map is never cut: its windows are those of all trips.
    """
    whole = whole_box(access)
    if isinstance(access, MapAccess):
        return tuple(span(axis, box, whole, name) for axis, name in zip(access.axes[operand], names, strict=True))
    return tuple(_known(span) for span in access.window(operand, whole))


def lows(access: Access, operand: str, box: CBox) -> tuple[Sum, ...]:
    """Where the window begins along each axis."""
    whole = whole_box(access)
    if isinstance(access, MapAccess):
        return tuple(low_of(axis, box, whole) for axis in access.axes[operand])
    return tuple(Sum(span.low) for span in access.window(operand, whole))


def span(axis: Axis, box: CBox, whole: Box, name: str) -> CSpan:
    """The positions of `axis` that `box` touches, clipped. `name` is free for a C variable."""
    if axis.index is None:
        return CSpan(low=Sum(), extent=Sum(axis.extent), before=Sum(), after=Sum())
    first, last = bounds(axis.index, box, whole)
    if first.number is not None and last.number is not None:
        return _known(axis.span({loop: (low.constant, high.constant) for loop, (low, high) in box.items()}))
    least, most = axis.index.range(whole)
    value = f"tw_span_inside({first}, {last + 1})"
    if least < 0 or most >= axis.extent:
        value = f"tw_span_clipped({first}, {last + 1}, {axis.extent})"
    length = last + 1 - first
    return CSpan(
        low=variable(f"{name}.low"),
        extent=length
        if least >= 0 and most < axis.extent and length.number is not None
        else variable(f"{name}.extent"),
        before=variable(f"{name}.before") if least < 0 else Sum(),
        after=variable(f"{name}.after") if most >= axis.extent else Sum(),
        name=name,
        value=value,
    )


def _known(span: Span) -> CSpan:
    return CSpan(low=Sum(span.low), extent=Sum(span.extent), before=Sum(span.before), after=Sum(span.after))


def low_of(axis: Axis, box: CBox, whole: Box) -> Sum:
    """The first position of `axis` that `box` touches."""
    if axis.index is None:
        return Sum()
    first, _ = bounds(axis.index, box, whole)
    least, most = axis.index.range(whole)
    if least >= 0 and most <= axis.extent:
        return first
    if first.number is not None:
        return Sum(min(max(first.number, 0), axis.extent))
    return variable(f"tw_clamp({first}, 0, {axis.extent})")


def bounds(index: Index, box: CBox, whole: Box) -> tuple[Sum, Sum]:
    """The smallest and the largest value of `index` over `box`, both included. `whole` bounds every box."""
    low = high = Sum(index.offset)
    for term in index.terms:
        ends = _ends(term, box, whole)
        first, last = ends if term.coefficient >= 0 else ends[::-1]
        low, high = low + first * term.coefficient, high + last * term.coefficient
    return low, high


def _ends(term: Term, box: CBox, whole: Box) -> tuple[Sum, Sum]:
    if term.inner is None:
        low, high = box[term.loop]
        return low, high - 1
    known = Index((Term(1, inner=term.inner, operation=term.operation, by=term.by),)).range(whole)
    if known[0] == known[1]:
        return Sum(known[0]), Sum(known[0])
    low, last = bounds(term.inner, box, whole)
    if low.number is not None and last.number is not None:
        alone = Index((Term(1, inner=Index((Term(1, "_"),)), operation=term.operation, by=term.by),))
        ends = alone.range({"_": (low.number, last.number + 1)})
        return Sum(ends[0]), Sum(ends[1])
    by = ", ".join(map(str, term.by))
    if term.operation == "%":
        return variable(f"tw_mod_low({low}, {last}, {by})"), variable(f"tw_mod_high({low}, {last}, {by})")
    if term.operation == "clamp":
        return variable(f"tw_clamp({low}, {by})"), variable(f"tw_clamp({last}, {by})")
    if term.inner.range(whole)[0] >= 0:
        return variable(f"({low.primary()} / {by})"), variable(f"({last.primary()} / {by})")
    return variable(f"tw_floor_div({low}, {by})"), variable(f"tw_floor_div({last}, {by})")
