"""Knows which kernels the cluster has beside portable C. Does not know what is in them."""

from __future__ import annotations

from tilewright.api.kernel import Kernel
from tilewright_snitch.kernels import (
    byte_products,
    byte_windows,
    column_reductions,
    columns,
    conv,
    elements,
    functions,
    grouped,
    halves,
    integer_products,
    lanes,
    products,
    reductions,
    taps,
    wide,
)

KERNELS: tuple[Kernel, ...] = (
    *products.KERNELS,
    *halves.KERNELS,
    *lanes.KERNELS,
    *conv.KERNELS,
    *columns.KERNELS,
    *grouped.KERNELS,
    *taps.KERNELS,
    *wide.KERNELS,
    *elements.KERNELS,
    *functions.KERNELS,
    *integer_products.KERNELS,
    *byte_windows.KERNELS,
    *byte_products.KERNELS,
    *reductions.KERNELS,
    *column_reductions.KERNELS,
)
