"""Knows what is installed, from the metadata of distributions alone: who offers which name, and who is unfit.
Does not import any plugin; that is `host`.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

import importlib_metadata

from tilewright import __version__
from tilewright.errors import Diagnostic, TilewrightError, plugin_error, typed
from tilewright.errors.suggestions import did_you_mean
from tilewright.plugins.faults import Fault, clash_fault
from tilewright.plugins.kinds import COMPILED_PACKS, CORE, GROUP, KIND_NAMES, OBSERVER, PACKS, kind_named
from tilewright.plugins.known import PACKAGE_OF, known_names, target_of_chip
from tilewright.plugins.requirements import demand_on, normal_name

BLOCK = "TILEWRIGHT_BLOCK"


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Offer:
    """One entry point: a named thing, or a pack of them. `target` is "" unless a pack is for one target only."""

    kind: str
    target: str = ""
    name: str
    reference: str  # `module` or `module:attribute`, as in the metadata

    @property
    def title(self) -> str:
        """The entry point's name."""
        return ".".join(part for part in (self.kind, self.target, self.name) if part)


@dataclass(frozen=True, slots=True, kw_only=True)
class Package:
    """One installed distribution that offers something, and what its metadata says is wrong with it."""

    name: str
    version: str
    requirement: str  # what it asks of the core; "" when it asks nothing
    offers: tuple[Offer, ...]
    fault: Fault | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalogue:
    """Everything installed, in the order of package names. Nothing in it has been imported."""

    packages: tuple[Package, ...]
    unknown_blocks: tuple[str, ...] = ()

    def names(self, kind: str) -> tuple[str, ...]:
        """The names of one kind that installed packages offer, in alphabetical order, unfit packages included."""
        return tuple(
            sorted({offer.name for package in self.packages for offer in package.offers if offer.kind == kind})
        )

    def find(self, kind: str, name: str) -> tuple[Package, Offer]:
        """The one package that offers it and may be imported. TilewrightError (exit 8) when there is no such one."""
        needed = f"{kind_named(kind).label} '{name}'"
        offers = [
            (package, offer)
            for package in self.packages
            for offer in package.offers
            if (offer.kind, offer.name) == (kind, name)
        ]
        fit = [(package, offer) for package, offer in offers if package.fault is None]
        if len(fit) == 1:
            return fit[0]
        if fit:
            raise clash_fault(needed, [(package.name, package.version) for package, _ in fit]).error(needed)
        for package, _ in offers:
            if package.fault is not None:
                raise package.fault.error(needed)
        raise self._not_installed(kind, name, needed)

    def welcome(self, named: Iterable[tuple[str, str]]) -> tuple[tuple[Package, Offer], ...]:
        """Everything usable that offers one of the (kind, name) pairs, and nothing for those that nobody offers."""
        wanted = set(named)
        return tuple(
            (package, offer)
            for package in self.packages
            for offer in package.offers
            if (offer.kind, offer.name) in wanted and package.fault is None
        )

    def packs(self, target: str) -> tuple[tuple[Package, Offer], ...]:
        """The packs that a compilation needs: those for one target only, or with "" those for every target. Unfit
        packages are left out.
        """
        return tuple(
            (package, offer)
            for package in self.packages
            for offer in package.offers
            if offer.kind in COMPILED_PACKS and offer.target == target and package.fault is None
        )

    def clashes(self) -> tuple[Fault, ...]:
        """One fault for each thing that several usable packages name. The name of a pack is only a label."""
        claims = sorted(
            (offer.title, package.name, package.version)
            for package in self.packages
            for offer in package.offers
            if package.fault is None and offer.kind not in PACKS
        )
        owners = {
            title: [(name, version) for _, name, version in same] for title, same in groupby(claims, lambda c: c[0])
        }
        return tuple(clash_fault(f"'{title}'", named) for title, named in owners.items() if len(named) > 1)

    def warnings(self) -> tuple[Diagnostic, ...]:
        """One line for each package that its metadata rules out, each clash, each unknown name in TILEWRIGHT_BLOCK."""
        faults = (*(package.fault for package in self.packages if package.fault), *self.clashes())
        unknown = (
            Diagnostic(severity="warning", code="TW8011", message=f"{BLOCK} names '{name}', which is not installed")
            for name in self.unknown_blocks
        )
        return (*(fault.warning() for fault in faults), *unknown)

    def _not_installed(self, kind: str, name: str, needed: str) -> TilewrightError:
        installed = self.names(kind)
        package = PACKAGE_OF.get((kind, name))
        meant = (kind == "platform" and target_of_chip(name)) or name
        similar = () if package else did_you_mean(meant, (*installed, *known_names(kind)))
        listed = ", ".join(installed) or "none"
        unread = tuple(package.fault.warning().message for package in self.packages if package.fault)
        return plugin_error(
            "TW8001",
            f"{needed} is not installed",
            details=(*similar, f"installed: {listed}", *unread),
            fix=(f"pip install {package}",)
            if package
            else (*_of_board(kind, name), typed("tilewright", "plugins", "list")),
        )


