"""Knows which runners this package offers tilewright. Does not know what they are made of, nor any target."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from tilewright.api import hookimpl

if TYPE_CHECKING:
    from tilewright.api.runner import Runner


@hookimpl
def tilewright_runners() -> Iterable[Runner]:
    """QEMU, and GVSoC where it is installed."""
    from tilewright_riscv.runners import RUNNERS

    return RUNNERS
