"""Knows other memories around a cluster of Snitch cores. Does not know the cluster.

Occamy (Paulin et al., 2024) has 24 such clusters in front of 16 GiB of HBM2E; each copies 64 bytes a cycle. That, and
the latency of GVSoC's memory, is all that estimates know of it: nothing was measured there.
"""

from __future__ import annotations

from dataclasses import replace

from tilewright.api.platform import MemoryHierarchy
from tilewright_snitch.machine import FETCH_CYCLES
from tilewright_snitch.platform import SNITCH

HBM_BYTES = 1 << 30  # of values, and as much of constants
BYTES_PER_CYCLE = 64.0


def wide_cycles(size_bytes: int, rows: int) -> float:
    """Of a copy, either way: the memory answers once, and every row begins in a cycle of its own."""
    return FETCH_CYCLES + rows + size_bytes / BYTES_PER_CYCLE if rows else 0.0


OCCAMY = MemoryHierarchy(
    name="occamy",
    summary="one cluster of Occamy: 1 GiB of HBM for values, copies of 64 bytes a cycle; estimates only",
    platform=SNITCH.name,
    memories=(
        replace(SNITCH.memory("l3"), size_bytes=HBM_BYTES, machine_bytes=None, bytes_per_cycle=BYTES_PER_CYCLE),
        SNITCH.memory("tcdm"),
        replace(SNITCH.memory("weights"), size_bytes=HBM_BYTES, machine_bytes=None, bytes_per_cycle=BYTES_PER_CYCLE),
    ),
    copies=tuple(replace(path, cycles=wide_cycles) for path in SNITCH.copies),
)
