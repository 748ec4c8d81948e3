"""Knows the numbers of the machine: addresses, sizes, and what a copy takes.
Does not know tilewright: `platform` says it in its words, the linker script and the runtime repeat some of them.

Sources: the address map and the engine's limits are Siracusa's; times of the cluster's copies and of plain C were
measured on GVSoC. Times of the external RAM are assumptions, and so is what a further row of a copy takes.
"""

from __future__ import annotations

import math

CORES = 8  # the ninth, the cluster's controller, is never started
L1_BASE, L1_BYTES = 0x1000_0000, 256 << 10
L2_BASE, L2_BYTES = 0x1C01_0000, 0x1F_0000  # the shared part; code and constants are in it too
L3_BASE, L3_BYTES = 0x6000_0000, 8 << 20  # no core can read there: the address only names a byte of the external RAM
CODE_BYTES = 128 << 10  # of L2, for code, the runtime and the stack of the core outside the cluster
CONSTANT_BYTES = 960 << 10  # of L2, for constants where they are there: a default, as the other shares of L2 are
STACK_BYTES = 1280  # of each core: generated code was measured to take 390 to 1,110
SMALL_L1_BYTES = 32 << 10  # an L1 smaller than this has no room for stacks
CHANNELS = 16
MAX_COPY_BYTES = (1 << 17) - 1  # the cluster's engine counts 17 bits
MAX_EXTERNAL_BYTES = (1 << 20) - 4  # the peripherals' engine counts 20
PLAIN_MACS_PER_CYCLE = 1.3 / CORES  # of one core, int8, compiled C; measured with eight


def cluster_copy_cycles(size_bytes: int, rows: int) -> float:
    """Between L2 and L1: a start, eight bytes a cycle, and a little for every further row."""
    return 45.0 + math.ceil(size_bytes / 8) + (8.0 * rows if rows > 1 else 0.0)


def external_copy_cycles(size_bytes: int, rows: int) -> float:
    """Between the external RAM and L2: every row is a transaction of its own, one byte a cycle."""
    return 60.0 + 40.0 * rows + size_bytes
