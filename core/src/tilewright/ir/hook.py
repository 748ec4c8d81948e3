"""Knows the mark that makes a function answer a hook. Does not know the hooks (`plugins.hookspecs`).

It is apart from the plugin host because every plugin needs it, and the host takes long to import.
"""

from __future__ import annotations

from pluggy import HookimplMarker

PROJECT = "tilewright"

hookimpl = HookimplMarker(PROJECT)
