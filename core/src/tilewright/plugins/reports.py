"""Knows how every installed plugin is doing, as values that `tilewright plugins list` and `doctor` print.
Does not know how they are printed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tilewright.plugins.catalogue import Catalogue, Package, discover
from tilewright.plugins.faults import Fault, Status
from tilewright.plugins.host import Loaded, load
from tilewright.plugins.kinds import KINDS
from tilewright.plugins.registry import clashes


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginReport:
    """One installed distribution: is it usable, why not, and what it offers."""

    package: str
    version: str
    requirement: str  # what it asks of the core; "" when it asks nothing
    status: Status
    code: str = ""  # of what is wrong
    detail: str = ""  # what is wrong, in one line
    at: str = ""  # file and line in the plugin
    fix: tuple[str, ...] = ()
    announced: tuple[str, ...]  # entry points
    hooks: tuple[str, ...] = ()  # implemented; only after an examination
    offers: tuple[str, ...] = ()  # "kind name"; only after an examination

    def with_fault(self, fault: Fault) -> PluginReport:
        """The same plugin, found unusable."""
        return replace(self, status=fault.status, code=fault.code, detail=fault.cause, at=fault.at, fix=fault.fix)


def list_all(catalogue: Catalogue | None = None) -> tuple[PluginReport, ...]:
    """Every installed package by its metadata alone; nothing is imported."""
    catalogue = catalogue or discover()
    return tuple(_report(package, catalogue.clashes()) for package in catalogue.packages)


def examine_all(catalogue: Catalogue | None = None) -> tuple[PluginReport, ...]:
    """Every installed package, imported and asked for all it offers, each one alone."""
    catalogue = catalogue or discover()
    outcomes = {package.name: _outcomes(package) for package in catalogue.packages}
    loaded = [outcome for those in outcomes.values() for outcome in those if isinstance(outcome, Loaded)]
    faults = (*catalogue.clashes(), *clashes(loaded))
    return tuple(_report(package, faults, outcomes[package.name]) for package in catalogue.packages)


def _outcomes(package: Package) -> tuple[Loaded | Fault, ...]:
    """Every plugin object of the package, examined; none of a package that its metadata rules out."""
    references = sorted({offer.reference for offer in package.offers})
    return () if package.fault else tuple(load(package, reference) for reference in references)


def _report(package: Package, clashing: Sequence[Fault], outcomes: Sequence[Loaded | Fault] = ()) -> PluginReport:
    loaded = [outcome for outcome in outcomes if isinstance(outcome, Loaded)]
    parts = (fault for plugin in loaded for fault in plugin.faults)
    whole = (outcome for outcome in outcomes if isinstance(outcome, Fault))
    loading_faults = sorted((*whole, *parts), key=lambda fault: fault.code)
    # What cannot be imported comes first: a promise that is not kept may follow from it.
    package_faults = [package.fault, *loading_faults]
    own_clashes = (fault for fault in clashing if package.name in fault.packages)
    faults = [fault for fault in (*package_faults, *own_clashes) if fault]
    report = PluginReport(
        package=package.name,
        version=package.version,
        requirement=package.requirement,
        status="ok",
        announced=tuple(offer.title for offer in package.offers),
        hooks=tuple(dict.fromkeys(hook for plugin in loaded for hook in plugin.hooks)),
        offers=tuple(
            f"{kind.label} {value.name}"
            for kind in KINDS
            for plugin in loaded
            for value in sorted(plugin.values.get(kind.name, ()), key=lambda value: str(value.name))
        ),
    )
    return report.with_fault(faults[0]) if faults else report
