"""Knows the numbers of the machine: addresses, sizes, and what a copy takes.
Does not know tilewright: `platform` says it in its words, the linker script and the runtime repeat some of them.

Sources: the address map and the engine's limits are Siracusa's; times were measured on GVSoC, copies with this runtime,
from the call to the end of the wait. A board's RAM may be slower than the simulator's.
"""

from __future__ import annotations

import math

CORES = 8  # that compute; the ninth moves data
L1_BASE, L1_BYTES = 0x1000_0000, 256 << 10
L2_BASE, L2_BYTES = 0x1C01_0000, 0x1F_0000  # the shared part; code and constants are in it too
L3_BASE, L3_BYTES = 0x6000_0000, 8 << 20  # no core can read there: the address only names a byte of the external RAM
MRAM_BASE, MRAM_BYTES = 0x1040_0000, 4 << 20  # the weight memory, in which N-EUREKA counts bytes from its beginning
SRAM_BASE, SRAM_BYTES = 0x1080_0000, 4 << 20  # the rest of it
WEIGHT_WORD_BYTES = 32  # of it, that N-EUREKA reads in a cycle
CODE_BYTES = 128 << 10  # of L2, for code, the runtime and the stack of the core outside the cluster
CONSTANT_BYTES = 960 << 10  # of L2, for constants where they are there: a default, as the other shares of L2 are
STACK_BYTES = 1280  # of each core: generated code was measured to take 390 to 1,110
SMALL_L1_BYTES = 32 << 10  # in an L1 smaller than this, stacks may cost more than they save
ROOMY_L1_BYTES = 128 << 10  # from here on, one more stack does not count
CHANNELS = 16
MAX_COPY_BYTES = (1 << 17) - 1  # the cluster's engine counts 17 bits
MAX_EXTERNAL_BYTES = (1 << 20) - 4  # the peripherals' engine counts 20
PLAIN_MACS_PER_CYCLE = 1.3 / CORES  # of one core, int8, compiled C; measured with eight
STEP_CYCLES = 1500.0  # of a step, once: its instructions come from L2, 16 bytes in 19 cycles
CALL_CYCLES = 300.0  # of a tile: its place, arguments, calls of copies, barriers
COPY_START_CYCLES = 150.0  # of the core that starts a copy; 50, and code that has left the cache
EVERY_TILE = 1 << 30  # tiles begin with code that has left the cache, and that comes after copies
NEUREKA_MACS_PER_CYCLE = 256.0  # 3x3, many channels; its kernels say it better
NEUREKA_STEP_CYCLES = 900.0  # of a step of its jobs: 24 registers written by a core, and what else is done once
WITHOUT_XPULP_SLOWDOWN = 25.0  # of kernels in C that says what Xpulp's instructions do: all of a keyword network
FAR_SLOWDOWN = 2.1  # of kernels whose stacks are in L2: 1.6 to 2.7 over whole networks, by what does not fit registers
FAR_CALL_CYCLES = 800.0  # of a tile, the same: of the autoencoder, which computes little


def cluster_load_cycles(size_bytes: int, rows: int) -> float:
    """From L2 to L1: a start, and eight bytes of a row a cycle, the last of them perhaps fewer.

    Measured on GVSoC, within 8 cycles of this for 14 forms from 64 bytes to 64 KiB in up to 128 rows: 183 for 1 KiB,
    312 for 128 rows of 16 bytes; 128 rows of 100 bytes, half a word more than twelve, take 1,656 instead of 1,719.
    The caller is busy for 50 of them. All copies share eight bytes a cycle, in both directions; what the cores do
    meanwhile does not matter there.
    """
    return 55.0 + (math.ceil(size_bytes / rows / 8) * rows if rows else 0)


def cluster_store_cycles(size_bytes: int, rows: int) -> float:
    """From L1 to L2: the same, and a cycle for each piece of up to 256 bytes of a row.

    Measured as the others, within 8 cycles: 439 for 128 rows of 16 bytes, 1,843 for as many of 100, 8,505 for 64 KiB.
    """
    pieces = math.ceil(size_bytes / rows / 256) * rows if rows else 0
    return cluster_load_cycles(size_bytes, rows) + pieces


def external_load_cycles(size_bytes: int, rows: int) -> float:
    """From the external RAM to L2: see `_external_cycles`."""
    return _external_cycles(size_bytes, rows, 1.0, 10.0)


def external_store_cycles(size_bytes: int, rows: int) -> float:
    """From L2 to the external RAM: see `_external_cycles`."""
    return _external_cycles(size_bytes, rows, 1.8, 6.0)


def _external_cycles(size_bytes: int, rows: int, each: float, row: float) -> float:
    """A start, a little for every row, and so many cycles for each byte; rows of odd bytes take more.

    Measured on GVSoC, in whole words: 1.0 cycles a byte from the RAM, 1.8 to it; 340 for up to 64 bytes, 1,302 and
    2,131 for 1 KiB, 4,768 and 7,971 for 32 rows of 128 bytes, 10 and 6 of them for each row. The caller is busy for
    250, for 365 with rows. Copies wait for each other, not for the cluster's. Rows that are not whole words pass
    through the core: 640 and 920 cycles for a row of 17 bytes, 2,050 and 2,530 for one of 127. That an address is odd
    where the length is not, is not counted.
    """
    if rows > 1 and size_bytes % (4 * rows):
        return rows * 600.0 + 11.5 * size_bytes
    ends = 500.0 if size_bytes % 4 else 0.0
    return 280.0 + ends + (80.0 + row * rows if rows > 1 else 0.0) + each * size_bytes
