"""The names of the model in full, at the end of the source file."""

from __future__ import annotations

import pytest

from tilewright.emit.name_table import name_table
from tilewright.ir.programs.program import NamesInFull


def test_without_names_there_is_no_table() -> None:
    assert name_table(()) == ""


def test_names_stand_below_what_comments_say() -> None:
    text = name_table(
        (NamesInFull(of="act", names=("model/act/Relu;model/bias",)), NamesInFull(of="step 0", names=("a", "b")))
    )
    assert text.startswith("/* Names") and text.endswith(" */")
    assert text.split("\n")[3:-1] == [" * act", " *     model/act/Relu;model/bias", " * step 0", " *     a", " *     b"]


@pytest.mark.parametrize("name", ["level/" * 60, "x" * 500, "part;" * 90, "a/" + "b" * 200])
def test_long_names_are_broken_and_nothing_is_lost(name: str) -> None:
    lines = name_table((NamesInFull(of="act", names=(name,)),)).split("\n")
    assert all(len(line) <= 120 for line in lines)
    assert "".join(line.removeprefix(" *     ") for line in lines[4:-1]) == name
