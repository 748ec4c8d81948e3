"""Knows which targets, kernels, graph passes and exporters this package offers tilewright.
Does not know what they are made of.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from tilewright.api import hookimpl

if TYPE_CHECKING:
    from tilewright.api.exporter import Exporter
    from tilewright.api.kernel import Kernel
    from tilewright.api.passes import GraphPass
    from tilewright.api.platform import Platform


@hookimpl
def tilewright_platforms() -> Iterable[Platform]:
    """The cluster of Siracusa."""
    from tilewright_siracusa.platform import SIRACUSA

    return (SIRACUSA,)


@hookimpl
def tilewright_kernels() -> Iterable[Kernel]:
    """Kernels for the cluster's cores, and for the engine beside them."""
    from tilewright_siracusa import neureka
    from tilewright_siracusa.kernels import KERNELS

    return (*KERNELS, *neureka.KERNELS)


@hookimpl
def tilewright_graph_passes() -> Iterable[GraphPass]:
    """Values as the engine wants them."""
    from tilewright_siracusa.neureka.unsigned import UNSIGNED

    return (UNSIGNED,)


@hookimpl
def tilewright_exporters() -> Iterable[Exporter]:
    """A program for the bare machine, and the runtime for the PULP SDK."""
    from tilewright_siracusa.exporters import EXPORTERS

    return EXPORTERS
