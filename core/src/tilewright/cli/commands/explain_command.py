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

    known = catalogue()
    if code is None:
        for item in known.values():
            say(f"{item.code}  {item.title}")
        return
    found = known.get(code.upper())
    if found is None:
        near = difflib.get_close_matches(code.upper(), known, 1, 0.5)
        hint = (f"did you mean {near[0]}?",) if near else ()
        raise usage_error(
            "TW1110",
            f"there is no error code '{code}'",
            details=hint,
            fix=(typed("tilewright", "explain", gives="lists all"),),
        )
    example = textwrap.indent("\n".join(found.example), "    ")
    parts = f"{found.code}: {found.title}", textwrap.fill(found.text, 100), example
    say("\n\n".join(part for part in parts if part))
