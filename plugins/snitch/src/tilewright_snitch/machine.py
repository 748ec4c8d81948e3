"""Knows the numbers of the machine: addresses, sizes, and what a copy takes.
Does not know tilewright: `platform` says it in its words, the linker script and the runtime repeat some of them.

Sources: the address map is that of GVSoC's target `snitch`; of times, one copy and one product were measured there, by
hand-made programs. What follows from them by the structure of the machine is said where it is used.
"""

from __future__ import annotations

from tilewright.api import ceil_div

CORES = 8  # that compute; a ninth moves data
TCDM_BASE, TCDM_BYTES = 0x1000_0000, 128 << 10
L3_BASE, L3_BYTES = 0x8000_0000, 64 << 20  # of the main memory, what programs use
CODE_BYTES = 4 << 20  # of it, for code and the runtime
CONSTANT_BYTES = 28 << 20
STACK_BYTES = 1280  # of each core
SMALL_TCDM_BYTES = 32 << 10  # a TCDM smaller than this has no room for stacks
MAX_COPY_BYTES = (1 << 24) - 1
CHANNELS = 8  # transfers in flight: the engine queues them, and does one after the other
PLAIN_MACS_PER_CYCLE = 0.87 / CORES  # of one core, compiled C: a product of 48 x 48 x 48 doubles took 127,576 cycles
STEP_CYCLES = 500.0  # of a step, once: its instructions come from main memory; not measured
CALL_CYCLES = 450.0  # of a tile: its place, arguments, two barriers; as the simulated cluster of tests/iss takes
BURST_BYTES, BURST_CYCLES = 512, 120.0  # of a row; main memory answers after 100


def copy_cycles(size_bytes: int, rows: int) -> float:
    """Between the main memory and TCDM: every row in bursts, one after the other.

    Measured on GVSoC: 36 KiB in two transfers take 8,700 cycles; this says 8,640. The division into bursts is inferred.
    """
    row = ceil_div(size_bytes, rows) if rows else 0
    return BURST_CYCLES * rows * ceil_div(row, BURST_BYTES)
