"""Installed packages as values, and plugin objects to load: nothing is installed for it."""

from __future__ import annotations

import sys
from types import ModuleType

import pytest

from tilewright.plugins.catalogue import Offer, Package
from tilewright.plugins.faults import Fault

BROKEN = Fault(status="failed", code="TW8004", package="bad", version="1", cause="it is broken")


def offer(title: str, reference: str = "acme") -> Offer:
    """The offer of an entry point `KIND.NAME`, or `KIND.TARGET.NAME` for packs."""
    kind, *target, name = title.split(".")
    return Offer(kind=kind, target=".".join(target), name=name, reference=reference)


def package(name: str, *titles: str, reference: str = "acme", fault: Fault | None = None) -> Package:
    """A package that offers these."""
    offers = tuple(offer(title, reference) for title in titles)
    return Package(name=name, version="1.2", requirement="", offers=offers, fault=fault)


def module(patch: pytest.MonkeyPatch, name: str, source: str) -> None:
    """A module of that name that can be imported, made of `source`."""
    made = ModuleType(name)
    prelude = "from tilewright.api import hookimpl\nfrom tilewright.api.kernel import Kernel\n"
    exec(compile(prelude + source, f"/site/{name}/plugin.py", "exec"), made.__dict__)
    patch.setitem(sys.modules, name, made)
