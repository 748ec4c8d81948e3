"""Knows what the core says of itself so that it gets kernels for functions of floats, softmax and normalisation.
Does not know how these are computed (`tilewright_riscv.floats`).
"""

from __future__ import annotations

from tilewright_riscv.floats.functions import UNARY
from tilewright_riscv.floats.machines import Machine
from tilewright_riscv.floats.norm import norm_kernel
from tilewright_riscv.floats.quotients import multiplied
from tilewright_riscv.floats.softmax import softmax_kernel
from tilewright_riscv.floats.unary import gelu_kernel, unary_kernel
from tilewright_siracusa.kernels.float_function_costs import LOGARITHM, ROW, run_cycles
from tilewright_siracusa.kernels.sources import DIALECT

MACHINE = Machine(
    target="siracusa",
    dialect=DIALECT,
    run_cycles=run_cycles,
    row_cycles=ROW,
    logarithm_cycles=LOGARITHM,
    functions={op: multiplied(program) for op, program in UNARY.items()},  # there is one divider for all cores
)

KERNELS = (
    softmax_kernel(MACHINE, "Softmax"),
    softmax_kernel(MACHINE, "LogSoftmax"),
    norm_kernel(MACHINE, "LayerNormalization"),
    norm_kernel(MACHINE, "RMSNormalization"),
    *(unary_kernel(MACHINE, op) for op in UNARY),
    gelu_kernel(MACHINE),
)
