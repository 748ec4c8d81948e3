"""Points: every combination, what to type for each, and roles as each machine's own memories."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pytest

from row_networks import ONE_MEMORY
from tilewright.errors import TilewrightError
from tilewright.exploration.sweep.axes import axis
from tilewright.exploration.sweep.points import points, typed_flags, with_own_memories
from tilewright.testing.cluster import CLUSTER


def test_every_combination_the_last_axis_fastest() -> None:
    axes = [axis("target", "a,b"), axis("memory.ram", "1K,2K"), axis("optimize", "ram")]
    found = list(points([Path("x"), Path("y")], axes))
    assert len(found) == 8
    assert [one.values["memory.ram"] for one in found[:2]] == ["1K", "2K"]
    assert (found[0].target, dict(found[0].flags)) == ("a", {"memory": {"ram": "1K"}, "optimize": "ram"})
    assert found[0].as_text() != found[1].as_text()


def test_flags_that_cannot_be_read_are_found_before_anything_is_planned() -> None:
    with pytest.raises(TilewrightError, match="TW1101"):
        list(points([Path("x")], [axis("optimize", "fast")]))


@pytest.mark.parametrize(
    ("flags", "typed"),
    [
        ({"memory": {"ram": 5, "flash": 6}}, "--memory ram=5 --memory flash=6"),
        ({"allow_external": True}, "--allow-external"),
        ({"allow_external": False}, "--no-external"),
        ({"io": ["a=user", "push"], "groups": 2}, "--io a=user --io push --groups 2"),
    ],
)
def test_what_to_type(flags: dict[str, Any], typed: str) -> None:
    assert typed_flags("", flags) == typed
    assert shlex.split(typed_flags("t", flags))[:2] == ["--target", "t"]


def test_roles_are_memories_of_the_machine() -> None:
    limits = {"memory": {"fast": 1, "main": 2}}
    own = with_own_memories(limits, CLUSTER)["memory"]
    assert own == {CLUSTER.inner: 1, CLUSTER.backing_memory().name: 2}
    assert with_own_memories({"memory": {"fast": 1}}, ONE_MEMORY)["memory"] == {ONE_MEMORY.memories[0].name: 1}
    assert with_own_memories({"optimize": "ram"}, ONE_MEMORY) == {"optimize": "ram"}


def test_one_memory_has_one_limit() -> None:
    with pytest.raises(TilewrightError, match="TW1413"):
        with_own_memories({"memory": {"fast": 1, "main": 2}}, ONE_MEMORY)
