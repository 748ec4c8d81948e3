"""Knows Snitch as a bare machine: its part of the runtime, what its linker script and compilers are told of it.
Does not know what programs compute.
"""

from __future__ import annotations

from tilewright_riscv.machine import BareMachine
from tilewright_snitch.machine import L3_BASE, L3_BYTES, TCDM_BASE
from tilewright_snitch.platform import STACKS

# Eight cores share an instruction cache of 8 KiB: loops stand once, and the linker script orders functions.
SMALL = (
    "-ffunction-sections",
    "-fno-unswitch-loops",
    "-fno-version-loops-for-strides",
    "-fno-peel-loops",
    "-fno-split-loops",
)

MACHINE = BareMachine(
    target="snitch",
    package="tilewright_snitch",
    sources=("start.S", "team.c", "copy.c"),
    headers=("machine.h",),
    gcc_isa="-march=rv32imafd",
    zig_isa="-mcpu=generic_rv32+m+a+f+d+zicsr",
    abi="ilp32d",
    instructions="TW_SNITCH",
    stacks=STACKS,
    scratchpad="tcdm",
    addresses={"tcdm_base": TCDM_BASE, "l3_base": L3_BASE, "l3_bytes": L3_BYTES},
    gcc_flags=SMALL,
    clock="mcycle of core 0 on GVSoC's model of Snitch",
)
