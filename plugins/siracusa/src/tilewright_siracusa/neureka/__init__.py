"""Knows which kernels N-EUREKA, the convolution engine of the cluster, has. Does not know what is in them."""

from __future__ import annotations

from tilewright.api.kernel import Kernel
from tilewright_siracusa.neureka import kernels

KERNELS: tuple[Kernel, ...] = kernels.KERNELS
