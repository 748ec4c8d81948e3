"""One plugin, imported and asked: what it offers, or one fault with the reason and the place."""

from __future__ import annotations

import sys
import types

import pytest

from core.tests.plugins.packages import module, package
from tilewright.errors import Exit, TilewrightError
from tilewright.plugins.catalogue import Catalogue, Offer, Package
from tilewright.plugins.faults import Fault
from tilewright.plugins.host import Loaded, announced_values, broken_promises, load, plugin_failure
from tilewright.plugins.kinds import KINDS
from tilewright.plugins.loading import load_named
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


def running_module(name: str, source: str) -> types.ModuleType:
    made = types.ModuleType(name)
    exec(compile(source, f"/somewhere/site-packages/{name.replace('.', '/')}.py", "exec"), made.__dict__)
    return made


def raised(function: object, *arguments: object) -> BaseException:
    assert callable(function)
    with pytest.raises(Exception) as caught:  # whatever the plugin raises
        function(*arguments)
    return caught.value


def test_a_method_is_named_with_its_line_and_package() -> None:
    error = plugin_failure(raised(running_module("acme.kernels", ACME).Costs().cycles, {"n": 1}), PACKAGES)
    assert error is not None
    assert (error.code, error.exit_code, error.where) == ("TW8061", Exit.PLUGIN, "acme/kernels.py:4")
    assert error.message == (
        "plugin acme-tools 1.2.3 failed in its function 'Costs.cycles': ZeroDivisionError: division by zero"
    )


def test_what_it_called_in_vain_is_its_own_fault_and_the_way_there_is_shown() -> None:
    error = plugin_failure(raised(running_module("acme.kernels", ACME).outer, lambda: {}["nothing"]), PACKAGES)
    assert error is not None
    assert error.where == "acme/kernels.py:7"
    assert "'deeper': KeyError: 'nothing'" in error.message
    assert error.details == ("called at acme/kernels.py:10 in outer",)


def test_nobody_is_blamed_for_what_no_plugin_did() -> None:
    assert plugin_failure(raised(lambda: 1 // 0), PACKAGES) is None
    assert plugin_failure(raised(running_module("core", ACME).deeper, lambda: 1 // 0), PACKAGES) is None
    assert plugin_failure(raised(running_module("acmes", ACME).deeper, lambda: 1 // 0), PACKAGES) is None


NO_ALLOCATOR = """
@hookimpl
def tilewright_allocators():
    return []
"""


def test_what_is_announced_is_offered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of this reference only: another object of the package answers for what it announces."""
    found = loaded(monkeypatch, NO_ALLOCATOR, "allocator.best")
    assert isinstance(found, Loaded)
    (fault,) = found.faults
    assert (fault.code, fault.part) == ("TW8008", "allocator.best")
    assert fault.cause == "entry point 'allocator.best' is announced, but 'tilewright_allocators' returns no 'best'"
    module(monkeypatch, "acme", NO_ALLOCATOR)
    other = load(package("acme", "allocator.best", reference="acme.other"), "acme")
    assert isinstance(other, Loaded) and other.faults == ()


OWN = """
class Own:
    summary = "s"
    def __init__(self, name):
        self.name = name
    def solve(self, problem, budget): ...
@hookimpl
def tilewright_allocators():
    return [Own("own"), Own("other")]
"""


def test_what_is_offered_without_a_line_is_left_out_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    found = loaded(monkeypatch, OWN, "allocator.other")
    assert isinstance(found, Loaded)
    assert [value.name for value in found.values["allocator"]] == ["other"]
    (fault,) = found.faults
    assert (fault.code, fault.part) == ("TW8008", "allocator.own")
    assert "returns 'own', but there is no entry point 'allocator.own'" in fault.cause
    assert """add '"allocator.own" = "acme"' below [project.entry-points."tilewright.v1"]""" in fault.fix[0]
    said = fault.warning().message
    assert said.startswith("plugin acme 1.2 is used without 'allocator.own': 'tilewright_allocators' returns 'own'")


def test_what_is_needed_and_announced_must_be_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """The other one of the same module works, with a warning."""
    module(monkeypatch, "acme", OWN)
    known = Catalogue(packages=(package("acme", "allocator.other", "allocator.gone"),))
    registry = load_named(("allocator", "other"), catalogue=known)
    assert list(registry.allocators) == ["other"]
    said = [(each.code, each.message.partition(":")[0]) for each in registry.diagnostics]
    assert said == [("TW8008", f"plugin acme 1.2 is used without 'allocator.{name}'") for name in ("gone", "own")]
    with pytest.raises(TilewrightError, match="allocator 'gone' needs plugin acme") as caught:
        load_named(("allocator", "gone"), catalogue=known)
    assert caught.value.code == "TW8008" and "remove" in caught.value.fix[0]


@pytest.mark.parametrize("kind", [kind.name for kind in KINDS if not kind.pack])
def test_it_is_the_same_for_every_kind(kind: str) -> None:
    class Thing:
        def __init__(self, name: str) -> None:
            self.name = name

    values = {kind: (Thing("known"), Thing("unknown"))}
    acme = package("acme", f"{kind}.known", f"{kind}.gone")
    assert [one.name for one in announced_values(acme, "acme", values)[kind]] == ["known"]
    assert [fault.part for fault in broken_promises(acme, "acme", values)] == [f"{kind}.gone", f"{kind}.unknown"]


@pytest.mark.parametrize("kind", [kind.name for kind in KINDS if kind.pack])
def test_names_in_packs_are_nobodys_business(kind: str) -> None:
    values = {kind: ("anything",)}
    assert announced_values(package("acme", f"{kind}.pack"), "acme", values) == values
    assert list(broken_promises(package("acme", f"{kind}.pack"), "acme", values)) == []
