"""Knows which plugins a job needs, which it may use, and what to do when one of them is broken.
Does not know how one plugin is imported; that is `host`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from tilewright.ir.log_span import DEBUG, LOG, log_span
from tilewright.plugins.catalogue import Catalogue, Offer, Package, discover
from tilewright.plugins.faults import Fault
from tilewright.plugins.host import Loaded, load
from tilewright.plugins.kinds import COMPILED_PACKS, CORE, kind_named
from tilewright.plugins.registry import Registry, clashes, idle_kernels, registry_of


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class _Object:
    """One plugin object of one package."""

    package: str
    reference: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Wish:
    package: Package
    kinds: frozenset[str]  # the hooks to call: an allocator's package does not rewrite graphs by the way
    needed_for: str  # "" when the job goes on without it
    parts: frozenset[str] = frozenset()  # entry points that the job does not go on without


def load_named(
    *named: tuple[str, str], welcome: Iterable[tuple[str, str]] = (), catalogue: Catalogue | None = None
) -> Registry:
    """Import only what offers the given (kind, name) pairs, and ask it for these kinds only. `welcome`: see `load_for`.

    TilewrightError (exit 8) when one of them is not installed, unfit, broken or offered twice.
    """
    catalogue = catalogue or discover()
    wishes = _needed(catalogue, named, with_target=False)
    for package, offer in catalogue.welcome(welcome):
        _wish(wishes, package, offer, "")
    return _load(catalogue, wishes)


def load_packs(catalogue: Catalogue | None = None, welcome: Iterable[tuple[str, str]] = ()) -> Registry:
    """What is there for every target: the core's vocabulary and kernels, and those of plugins that work. `welcome` is
    as in `load_for`.
    """
    catalogue = catalogue or discover()
    wishes: dict[_Object, _Wish] = {}
    for package, offer in catalogue.welcome(welcome):
        _wish(wishes, package, offer, "")
    for package, offer in catalogue.packs(""):
        _wish(wishes, package, offer, "every target" if package.name == CORE else "")
    return _load(catalogue, wishes)


def load_boards(catalogue: Catalogue | None = None) -> Registry:
    """The boards and parts that installed packages describe, and nothing else; a broken package is a warning."""
    catalogue = catalogue or discover()
    wishes: dict[_Object, _Wish] = {}
    for package in catalogue.packages:
        for offer in package.offers if package.fault is None else ():
            if offer.kind == "board":
                _wish(wishes, package, offer, "")
    return _load(catalogue, wishes)


def load_for(
    *,
    target: str,
    allocator: str = "auto",
    tiler: str = "auto",
    runner: str = "",
    memory_hierarchy: str = "",
    exporters: Iterable[str] = (),
    welcome: Iterable[tuple[str, str]] = (),
    catalogue: Catalogue | None = None,
) -> Registry:
    """Import what a compilation for `target` needs: what is named, the core's vocabulary, and every pack for it.

    `welcome` names (kind, name) pairs that are used where they are installed and work, and missed by nobody.

    A broken plugin among these is an error (exit 8). Packs for every target are used where they work;
    a broken one is a warning in `Registry.diagnostics`. Nothing else is imported.
    """
    catalogue = catalogue or discover()
    named = [("platform", target), ("allocator", allocator), ("tiler", tiler)]
    named += [("runner", runner)] if runner else []
    named += [("memory_hierarchy", memory_hierarchy)] if memory_hierarchy else []
    named += [("exporter", exporter) for exporter in exporters]
    wishes = _needed(catalogue, named, with_target=True)
    family = _load(catalogue, _needed(catalogue, [("platform", target)], with_target=False)).platforms[target].family
    for package, offer in (*catalogue.packs(target), *(catalogue.packs(family) if family else ())):
        _wish(wishes, package, offer, f"target '{target}'")
    for package, offer in catalogue.welcome(welcome):
        _wish(wishes, package, offer, "")
    for package, offer in catalogue.packs(""):
        _wish(wishes, package, offer, "every compilation" if package.name == CORE else "")
    registry = _load(catalogue, wishes)
    LOG.info("plugins: %s", ", ".join(f"{who.distribution} {who.version}" for who in registry.distributions))
    return replace(registry, diagnostics=(*registry.diagnostics, *idle_kernels(registry)))


def _needed(catalogue: Catalogue, named: Iterable[tuple[str, str]], with_target: bool) -> dict[_Object, _Wish]:
    """The objects behind `named`. `with_target`: the target's own object is asked for packs as well."""
    wishes: dict[_Object, _Wish] = {}
    for kind, name in named:
        package, offer = catalogue.find(kind, name)
        more = COMPILED_PACKS if with_target and kind == "platform" else ()
        _wish(wishes, package, offer, f"{kind_named(kind).label} '{name}'", more)
    return wishes


def _wish(
    wishes: dict[_Object, _Wish], package: Package, offer: Offer, needed_for: str, more: Iterable[str] = ()
) -> None:
    """Ask for what `offer` announces; the first reason to need an object is the one that is reported."""
    key = _Object(package=package.name, reference=offer.reference)
    before = wishes.get(key)
    wishes[key] = _Wish(
        package=package,
        kinds=frozenset((offer.kind, *more, *(before.kinds if before else ()))),
        needed_for=(before.needed_for if before else "") or needed_for,
        parts=frozenset((*([offer.title] if needed_for else []), *(before.parts if before else ()))),
    )


def _load(catalogue: Catalogue, wishes: Mapping[_Object, _Wish]) -> Registry:
    """A plugin that is broken is left out whole, one that announces other names than it has without those."""
    unusable: dict[str, Fault] = {}
    loaded: list[Loaded] = []
    for key, wish in sorted(wishes.items()):
        with log_span(DEBUG, "plugin %s %s: %s", wish.package.name, wish.package.version, key.reference):
            outcome = load(wish.package, key.reference, wish.kinds)
        if isinstance(outcome, Loaded):
            loaded.append(outcome)
            for fault in outcome.faults:
                if fault.part in wish.parts:
                    raise fault.error(_label(fault.part))
        elif wish.needed_for:
            raise outcome.error(wish.needed_for)
        else:
            unusable.setdefault(wish.package.name, outcome)
    needed_for = {wish.package.name: wish.needed_for for _, wish in sorted(wishes.items()) if wish.needed_for}
    for fault in clashes(loaded):
        optional = sorted(fault.packages - needed_for.keys())
        if not optional:
            raise fault.error(needed_for[fault.package])
        for name in optional:
            unusable.setdefault(name, fault)
    used = [plugin for plugin in loaded if plugin.package.name not in unusable]
    faults = (*(fault for _, fault in sorted(unusable.items())), *(fault for plugin in used for fault in plugin.faults))
    warned = dict.fromkeys((*catalogue.warnings(), *(fault.warning() for fault in faults)))
    return registry_of(used, tuple(warned))


def _label(title: str) -> str:
    """What a user calls the thing of an entry point."""
    kind, _, name = title.partition(".")
    return f"{kind_named(kind).label} '{name}'"
