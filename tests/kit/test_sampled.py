"""Slow tests are left out evenly, by their names alone, and never all of a function; others never are."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from sampled import kept, pytest_collection_modifyitems


def cases(function: str, count: int) -> list[str]:
    return [f"tests/test_that.py::{function}[{number}]" for number in range(count)]


def test_one_of_many_is_kept_wherever_the_file_is() -> None:
    names = [f"tests/test_that.py::test_{number}" for number in range(400)]
    found = kept(names, 4)
    assert 70 < len(found) < 130 and kept(names, 1) == set(names)
    assert kept([f"../other/{name}" for name in names], 4) == {f"../other/{name}" for name in found}


def test_of_many_cases_half_as_many_are_kept() -> None:
    assert 35 < len(kept(cases("test_it", 400), 4)) < 65
    assert kept(cases("test_it", 400), 1) == set(cases("test_it", 400))


def test_one_case_of_every_function_is_kept_in_whatever_order_they_come() -> None:
    names = [name for function in range(50) for name in cases(f"test_{function}", 2 + function % 3)]
    found = kept(names, 1000)
    assert sorted(name.partition("[")[0] for name in found) == sorted({name.partition("[")[0] for name in names})
    assert kept(names[::-1], 1000) == found


def test_a_path_in_a_cases_name_is_no_folder() -> None:
    many = [f"tests/test_that.py::test_it[{folder}/same.md]" for folder in range(400)]
    assert 35 < len(kept(many, 4)) < 65


def test_only_slow_ones_are_left_out() -> None:
    left: list[Any] = []

    def deselected(items: list[Any]) -> None:
        left.extend(items)

    hook = SimpleNamespace(pytest_deselected=deselected)
    config: Any = SimpleNamespace(getoption=lambda _: 1000, hook=hook)
    items: list[Any] = [
        SimpleNamespace(nodeid=f"test_it.py::test_it[{number}]", get_closest_marker=lambda _, slow=number % 2: slow)
        for number in range(20)
    ]
    every = list(items)
    pytest_collection_modifyitems(config, items)
    assert len(left) == 9 and set(map(id, left)) < set(map(id, every[1::2]))
    assert items == [item for item in every if item not in left]
