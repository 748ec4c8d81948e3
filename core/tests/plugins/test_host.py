"""One plugin, imported and asked: what it offers, or one fault with the reason and the place."""

from __future__ import annotations

import sys

import pytest

from core.tests.plugins.packages import module, package
from tilewright.plugins.faults import Fault
from tilewright.plugins.host import Loaded, load
from tilewright.plugins.offers import StageEvent

KERNELS = "@hookimpl\ndef tilewright_kernels():\n    return [Kernel(name=name, op='Clip') for name in {names}]\n"
MACHINE = """from tilewright.ir.machines.platform import Memory, Platform

@hookimpl
def tilewright_platforms():
    return (Platform(name="acme", memories=(Memory(name="ram", size_bytes=8, kind="sram"),)),)
"""


def loaded(patch: pytest.MonkeyPatch, source: str, *titles: str, reference: str = "acme") -> Loaded | Fault:
    module(patch, "acme", source)
    return load(package("acme", *titles), reference)


def test_values_and_hooks(monkeypatch: pytest.MonkeyPatch) -> None:
    found = loaded(monkeypatch, KERNELS.format(names="'zx'"))
    assert isinstance(found, Loaded)
    assert found.hooks == ("tilewright_kernels",) and found.observe is None
    assert [kernel.name for kernel in found.values["kernel"]] == ["z", "x"]
    assert found.values["operator"] == ()


def test_an_object_may_be_the_plugin(monkeypatch: pytest.MonkeyPatch) -> None:
    body = KERNELS.format(names="'k'").replace("()", "(self)").replace("\n", "\n    ")
    found = loaded(monkeypatch, f"class Pack:\n    {body}\npack = Pack()\n", reference="acme:pack")
    assert isinstance(found, Loaded) and [kernel.name for kernel in found.values["kernel"]] == ["k"]


def test_hooks_of_other_kinds_are_not_called(monkeypatch: pytest.MonkeyPatch) -> None:
    module(monkeypatch, "acme", "@hookimpl\ndef tilewright_kernels():\n    1 / 0\n")
    found = load(package("acme"), "acme", ("runner",))
    assert isinstance(found, Loaded) and dict(found.values) == {"runner": ()}


def test_an_observer_hears_of_stages(monkeypatch: pytest.MonkeyPatch) -> None:
    source = "heard = []\n@hookimpl\ndef tilewright_stage_finished(event):\n    heard.append(event.stage)\n"
    found = loaded(monkeypatch, f"{source}")
    assert isinstance(found, Loaded) and found.observe is not None
    found.observe(StageEvent(stage="bind", value=None))
    assert sys.modules["acme"].heard == ["bind"]


@pytest.mark.parametrize(("source", "code", "cause"), [
    ("@hookimpl\ndef tilewright_kernel():\n    return []\n", "TW8005", "no hook 'tilewright_kernel'; did you mean"),
    ("def tilewright_kernels():\n    return []\n", "TW8005", "'tilewright_kernels' is not marked with @hookimpl"),
    ("@hookimpl\ndef tilewright_kernels(graph):\n    return []\n", "TW8005", "takes (), and is declared with (graph)"),
    ("@hookimpl\ndef tilewright_stage_finished(stage):\n    pass\n", "TW8005", "takes (event), and is declared with"),
    ("@hookimpl\ndef tilewright_kernels():\n    raise SystemExit(3)\n", "TW8006", "failed: SystemExit: 3"),
    ("@hookimpl\ndef tilewright_kernels():\n    return 7\n", "TW8006", "failed: TypeError"),
    ("@hookimpl\ndef tilewright_kernels():\n    return ['k']\n", "TW8006", "must return Kernel objects, found str"),
    (KERNELS.format(names="'kk'"), "TW8006", "returns 'k' twice"),
    (MACHINE, "TW8006", "target 'acme' has memory 'ram' of kind 'sram': there are ram and const"),
])  # fmt: skip
def test_broken(source: str, code: str, cause: str, monkeypatch: pytest.MonkeyPatch) -> None:
    fault = loaded(monkeypatch, source)
    assert isinstance(fault, Fault)
    assert (fault.status, fault.code, fault.package, fault.version) == ("failed", code, "acme", "1.2")
    assert cause in fault.cause and "\n" not in fault.cause


@pytest.mark.parametrize(("source", "at"), [
    ("@hookimpl\ndef tilewright_kernels():\n    return 7\n", "acme/plugin.py:3"),  # not iterable: tuple() raises
    ("@hookimpl\ndef tilewright_kernels():\n    return ['k']\n", "acme/plugin.py:3"),
    ("@hookimpl\ndef tilewright_kernels():\n    return [Kernel(name='k', op='Clip', cycle=1)]\n", "acme/plugin.py:5"),
])  # fmt: skip
def test_the_place_is_in_the_plugin_and_not_in_what_it_called(
    source: str, at: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fault = loaded(monkeypatch, source)
    assert isinstance(fault, Fault) and fault.at == at


def test_a_module_that_is_not_there_has_no_place(monkeypatch: pytest.MonkeyPatch) -> None:
    fault = loaded(monkeypatch, "", reference="acme.nothing")
    assert isinstance(fault, Fault) and fault.at == ""


def test_the_place_of_what_was_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    fault = loaded(monkeypatch, "@hookimpl\ndef tilewright_kernels():\n    return [1 / 0]\n")
    assert isinstance(fault, Fault) and fault.at == "acme/plugin.py:5"


@pytest.mark.parametrize(("reference", "code", "cause"), [
    ("acme.nothing", "TW8004", "importing acme.nothing failed: ModuleNotFoundError"),
    ("acme:nothing", "TW8004", "importing acme:nothing failed: AttributeError"),
    ("acme:Kernel", "TW8005", "acme:Kernel is a class"),
])  # fmt: skip
def test_references(reference: str, code: str, cause: str, monkeypatch: pytest.MonkeyPatch) -> None:
    fault = loaded(monkeypatch, "", reference=reference)
    assert isinstance(fault, Fault) and fault.code == code and cause in fault.cause
