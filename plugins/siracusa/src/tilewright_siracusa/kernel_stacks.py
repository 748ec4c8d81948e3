"""Knows how much stack steps take by the kernel that they run. Does not know what kernels compute.

The figures are the deepest chains of calls of compiled steps (gcc 12, -O3), layer by layer and in groups, and a little
more: of the trained networks at 64 and 16 KiB of L1, those of integer convolutions and pools also of networks with 5x5
and 7x7 windows at 32 and 10 KiB. What exceeds them is noticed when a program is built with gcc
(TW5063), and otherwise when it ends.
"""

from __future__ import annotations

from collections.abc import Mapping

FARTHER_BYTES = 64  # copies to and from the external RAM, beyond the deepest kernel of the trained networks

KERNEL_BYTES: Mapping[str, int] = {
    "portable.average_pool_f32": 384,
    "portable.conv_f32": 464,
    "portable.qsoftmax": 352,
    "portable.reshape": 352,
    "portable.transpose": 448,
    "siracusa.add_f32": 864,
    "siracusa.conv_f32": 704,
    "siracusa.gemm_f32": 448,
    "siracusa.qadd": 448,
    "siracusa.qaverage_pool": 704,
    "siracusa.qconv": 672,
    "siracusa.qconv_qadd": 576,
    "siracusa.qconv_depthwise": 640,
    "siracusa.qconv_depthwise_taps": 752,
    "siracusa.qgemm_row": 464,
    "siracusa.softmax_f32": 400,
}
