"""What varies: values as they are written, ranges of sizes, and what cannot be read."""

from __future__ import annotations

from typing import Any

import pytest

from tilewright.errors import TilewrightError
from tilewright.exploration.sweep.axes import axes_of, axis, demand_apart


@pytest.mark.parametrize(
    ("name", "written", "values"),
    [
        ("optimize", "speed, ram", ("speed", "ram")),
        ("optimize", ["speed", "ram,speed"], ("speed", "ram")),
        ("memory.fast", "16K..128K", (16384, 32768, 65536, 131072)),
        ("memory.fast", "16K..100K", (16384, 32768, 65536)),
        ("memory.ram", "32K..64K+16K", (32768, 49152, 65536)),
        ("memory.ram", "7..7", (7,)),
        ("memory.ram", "20K,1M", ("20K", "1M")),
        ("groups", "1,2", (1, 2)),
        ("recompute", "1,1.5", (1.0, 1.5)),
        ("allow-external", "true,false", (True, False)),
        ("set.isa", "portable,xpulpv2", ("portable", "xpulpv2")),
        ("groups", 3, (3,)),
    ],
)
def test_values(name: str, written: Any, values: tuple[Any, ...]) -> None:
    assert axis(name, written).values == values


def test_a_name_is_that_of_its_column() -> None:
    assert [axis(name, "1").name for name in ("memory.fast", "groups")] == ["memory.fast", "groups"]


@pytest.mark.parametrize(
    ("name", "written", "reason"),
    [
        ("optimise", "ram", "nothing called 'optimise' to vary"),
        ("emit", "make", "nothing called 'emit' to vary"),
        ("memory", "16K", "does not say what of"),
        ("groups.x", "1", "does not say what of"),
        ("groups", "one", "is no number"),
        ("allow_external", "maybe", "neither true nor false"),
        ("memory.ram", "64K..16K", "is no range"),
        ("memory.ram", "0..16K", "is no range"),
        ("memory.ram", "16K..64K+0", "is no range"),
        ("memory.ram", "1..1M+1", "has 1,048,576 values"),
        ("optimize", "speed,", "has an empty value"),
        ("optimize", [], "has no value"),
    ],
)
def test_what_cannot_be_read(name: str, written: Any, reason: str) -> None:
    with pytest.raises(TilewrightError) as caught:
        axis(name, written)
    assert caught.value.code == "TW1412" and reason in caught.value.message and caught.value.fix


def test_a_table_within_a_table_is_about_one_after_the_other() -> None:
    found = axes_of({"target": "a", "memory": {"ram": "1K", "flash": "2K"}})
    assert [one.name for one in found] == ["target", "memory.ram", "memory.flash"]


@pytest.mark.parametrize("names", [("target", "target"), ("target", "board")])
def test_one_thing_is_varied_once(names: tuple[str, ...]) -> None:
    with pytest.raises(TilewrightError, match="TW1412"):
        demand_apart(axis(name, "a") for name in names)
    assert len(demand_apart([axis("target", "a"), axis("optimize", "ram")])) == 2
