"""Knows what a core says of itself so that it gets kernels for functions of floats, softmax and normalisation.
Does not know how these are computed (`tilewright_riscv.floats`), nor how streams do a part of them (`packed`).
"""

from __future__ import annotations

from tilewright.api.kernel import Kernel
from tilewright_riscv.floats.functions import UNARY
from tilewright_riscv.floats.lanes import Dialect
from tilewright_riscv.floats.machines import Machine
from tilewright_riscv.floats.norm import norm_kernel
from tilewright_riscv.floats.softmax import softmax_kernel
from tilewright_riscv.floats.unary import gelu_kernel, unary_kernel
from tilewright_snitch.kernels.function_costs import (
    LOGARITHM_CYCLES,
    ROW_CYCLES,
    code_bytes,
    run_cycles,
)
from tilewright_snitch.kernels.layers import NEAR
from tilewright_snitch.kernels.packed import streamed
from tilewright_snitch.kernels.sources import c_fragment
from tilewright_snitch.machine import code_cycles

DIALECT = Dialect(
    prefix="tw_sn",
    owner="tilewright_snitch",
    fpu=c_fragment("float_fpu.h"),
    constant="tw_sn_f32_fixed({0})",
    streamed=streamed,
)
MACHINE = Machine(
    target="snitch",
    dialect=DIALECT,
    run_cycles=run_cycles,
    row_cycles=ROW_CYCLES,
    logarithm_cycles=LOGARITHM_CYCLES,
    two_inputs=True,
    inner=NEAR,
    step_cycles=lambda programs: code_cycles(code_bytes(programs)),
)


def function_kernels(machine: Machine) -> tuple[Kernel, ...]:
    """All of them, as `machine` computes runs."""
    return (
        softmax_kernel(machine, "Softmax"),
        softmax_kernel(machine, "LogSoftmax"),
        norm_kernel(machine, "LayerNormalization"),
        norm_kernel(machine, "RMSNormalization"),
        *(unary_kernel(machine, op) for op in UNARY if op != "Clip"),  # which streams do alone
        gelu_kernel(machine),
    )


KERNELS = function_kernels(MACHINE)
