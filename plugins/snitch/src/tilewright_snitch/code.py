"""Knows which code a step executes for the first time, and so waits for: of its kernel, and of what copies its tiles.
Does not know kernels of this package, which say it themselves.

The figures are lines of 32 bytes that cores execute in generated steps (gcc 12, -O3), as simulated cores fetch them.
What a call counts, `machine.CALL_CYCLES`, has 19 of them: a step's begin, and transfers of three operands.
"""

from __future__ import annotations

from collections.abc import Mapping

from tilewright.api.kernel import Kernel
from tilewright_snitch.machine import ONCE_CYCLES

_TILED, _TILED_OPERAND = 3, 6  # more in several tiles: of a step beside the 19 that its second call counts, of operands
_FEW = 8  # of a kernel with one loop for each axis
_KEPT = 0.8  # of a kernel's code that a step finds in the cache of 8 KiB when one of the last few ran the kernel
_PORTABLE: Mapping[str, int] = {  # operators whose portable kernel has more
    "ArgMax": 13, "ArgMin": 13, "Concat": 23, "Conv": 38, "ConvInteger": 58, "ConvTranspose": 28, "CumProd": 13,
    "CumSum": 13, "Gemm": 40, "MatMul": 45, "MatMulInteger": 18, "MaxPool": 14, "MaxPoolIndices": 26, "Pad": 18,
    "QAveragePool": 30, "QConv": 75, "QGemm": 14, "QMatMul": 32, "QReduceMean": 6, "QSoftmax": 22, "ReduceMax": 14,
    "ReduceMean": 17, "ReduceMin": 20, "ReduceProd": 15, "ReduceSum": 14, "Resample": 28, "ResizeLinear": 29,
    "RoiAlign": 94, "Slice": 13, "TopK": 28, "Where": 14,
}  # fmt: skip


def step_code_cycles(kernel: Kernel, operands: int, tiles: int) -> float:
    """Of a step that copies so many operands in so many tiles."""
    lines = _kernel_lines(kernel)
    if tiles > 1:
        lines += _TILED + _TILED_OPERAND * operands
    return lines * ONCE_CYCLES


def kept_code_cycles(kernel: Kernel) -> float:
    """What a step takes less of these, and of what its kernel says, when a step shortly before ran the kernel.

    Fitted to fifteen random networks on GVSoC, seeds 0 to 14 (of fuzzing/networks.py), as what a call takes was.
    """
    return _KEPT * (kernel.step_cycles + _kernel_lines(kernel) * ONCE_CYCLES)


def _kernel_lines(kernel: Kernel) -> int:
    return _PORTABLE.get(kernel.computes, _FEW) if kernel.target == "*" else 0
