"""The plugin host: what is installed, what it offers, and what is wrong with it. Knows no plugin by name."""

from tilewright.plugins.catalogue import Catalogue, discover
from tilewright.plugins.loading import load_for, load_named
from tilewright.plugins.registry import Registry
from tilewright.plugins.reports import PluginReport, examine_all, list_all

__all__ = ["Catalogue", "PluginReport", "Registry", "discover", "examine_all", "list_all", "load_for", "load_named"]
