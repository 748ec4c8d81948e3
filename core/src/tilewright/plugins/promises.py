"""Knows whether a plugin's metadata and its hooks name the same things: listings are made of the former alone.
Does not import or ask any plugin; that is `host`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tilewright.plugins.catalogue import Package
from tilewright.plugins.faults import Fault
from tilewright.plugins.kinds import GROUP, PACKS, kind_named

Values = Mapping[str, tuple[Any, ...]]  # kind -> what a plugin offers


def announced(package: Package, reference: str, values: Values) -> Values:
    """The values that have an entry point of their own, and all that are in packs: nobody could name the others."""
    return {
        kind: found if kind in PACKS else tuple(one for one in found if one.name in _names(package, reference, kind))
        for kind, found in values.items()
    }


def broken_promises(package: Package, reference: str, values: Values) -> Iterator[Fault]:
    """A fault (TW8008) for each thing that only the metadata has, or only the hooks."""
    for kind in [kind for kind in values if kind not in PACKS]:
        offered = {one.name for one in values[kind]}
        for name in sorted(_names(package, reference, kind) ^ offered):
            yield _fault(package, reference, kind, name, missing=name in offered)


def _names(package: Package, reference: str, kind: str) -> set[str]:
    return {offer.name for offer in package.offers if (offer.kind, offer.reference) == (kind, reference)}


def _fault(package: Package, reference: str, kind: str, name: str, *, missing: bool) -> Fault:
    title, hook = f"{kind}.{name}", kind_named(kind).hook
    verb, cause = "remove", f"entry point '{title}' is announced, but '{hook}' returns no '{name}'"
    if missing:
        verb, cause = "add", f"'{hook}' returns '{name}', but there is no entry point '{title}'"
    line = f"""{verb} '"{title}" = "{reference}"' below [project.entry-points."{GROUP}"] in its pyproject.toml"""
    return Fault(
        status="failed",
        code="TW8008",
        package=package.name,
        version=package.version,
        cause=cause,
        fix=(f"{line}, and install it anew",),
        part=title,
    )
