"""Knows the numbers of the machine: addresses, sizes, and what a copy takes.
Does not know tilewright: `platform` says it in its words, the linker script and the runtime repeat some of them.

Sources: the address map is that of GVSoC's target `snitch`; of times, copies and one product were measured there, by
hand-made programs.
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
LINE_BYTES, LINE_CYCLES = 32, 104  # of instructions: what a core waits for a line that no core has executed lately
ONCE_CYCLES = LINE_CYCLES + LINE_BYTES / 4  # of a line that is executed once: its eight instructions, too
KEPT_STEPS = 6  # whose code is in the cache when one of them runs the same kernel
CALL_CYCLES = 2000.0  # of a tile: its place, arguments, two barriers, and code that has left the cache
FAR_SLOWDOWN = 1.75  # of kernels whose stacks are in the main memory: what does not fit registers takes 100 cycles
FAR_PLAIN_SLOWDOWN = 4.0  # the same of portable C, whose loops read more of what they are told
FAR_READ_CYCLES = 60.0  # of a word of such a stack, where kernels say how many they read
FAR_CALL_CYCLES = 4000.0  # of a tile, the same
FETCH_CYCLES = 115.0  # of the smallest copy out of the main memory, which answers after 100
STORE_CYCLES = 15.0  # of the smallest copy into it: nobody waits for the memory


def code_cycles(size_bytes: int) -> float:
    """So many bytes of instructions that are executed for the first time, out of the main memory."""
    return size_bytes / LINE_BYTES * LINE_CYCLES


def fetch_cycles(size_bytes: int, rows: int) -> float:
    """From the main memory to TCDM: four bytes a cycle; of each row, the first bursts of 512 bytes come together.

    Within 13 % of GVSoC from 64 bytes to 32 KiB, in one row or up to 64, but for 1 KiB in one row (191 for 118).
    """
    if not rows:
        return 0.0
    together = min(max(ceil_div(size_bytes, 512 * rows) - 1, 0), 5)
    return max(FETCH_CYCLES, size_bytes / 4 - 64 * together + 1)


def store_cycles(size_bytes: int, rows: int) -> float:
    """From TCDM to the main memory: four bytes a cycle there, too, and one for every row.

    The engine is done earlier, after 256 bytes a cycle; whatever reads next waits: a copy, or instructions.
    """
    return STORE_CYCLES + rows + size_bytes / 4 if rows else 0.0