def _of_board(kind: str, name: str) -> tuple[str, ...]:
    """What to do about a board that nobody offers: its core's target is known by its name, its memories by a file."""
    if kind != "memory_hierarchy":
        return ()
    target = target_of_chip(name)
    core = (typed("--target", target, gives="is the core of that board"),) if target else ()
    return (*core, "describe its memories in a file, and name that: --board FILE.toml")


def discover(environment: Mapping[str, str] | None = None) -> Catalogue:
    """Read the metadata of every distribution on `sys.path`, afresh each time. Imports no plugin.

    `environment` (default: the process's) may hold TILEWRIGHT_BLOCK, a comma-separated list of distributions.
    """
    importlib.invalidate_caches()  # what was installed since the last look must be seen
    environment = os.environ if environment is None else environment
    blocked = {normal_name(name.strip()): name.strip() for name in environment.get(BLOCK, "").split(",")}
    blocked.pop(normal_name(""), None)
    by_package: dict[str, list[importlib_metadata.EntryPoint]] = {}
    metadata: dict[str, importlib_metadata.PackageMetadata] = {}
    for dist, entries in groupby(importlib_metadata.entry_points(group=GROUP), key=lambda entry: entry.dist):
        if dist is not None:
            headers = dist.metadata  # from a file, each time
            name = normal_name(headers["Name"])
            metadata.setdefault(name, headers)
            by_package.setdefault(name, []).extend(entries)
    packages = tuple(
        _package(name, metadata[name], entries, name in blocked) for name, entries in sorted(by_package.items())
    )
    unknown = sorted(spelling for name, spelling in blocked.items() if name not in by_package)
    return Catalogue(packages=packages, unknown_blocks=tuple(unknown))


def _package(
    name: str,
    metadata: importlib_metadata.PackageMetadata,
    entries: Sequence[importlib_metadata.EntryPoint],
    blocked: bool,
) -> Package:
    version = metadata.get("Version") or "of unknown version"
    requires = metadata.get_all("Requires-Dist") or ((entries[0].dist.requires if entries[0].dist else None) or [])
    requirement, unfit = ("", None) if name == CORE else _vet(name, version, requires)
    offers, misnamed = _offers(name, version, entries)
    package = Package(name=name, version=version, requirement=requirement, offers=offers, fault=unfit or misnamed)
    return replace(package, fault=_blocked(package)) if blocked else package


def _blocked(package: Package) -> Fault:
    return Fault(
        status="blocked",
        code="TW8002",
        package=package.name,
        version=package.version,
        cause=f"it is blocked by {BLOCK}",
        fix=(f"remove '{package.name}' from the environment variable {BLOCK}",),
    )


def _vet(name: str, version: str, requires: Sequence[str]) -> tuple[str, Fault | None]:
    """What the package asks of the core, and the fault when this core is not that."""
    for line in requires:
        try:
            demand = demand_on(CORE, __version__, line)
        except ValueError:
            cause = f"its metadata has a requirement that cannot be read: {line!r}"
            return "", Fault(status="failed", code="TW8003", package=name, version=version, cause=cause)
        if demand is None:
            continue
        if demand.met:
            return demand.requirement, None
        fault = Fault(
            status="incompatible",
            code="TW8003",
            package=name,
            version=version,
            cause=f"it needs {demand.requirement}, and this is {CORE} {__version__}",
            fix=(f"pip install --upgrade {CORE} {name}",),
        )
        return demand.requirement, fault
    return "", None


def _offers(
    name: str, version: str, entries: Sequence[importlib_metadata.EntryPoint]
) -> tuple[tuple[Offer, ...], Fault | None]:
    """The entry points as offers, and the fault when one of them names no kind of thing."""
    offers, fault = [], None
    for entry in sorted(entries, key=lambda entry: entry.name):
        kind, _, rest = entry.name.partition(".")
        target, _, last = rest.rpartition(".") if kind in PACKS else ("", "", rest)
        if kind not in (*KIND_NAMES, OBSERVER) or not last:
            similar = did_you_mean(kind, (*KIND_NAMES, OBSERVER))
            cause = "; ".join((f"its entry point '{entry.name}' is not named KIND.NAME", *similar))
            fault = Fault(status="failed", code="TW8010", package=name, version=version, cause=cause)
            continue
        offers.append(Offer(kind=kind, target=target, name=last, reference=entry.value))
    return tuple(sorted(set(offers))), fault  # a second installation may announce the same
