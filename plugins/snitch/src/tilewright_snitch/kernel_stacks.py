"""Knows how much stack steps take by the kernel that they run. Does not know what kernels compute.

The figures are the deepest chains of calls of compiled steps (gcc 12, -O3) in the trained networks, at 16 and 64
KiB of TCDM, and a little more. What exceeds them is noticed when a program is built with gcc (TW5063), and
otherwise when it ends.
"""

from __future__ import annotations

from collections.abc import Mapping

KERNEL_BYTES: Mapping[str, int] = {
    "portable.qadd": 384,
    "portable.qconv": 352,
    "portable.qaverage_pool": 352,
    "portable.qgemm": 352,
    "portable.qsoftmax": 352,
    "portable.reshape": 352,
    "portable.transpose": 448,
    "snitch.add": 384,
    "snitch.average_pool": 512,
    "snitch.conv": 720,
    "snitch.conv_columns": 656,
    "snitch.gemm": 432,
    "snitch.qconv": 784,
    "snitch.qconv_depthwise": 640,
    "snitch.qconv_floats": 608,
    "snitch.qgemm_floats": 464,
    "snitch.softmax_f32": 400,
}
