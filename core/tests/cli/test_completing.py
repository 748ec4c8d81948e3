"""Names that are completed are those that installed packages announce."""

from __future__ import annotations

from typing import Any

import click
import pytest

from tilewright.cli.completing import offered


def names(kind: str, incomplete: str, *more: str) -> list[tuple[Any, ...]]:
    nothing: Any = None
    return [
        (one.value, one.help) for one in offered(kind, *more)(click.Context(click.Command("x")), nothing, incomplete)
    ]


@pytest.mark.parametrize(
    ("kind", "incomplete", "expected"),
    [
        ("tiler", "m", [("max", "tilewright"), ("min", "tilewright")]),
        ("runner", "twin-", [("twin-race", "tilewright")]),
        ("tiler", "nobody", []),
    ],
)
def test_they_begin_with_what_was_typed(kind: str, incomplete: str, expected: list[tuple[str, str]]) -> None:
    assert [one for one in names(kind, incomplete) if one[1] == "tilewright"] == expected


def test_names_that_are_no_plugins() -> None:
    assert ("generated", None) in names("tiler", "gen", "generated")
