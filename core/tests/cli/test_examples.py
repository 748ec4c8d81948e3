"""How examples stand in a help: as they are written, each on a line."""

from __future__ import annotations

import click

from tilewright.cli.examples import examples

LONG = "check " + "word " * 30 + "end"


def test_no_line_is_broken() -> None:
    command = click.Command("one", epilog=examples("check a.onnx", LONG))
    *_, head, first, second = command.get_help(click.Context(command)).splitlines()
    assert head.strip() == "Examples:"
    assert (first.strip(), second.strip()) == ("tilewright check a.onnx", f"tilewright {LONG}")
