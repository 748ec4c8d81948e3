"""Slow tests are left out evenly, by their names alone; others never are."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from sampled import kept, pytest_collection_modifyitems


def test_one_of_many_is_kept_wherever_the_file_is() -> None:
    names = [f"tests/test_that.py::test_it[{number}]" for number in range(400)]
    found = [name for name in names if kept(name, 4)]
    assert 70 < len(found) < 130 and all(kept(name, 1) for name in names)
    assert [kept(f"../other/{name}", 4) for name in names] == [kept(name, 4) for name in names]


def test_only_slow_ones_are_left_out() -> None:
    left: list[Any] = []

    def deselected(items: list[Any]) -> None:
        left.extend(items)

    hook = SimpleNamespace(pytest_deselected=deselected)
    config: Any = SimpleNamespace(getoption=lambda _: 1000, hook=hook)
    items: list[Any] = [
        SimpleNamespace(nodeid=f"test_it.py::{number}", get_closest_marker=lambda _, slow=number % 2: slow)
        for number in range(20)
    ]
    every = list(items)
    pytest_collection_modifyitems(config, items)
    assert items == every[::2] and left == every[1::2]
