"""The plugin host: what is installed, what it offers, and what is wrong with it. Knows no plugin by name.

A name brings its module when it is asked for: of all this, `tilewright --help` needs one list.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tilewright.plugins.catalogue import Catalogue, discover
    from tilewright.plugins.loading import load_boards, load_for, load_named
    from tilewright.plugins.registry import Registry
    from tilewright.plugins.reports import PluginReport, examine_all, list_all

__all__ = [
    "Catalogue",
    "PluginReport",
    "Registry",
    "discover",
    "examine_all",
    "list_all",
    "load_boards",
    "load_for",
    "load_named",
]

_MODULES = {
    "catalogue": ("Catalogue", "discover"),
    "loading": ("load_boards", "load_for", "load_named"),
    "registry": ("Registry",),
    "reports": ("PluginReport", "examine_all", "list_all"),
}


def __getattr__(name: str) -> object:
    for module, names in _MODULES.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
