"""Errors in functions of plugins name package, function and line; what no plugin took part in is not blamed on one."""

from __future__ import annotations

import types

import pytest

from tilewright.errors import Exit
from tilewright.plugins.blame import plugin_failure
from tilewright.plugins.catalogue import Offer, Package

ACME = """
class Costs:
    def cycles(self, extents):
        return extents["n"] / 0

def deeper(function):
    return function()

def outer(function):
    return deeper(function)
"""
PACKAGES = (
    Package(
        name="acme-tools",
        version="1.2.3",
        requirement="",
        offers=(Offer(kind="kernel", name="fast", reference="acme.kernels:plugin"),),
    ),
    Package(name="tilewright", version="9", requirement="", offers=(Offer(kind="tiler", name="a", reference="core"),)),
)


def module(name: str, source: str) -> types.ModuleType:
    made = types.ModuleType(name)
    exec(compile(source, f"/somewhere/site-packages/{name.replace('.', '/')}.py", "exec"), made.__dict__)
    return made


def raised(function: object, *arguments: object) -> BaseException:
    assert callable(function)
    with pytest.raises(Exception) as caught:  # whatever the plugin raises
        function(*arguments)
    return caught.value


def test_a_method_is_named_with_its_line_and_package() -> None:
    error = plugin_failure(raised(module("acme.kernels", ACME).Costs().cycles, {"n": 1}), PACKAGES)
    assert error is not None
    assert (error.code, error.exit_code, error.where) == ("TW8061", Exit.PLUGIN, "acme/kernels.py:4")
    assert error.message == (
        "plugin acme-tools 1.2.3 failed in its function 'Costs.cycles': ZeroDivisionError: division by zero"
    )


def test_what_it_called_in_vain_is_its_own_fault_and_the_way_there_is_shown() -> None:
    error = plugin_failure(raised(module("acme.kernels", ACME).outer, lambda: {}["nothing"]), PACKAGES)
    assert error is not None
    assert error.where == "acme/kernels.py:7"
    assert "'deeper': KeyError: 'nothing'" in error.message
    assert error.details == ("called at acme/kernels.py:10 in outer",)


def test_nobody_is_blamed_for_what_no_plugin_did() -> None:
    assert plugin_failure(raised(lambda: 1 // 0), PACKAGES) is None
    assert plugin_failure(raised(module("core", ACME).deeper, lambda: 1 // 0), PACKAGES) is None
    assert plugin_failure(raised(module("acmes", ACME).deeper, lambda: 1 // 0), PACKAGES) is None
