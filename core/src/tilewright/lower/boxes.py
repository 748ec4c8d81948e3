"""Knows how the part of an operand that a box of loops touches is computed by the generated program.
Does not know where boxes come from, nor what is done with the part.

A box of the program is, for each loop, where its trips begin and end: numbers where every tile has the same, C
expressions otherwise. Windows follow from the same `Index` values that `Access.window` uses, with the same clipping.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tilewright.access import Access, MapAccess
from tilewright.errors import Exit, TilewrightError
from tilewright.index import Axis, Box, Index, Term
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


def axes_of(access: Access, operand: str, cut: Sequence[str]) -> tuple[Axis, ...]:
    """How each axis of an operand follows from the loops, where those in `cut` do not run in one piece.

    An access that is no map answers with windows only: an axis is taken to follow a loop when every single trip of
    it says so. Raises TilewrightError TW4040 (exit 9) for an axis that follows a cut loop in any other way.
    """
    if isinstance(access, MapAccess):
        return access.axes[operand]
    box = whole_box(access)
    found: list[Axis] = []
    for number, span in enumerate(access.window(operand, box)):
        followed = [name for name in cut if _moves(access, operand, number, name)]
        index: Index | None = Index((), span.low) if span.extent == 1 else None
        if index is None and (span.low or span.before or span.after):
            raise _unprintable(operand, number, "it is not read from its beginning")
        if len(followed) > 1 or (followed and not _is_loop(access, operand, number, followed[0])):
            raise _unprintable(operand, number, f"it follows {', '.join(followed)}")
        if followed:
            index = Index((Term(1, followed[0]),))
        found.append(Axis(index, span.low + span.extent))
    return tuple(found)


def span(axis: Axis, box: CBox, whole: Box, name: str) -> CSpan:
    """The positions of `axis` that `box` touches, clipped. `name` is free for a C variable."""
    if axis.index is None:
        return CSpan(low=Sum(), extent=Sum(axis.extent), before=Sum(), after=Sum())
    first, last = bounds(axis.index, box, whole)
    if first.number is not None and last.number is not None:
        known = axis.span({loop: (low.constant, high.constant) for loop, (low, high) in box.items()})
        return CSpan(low=Sum(known.low), extent=Sum(known.extent), before=Sum(known.before), after=Sum(known.after))
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


def _moves(access: Access, operand: str, number: int, loop: str) -> bool:
    whole = whole_box(access)
    span = access.window(operand, whole)[number]
    return any(
        access.window(operand, {**whole, loop: (trip, trip + 1)})[number] != span for trip in range(*whole[loop])
    )


def _is_loop(access: Access, operand: str, number: int, loop: str) -> bool:
    whole = whole_box(access)
    for trip in range(*whole[loop]):
        span = access.window(operand, {**whole, loop: (trip, trip + 1)})[number]
        if (span.low, span.high, span.before, span.after) != (trip, trip + 1, 0, 0):
            return False
    return True


def _unprintable(operand: str, number: int, reason: str) -> TilewrightError:
    return TilewrightError(
        "TW4040",
        f"the window of axis {number} of {operand} cannot be computed by the generated program: {reason}",
        details=("its operator describes it by a function; along such an axis it may not be cut",),
        fix=("tilewright compile --tiler whole ...     cuts nothing", "report this: the tiler should have known"),
        exit_code=Exit.INTERNAL,
    )
