"""What only metadata names, and what only hooks name: it alone is left out, and the rest of the plugin works."""

from __future__ import annotations

import pytest

from core.tests.plugins.packages import module, package
from tilewright.errors import TilewrightError
from tilewright.plugins.catalogue import Catalogue
from tilewright.plugins.faults import Fault
from tilewright.plugins.host import Loaded, load
from tilewright.plugins.kinds import KINDS
from tilewright.plugins.loading import load_named
from tilewright.plugins.promises import announced, broken_promises


def loaded(patch: pytest.MonkeyPatch, source: str, *titles: str) -> Loaded | Fault:
    module(patch, "acme", source)
    return load(package("acme", *titles), "acme")


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
    assert [one.name for one in announced(acme, "acme", values)[kind]] == ["known"]
    assert [fault.part for fault in broken_promises(acme, "acme", values)] == [f"{kind}.gone", f"{kind}.unknown"]


@pytest.mark.parametrize("kind", [kind.name for kind in KINDS if kind.pack])
def test_names_in_packs_are_nobodys_business(kind: str) -> None:
    values = {kind: ("anything",)}
    assert announced(package("acme", f"{kind}.pack"), "acme", values) == values
    assert list(broken_promises(package("acme", f"{kind}.pack"), "acme", values)) == []
