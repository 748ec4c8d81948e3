"""Knows which kernels the cluster has beside portable C. Does not know what is in them."""

from __future__ import annotations

from tilewright.api import Kernel
from tilewright_siracusa.kernels import add, depthwise, matmul, pools, products, vector

KERNELS: tuple[Kernel, ...] = (
    *products.KERNELS,
    *vector.KERNELS,
    *depthwise.KERNELS,
    *matmul.KERNELS,
    *add.KERNELS,
    *pools.KERNELS,
)
