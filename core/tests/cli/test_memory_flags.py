"""Flags about memory: which words they take, in which order they are kept, and that all of them arrive."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click
import pytest

from tilewright.cli.memory_flags import io_flag, memory_flags


def given(*typed: str) -> Mapping[str, Any]:
    """What a command is called with."""
    found: dict[str, Any] = {}
    io_flag("--place-io")(memory_flags(click.Command("one", callback=lambda: None)))
    command = click.command("one")(memory_flags(io_flag("--place-io")(lambda **flags: found.update(flags))))
    command.main(list(typed), standalone_mode=False)
    return found


def test_without_flags_everything_is_empty() -> None:
    found = given()
    assert set(found) == {
        *("board", "memory", "pools", "pins", "stages", "states", "io"),
    }
    assert not any(found.values())


@pytest.mark.parametrize(
    ("flag", "name"),
    [
        ("--memory", "memory"),
        ("--pool", "pools"),
        ("--pin", "pins"),
        ("--stage", "stages"),
        ("--state", "states"),
        ("--place-io", "io"),
    ],
)
def test_what_is_said_several_times_is_kept_in_order(flag: str, name: str) -> None:
    """The first pool is preferred, and the last word about a thing holds: order is meaning."""
    assert given(flag, "b=1", flag, "a=2", flag, "b=3")[name] == ("b=1", "a=2", "b=3")


def test_help_has_every_flag() -> None:
    command = click.command("one")(memory_flags(lambda **_: None))
    shown = command.get_help(click.Context(command))
    flags = {option for one in command.params for option in one.opts}
    assert {flag for flag in flags if flag not in shown} == set()
