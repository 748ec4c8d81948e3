"""How every plugin is doing: by metadata alone, and after it was asked for everything."""

from __future__ import annotations

import pytest

from core.tests.plugins.packages import BROKEN, module, package
from tilewright.plugins.catalogue import Catalogue, Offer, Package
from tilewright.plugins.reports import examine_all, list_all

KERNELS = "@hookimpl\ndef tilewright_kernels():\n    return [Kernel(name=name, op='Clip') for name in {names}]\n"
MACHINE = """from tilewright.ir.machines.platform import Memory, Platform

@hookimpl
def tilewright_platforms():
    return (Platform(name="acme", memories=(Memory(name="ram", size_bytes=8),)),)
"""


def test_a_list_imports_nothing() -> None:
    healthy = package("a", "kernel.fast", "runner.twin", reference="no_such_module")
    other = package("b", "runner.twin", reference="no_such_module")
    one, two, bad = list_all(Catalogue(packages=(healthy, other, package("bad", "kernel.x", fault=BROKEN))))
    assert (one.announced, one.hooks, one.offers) == (("kernel.fast", "runner.twin"), (), ())
    assert (one.status, one.code) == (two.status, two.code) == ("clash", "TW8007")
    assert (bad.status, bad.detail) == ("failed", "it is broken")


def test_an_examination_asks_for_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each alone: what metadata rules out is not imported, and a clash is found on both sides."""
    module(monkeypatch, "one", KERNELS.format(names="'ba'"))
    module(monkeypatch, "two", KERNELS.format(names="'c'"))
    module(monkeypatch, "three", KERNELS.format(names="'cd'"))
    packages = [package(name, "kernel.k", reference=name) for name in ("one", "three", "two")]
    unfit = package("bad", "kernel.x", reference="no_such_module", fault=BROKEN)
    found = {each.package: each for each in examine_all(Catalogue(packages=(unfit, *packages)))}
    assert found["one"].offers == ("kernel a", "kernel b") and found["one"].hooks == ("tilewright_kernels",)
    assert (found["one"].status, found["one"].detail) == ("ok", "")
    assert found["two"].code == found["three"].code == "TW8007"
    assert (found["bad"].code, found["bad"].offers) == ("TW8004", ())


def test_where_it_is_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    module(monkeypatch, "one", "@hookimpl\ndef tilewright_kernels():\n    return 1 / 0\n")
    (report,) = examine_all(Catalogue(packages=(package("one", "kernel.k", reference="one"),)))
    assert (report.status, report.code, report.at) == ("failed", "TW8006", "one/plugin.py:5")
    assert "ZeroDivisionError" in report.detail


def test_a_module_that_is_missing_comes_before_the_promise_that_it_leaves_unkept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """An entry point names a module that is not there; the other module offers what that one announces."""
    module(monkeypatch, "acme", MACHINE)
    offers = (
        Offer(kind="allocator", target="", name="fit", reference="acme"),
        Offer(kind="platform", target="", name="acme", reference="nowhere"),
    )
    (report,) = examine_all(Catalogue(packages=(Package(name="acme", version="1", requirement="", offers=offers),)))
    assert (report.status, report.code) == ("failed", "TW8004")
    assert "No module named 'nowhere'" in report.detail
