"""Knows which allocators this package offers tilewright. Does not know how they place anything."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from tilewright.api import hookimpl

if TYPE_CHECKING:
    from tilewright.api.allocator import Allocator


@hookimpl
def tilewright_allocators() -> Iterable[Allocator]:
    """The exact search, in the fastest form there is and in Python, and the installed program of the same name."""
    from tilewright_minimalloc.exact import Exact
    from tilewright_minimalloc.external import External

    return (Exact(), Exact(name="minimalloc-python", form="python"), External())
