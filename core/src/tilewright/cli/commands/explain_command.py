"""Knows `tilewright explain`: the long text of an error code."""

from __future__ import annotations

import difflib
import textwrap

import click

from tilewright.cli.option import examples
from tilewright.cli.output import say
from tilewright.errors import typed, usage_error


@click.command("explain", epilog=examples("explain TW5001", "explain"))
@click.argument("code", required=False)
def command(code: str | None) -> None:
    """Explain CODE at length, or list every code."""
    from tilewright.errors.catalogue import catalogue

    codes = catalogue()
    if code is None:
        for item in codes.values():
            say(f"{item.code}  {item.title}")
        return
    entry = codes.get(code.upper())
    if entry is None:
        similar = difflib.get_close_matches(code.upper(), codes, 1, 0.5)
        hint = (f"did you mean {similar[0]}?",) if similar else ()
        raise usage_error(
            "TW1110",
            f"there is no error code '{code}'",
            details=hint,
            fix=(typed("tilewright", "explain", gives="lists all"),),
        )
    example = textwrap.indent("\n".join(entry.example), "    ")
    parts = f"{entry.code}: {entry.title}", textwrap.fill(entry.text, 100), example
    say("\n\n".join(part for part in parts if part))
