"""The mark of a hook: the plugin host finds what has it and nothing else, and having it costs no import of the host."""

from __future__ import annotations

import subprocess
import sys
from types import ModuleType

import pluggy

from tilewright.ir.hook import PROJECT, hookimpl
from tilewright.plugins import hookspecs


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
    code = "import sys, tilewright.ir.hook; print([m for m in sys.modules if m.startswith('tilewright.plugins')])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
