"""Knows which targets, kernels and exporters this package offers tilewright. Does not know what they are made of."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from tilewright.api import hookimpl

if TYPE_CHECKING:
    from tilewright.api.exporter import Exporter
    from tilewright.api.kernel import Kernel
    from tilewright.api.platform import MemoryHierarchy, Platform


@hookimpl
def tilewright_platforms() -> Iterable[Platform]:
    """The cluster of Snitch cores."""
    from tilewright_snitch.platform import SNITCH

    return (SNITCH,)


@hookimpl
def tilewright_memory_hierarchies() -> Iterable[MemoryHierarchy]:
    """Other memories around the cluster."""
    from tilewright_snitch.boards import OCCAMY

    return (OCCAMY,)


@hookimpl
def tilewright_kernels() -> Iterable[Kernel]:
    """Kernels for the cluster's cores."""
    from tilewright_snitch.kernels import KERNELS

    return KERNELS


@hookimpl
def tilewright_exporters() -> Iterable[Exporter]:
    """A program for the bare machine."""
    from tilewright_snitch.exporters import EXPORTERS

    return EXPORTERS
