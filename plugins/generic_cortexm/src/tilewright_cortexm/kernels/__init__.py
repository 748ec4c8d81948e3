"""Knows which kernels Cortex-M cores have beside portable C. Does not know what is in them."""

from __future__ import annotations

from tilewright.api.kernel import Kernel
from tilewright_cortexm.kernels import (
    dsp_depthwise,
    dsp_elementwise,
    dsp_groups,
    dsp_matmul,
    dsp_pools,
    dsp_products,
    dsp_taps,
    dsp_winograd,
    dsp_words,
    dsp_words_depthwise,
    float_depthwise,
    float_products,
    lookup,
    mve_depthwise,
    mve_elementwise,
    mve_matmul,
    mve_pools,
    mve_products,
    mve_tables,
    mve_words,
    mve_words_depthwise,
    quantize,
)

KERNELS: tuple[Kernel, ...] = (
    *dsp_products.KERNELS,
    *dsp_matmul.KERNELS,
    *dsp_depthwise.KERNELS,
    *dsp_taps.KERNELS,
    *dsp_groups.KERNELS,
    *dsp_words.KERNELS,
    *dsp_words_depthwise.KERNELS,
    *dsp_winograd.KERNELS,
    *float_products.KERNELS,
    *float_depthwise.KERNELS,
    *dsp_elementwise.KERNELS,
    *dsp_pools.KERNELS,
    *mve_products.KERNELS,
    *mve_words.KERNELS,
    *mve_matmul.KERNELS,
    *mve_depthwise.KERNELS,
    *mve_words_depthwise.KERNELS,
    *mve_elementwise.KERNELS,
    *mve_pools.KERNELS,
    *lookup.KERNELS,
    *quantize.KERNELS,
    *mve_tables.KERNELS,
)
