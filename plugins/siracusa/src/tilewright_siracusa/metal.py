"""Knows Siracusa as a bare machine: its part of the runtime, what its linker script and compilers are told of it.
Does not know what programs compute.
"""

from __future__ import annotations

from tilewright_riscv.machine import BareMachine
from tilewright_siracusa.machine import (
    L1_BASE,
    L2_BASE,
    L2_BYTES,
    L3_BASE,
    L3_BYTES,
    MRAM_BASE,
    MRAM_BYTES,
    SRAM_BASE,
    SRAM_BYTES,
)
from tilewright_siracusa.platform import STACKS

CONTROLLER_STACK_BYTES = 4096  # in L2, of the core outside the cluster

MACHINE = BareMachine(
    target="siracusa",
    package="tilewright_siracusa",
    sources=("start.S", "boot.c", "team.c", "copy.c", "external.c"),
    headers=("machine.h", "external.h"),
    gcc_isa="-march=rv32imfc",
    zig_isa="-mcpu=generic_rv32+m+f+c+zicsr",
    abi="ilp32f",
    instructions="TW_XPULP",
    stacks=STACKS,
    scratchpad="l1",
    addresses={
        "l1_base": L1_BASE,
        "l2_base": L2_BASE,
        "l2_bytes": L2_BYTES,
        "l3_base": L3_BASE,
        "l3_bytes": L3_BYTES,
        "mram_base": MRAM_BASE,
        "mram_bytes": MRAM_BYTES,
        "sram_base": SRAM_BASE,
        "sram_bytes": SRAM_BYTES,
        "controller_bytes": CONTROLLER_STACK_BYTES,
    },
    clock="the cluster's timer on GVSoC's model of Siracusa",
)
