"""Knows which Cortex-M targets, kernels and runners this package offers tilewright. Does not know what they are made
of, nor `generic`, which is a plugin object of its own.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from tilewright.api import hookimpl

if TYPE_CHECKING:
    from tilewright.api.kernel import Kernel
    from tilewright.api.passes import CodePass
    from tilewright.api.platform import Platform
    from tilewright.api.runner import Runner


@hookimpl
def tilewright_platforms() -> Iterable[Platform]:
    """The Cortex-M cores."""
    from tilewright_cortexm.cortex_m import TARGETS

    return TARGETS


@hookimpl
def tilewright_runners() -> Iterable[Runner]:
    """Cortex-M under QEMU."""
    from tilewright_cortexm.qemu.runner import QemuRunner

    return (QemuRunner(),)


@hookimpl
def tilewright_kernels() -> Iterable[Kernel]:
    """Kernels for the DSP extension and for Helium."""
    from tilewright_cortexm.kernels import KERNELS

    return KERNELS


@hookimpl
def tilewright_code_passes() -> Iterable[CodePass]:
    """Inputs and outputs that a DMA touches, on cores with a data cache."""
    from tilewright_cortexm.cache import CACHE

    return (CACHE,)
