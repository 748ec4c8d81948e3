"""Knows which kernels the cluster has beside portable C. Does not know what is in them."""

from __future__ import annotations

from tilewright.api.kernel import Kernel
from tilewright_siracusa.kernels import (
    add,
    conv_sum,
    depthwise,
    float_conv,
    float_depthwise,
    float_elements,
    float_functions,
    float_matmul,
    lookup,
    matmul,
    pools,
    products,
    vector,
)
from tilewright_siracusa.kernels.waits import waiting

_ALONE: tuple[Kernel, ...] = (
    *products.KERNELS,
    *vector.KERNELS,
    *depthwise.KERNELS,
    *matmul.KERNELS,
    *add.KERNELS,
    *conv_sum.KERNELS,
    *lookup.KERNELS,
    *pools.KERNELS,
    *float_conv.KERNELS,
    *float_depthwise.KERNELS,
    *float_elements.KERNELS,
    *float_matmul.KERNELS,
    *float_functions.KERNELS,
)
KERNELS: tuple[Kernel, ...] = tuple(waiting(kernel) for kernel in _ALONE)
