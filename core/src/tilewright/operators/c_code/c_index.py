"""Knows how a sum of integers and C expressions is written, numbers added up beforehand.
Does not know what is indexed."""

from __future__ import annotations


def c_sum(constant: int, *terms: tuple[int, str]) -> str:
    """`constant + factor * primary + ...` as a C expression of type int32_t, without what is 0."""
    parts = []
    for factor, expression in terms:
        if expression.isdigit():
            constant += factor * int(expression)
        elif factor:
            parts.append((factor, expression))
    text = str(constant) if constant or not parts else ""
    for factor, expression in parts:
        product = expression if abs(factor) == 1 else f"{abs(factor)} * {expression}"
        sign = "-" if factor < 0 else "+"
        text = f"{text} {sign} {product}" if text else (product if factor > 0 else f"-{product}")
    return text


def c_moved(pointer: object, *terms: tuple[int, str]) -> str:
    """`pointer` moved by a sum, as C."""
    offset = c_sum(0, *terms)
    if offset == "0":
        return str(pointer)
    return f"{pointer} + ({offset})" if len(terms) > 1 and not offset.isdigit() else f"{pointer} + {offset}"
