"""Knows the names that installed packages announce for one kind of thing: no more than the words of their metadata.
Does not know whether a package is usable, nor its version; that is `catalogue`, which costs more to import.
"""

from __future__ import annotations

import importlib_metadata

from tilewright.plugins.kinds import GROUP


def announced_names(kind: str) -> tuple[str, ...]:
    """The names of that kind, in alphabetical order, each once. Imports no plugin."""
    words = (entry.name.partition(".") for entry in importlib_metadata.entry_points(group=GROUP))
    return tuple(sorted({name for word, _, name in words if word == kind}))
