"""Knows which tilers this package offers tilewright. Does not know how they search."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from tilewright.api import hookimpl

if TYPE_CHECKING:
    from tilewright.api.tiler import Tiler


@hookimpl
def tilewright_tilers() -> Iterable[Tiler]:
    """Tiles and places together."""
    from tilewright_cpsat.tiler import CpsatTiler

    return (CpsatTiler(),)
