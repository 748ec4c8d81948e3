"""Knows which targets this package offers tilewright. Does not know what they are made of."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from tilewright.api import hookimpl

if TYPE_CHECKING:
    from tilewright.api import Platform


@hookimpl
def tilewright_platforms() -> Iterable[Platform]:
    """Portable C11."""
    from tilewright_cortexm.generic import GENERIC

    return (GENERIC,)
