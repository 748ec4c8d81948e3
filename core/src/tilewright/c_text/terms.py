"""Knows how sums and products with numbers read in C where a template knows the numbers: nothing times 0, once, plus 0.
Does not know what is added.
"""

from __future__ import annotations


def times(count: int, of: str) -> str:
    """`count * of` as C; `of` is a name, a member or a call, so that it needs no parentheses."""
    if count == 0 or of == "1":
        return str(count)
    return of if count == 1 else f"{count} * {of}"


def added(*terms: str | int) -> str:
    """The sum of the terms as C, those left out that are 0."""
    return " + ".join(text for text in map(str, terms) if text != "0") or "0"
