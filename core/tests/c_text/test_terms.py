"""Sums and products that say no more than there is."""

from __future__ import annotations

import pytest

from tilewright.c_text.terms import added, times


@pytest.mark.parametrize(("count", "text"), [(0, "0"), (1, "p.step"), (2, "2 * p.step"), (-1, "-1 * p.step")])
def test_products(count: int, text: str) -> None:
    assert times(count, "p.step") == text
    assert times(count, "1") == str(count)


@pytest.mark.parametrize(
    ("terms", "text"),
    [
        (("w", 0), "w"),
        (("w", 4), "w + 4"),
        ((times(0, "row"), times(1, "column")), "column"),
        (("0", 0), "0"),
        ((), "0"),
    ],
)
def test_sums(terms: tuple[str | int, ...], text: str) -> None:
    assert added(*terms) == text
