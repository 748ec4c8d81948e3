"""Knows how to compile for a platform that no installed package offers: everything else is as for one that does.
Does not know any platform.
"""

from __future__ import annotations

from dataclasses import replace

from tilewright.config.options import Options
from tilewright.ir.machines.platform import Platform
from tilewright.plugins import Registry, discover, load_named


def registry_for(platform: Platform, *, allocator: str = "auto", tiler: str = "auto") -> Registry:
    """What a compilation for `platform` may use: it, the packs for every target, the allocator and tiler named, and the
    exporters that nobody has to name.

    TilewrightError (exit 8) as of a compilation, where one of them is broken or not installed.
    """
    catalogue = discover()
    packs = [(offer.kind, offer.name) for _, offer in catalogue.packs("")]
    exporters = [("exporter", name) for name in Options().emit]
    registry = load_named(("allocator", allocator), ("tiler", tiler), *exporters, *packs, catalogue=catalogue)
    return replace(registry, platforms={platform.name: platform})
