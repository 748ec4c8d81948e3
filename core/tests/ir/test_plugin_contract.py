"""What functions of plugins return is looked at: the error says whose function it is, where, and what it may return."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pluggy
import pytest

from tilewright.errors import Exit, TilewrightError
from tilewright.ir.machines.platform import Platform
from tilewright.ir.plugin_contract import (
    PROJECT,
    demand_bytes,
    demand_cost,
    demand_mapping,
    demand_pairs,
    demand_type,
    hookimpl,
    wrong_answer,
)
from tilewright.plugins import hookspecs


def settle(platform: Platform) -> Any:
    """A function of a plugin that forgets its `return`."""


def refused(demand: Callable[..., object], *arguments: object) -> str:
    with pytest.raises(TilewrightError) as caught:
        demand(*arguments)
    assert (caught.value.code, caught.value.exit_code) == ("TW8062", Exit.PLUGIN)
    assert caught.value.fix == ("correct f if kernel 'k' is yours; otherwise report it to the author of its package",)
    return caught.value.message


def test_the_function_is_named_with_its_place() -> None:
    error = wrong_answer("target 'acme'", settle, "settle", settle(Platform(name="acme", memories=())), "a Platform")
    assert error.message == "target 'acme': settle must return a Platform, found None"
    assert error.where == f"ir/test_plugin_contract.py:{settle.__code__.co_firstlineno}"
    assert wrong_answer("target 'acme'", len, "settle", 3, "a Platform").where == ""  # it is written in C


def test_types() -> None:
    assert demand_type("text", str, "kernel 'k'", settle, "f") == "text"
    assert refused(demand_type, {}, Platform, "kernel 'k'", settle, "f").endswith("a Platform, found dict {}")


def test_mappings() -> None:
    assert demand_mapping({"count": 1}, "kernel 'k'", settle, "f") == {"count": 1}
    assert "must return a mapping from names, found str 'count'" in refused(
        demand_mapping, "count", "kernel 'k'", settle, "f"
    )


@pytest.mark.parametrize("wrong", [-1, 4.5, "4", None, float("nan")])
def test_bytes_are_whole_and_not_negative(wrong: object) -> None:
    assert demand_bytes(0, "kernel 'k'", settle, "f") == 0
    assert demand_bytes(np.int64(8), "kernel 'k'", settle, "f") == 8
    assert "f must return a whole number of bytes, 0 or more, found" in refused(
        demand_bytes, wrong, "kernel 'k'", settle, "f"
    )


@pytest.mark.parametrize("wrong", [-0.5, "many", None, float("nan"), 1j])
def test_costs_can_be_compared(wrong: object) -> None:
    assert demand_cost(0.5, "kernel 'k'", settle, "f") == 0.5
    assert demand_cost(np.float32(2), "kernel 'k'", settle, "f") == 2
    assert "f must return a number of cycles, 0 or more, found" in refused(
        demand_cost, wrong, "kernel 'k'", settle, "f"
    )


@pytest.mark.parametrize("wrong", [("X", "Y"), [("X", "Y")], (("X", "Y", "Y"),), (("Y", "X"),), (("x", "y"),), None])
def test_pairs_name_an_input_and_an_output(wrong: Any) -> None:
    assert demand_pairs((("X", "Y"),), ("X", "B"), ("Y",), "kernel 'k'", settle, "in_place") == (("X", "Y"),)
    with pytest.raises(TilewrightError, match=r"in_place must return a tuple of pairs \(input, output\) of X, B and Y"):
        demand_pairs(wrong, ("X", "B"), ("Y",), "kernel 'k'", settle, "in_place")


def test_a_function_with_the_mark_answers_its_hook() -> None:
    plugin = ModuleType("plugin")

    @hookimpl
    def tilewright_tilers() -> tuple[str, ...]:
        return ("one",)

    def tilewright_allocators() -> tuple[str, ...]:
        return ("not marked",)

    vars(plugin).update(tilewright_tilers=tilewright_tilers, tilewright_allocators=tilewright_allocators)
    manager = pluggy.PluginManager(PROJECT)
    manager.add_hookspecs(hookspecs)
    manager.register(plugin)
    assert manager.hook.tilewright_tilers() == [("one",)]
    assert manager.hook.tilewright_allocators() == []
    assert tilewright_tilers() == ("one",)  # it is the same function


def test_the_mark_brings_no_host() -> None:
    code = (
        "import sys, tilewright.ir.plugin_contract\n"
        "print([name for name in sys.modules if name.startswith('tilewright.plugins')])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
