"""Knows how much stack steps take by the kernel that they run. Does not know what kernels compute.

The figures are the deepest chains of calls of compiled steps (gcc 12, -O3) in the trained networks, layer by layer and
in groups, at 64 and 16 KiB of L1, and a little more. What exceeds them is noticed when a program is built with gcc
(TW5063), and otherwise when it ends.
"""

from __future__ import annotations

from collections.abc import Mapping

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
    "siracusa.qaverage_pool": 640,
    "siracusa.qconv": 768,
    "siracusa.qconv_qadd": 768,
    "siracusa.qconv_depthwise": 768,
    "siracusa.qconv_depthwise_taps": 1056,
    "siracusa.qgemm_row": 464,
    "siracusa.softmax_f32": 400,
}
