"""Knows how results are limited to their type, in one instruction where the limits are the type's own, and how much
sums are shifted before. Does not know layers.
"""

from __future__ import annotations

from tilewright.api.graph import MultiplyShift, Requant

SAFE = 2.0**30  # below it, rounding does not saturate, and adding a zero point does not wrap
WHOLE = {(-128, 127): "i8", (0, 255): "u8"}


def limit_of(requant: Requant, reach: float) -> str:
    """`limit` of finish.c. `reach` is the largest magnitude of an accumulator times its scale."""
    if isinstance(requant.rounding, MultiplyShift):
        wide = "" if requant.rounding.bits == 32 else "wide_"
        return f"shift_{wide}{WHOLE.get((requant.low, requant.high), 'any')}"
    return WHOLE.get((requant.low, requant.high), "any") if reach < SAFE else "any"


def limits(requant: Requant, limit: str) -> str:
    """A `tw_xp_limits` initialiser. Sums that are shifted have no zero point: the shift is in its place."""
    if isinstance(requant.rounding, MultiplyShift):
        return f"{{.low = {requant.low}, .high = {requant.high}, .zero_point = {requant.rounding.shift[0]}}}"
    return limits_of_results(requant, limit)


def limits_of_results(requant: Requant, limit: str) -> str:
    """The same of results to which their zero point is added last, however they were made."""
    moved = requant.zero_point if limit == "any" else 0
    low, high = requant.low - moved, requant.high - moved
    return f"{{.low = {low}, .high = {high}, .zero_point = {requant.zero_point}}}"
