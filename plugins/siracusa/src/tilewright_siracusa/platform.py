"""Knows the machine: memories, the cluster, and the copy paths between them, with their costs.
Does not know kernels, nor how anything is executed.
"""

from __future__ import annotations

import math

from tilewright.api import CopyPath, Engine, Memory, Platform

CORES = 8
STACK_BYTES = 512  # of each core in L1
RUNTIME_BYTES = (CORES + 1) * STACK_BYTES + 64
MAX_COPY_BYTES = (1 << 17) - 1  # the length of a transfer has 17 bits
CHANNELS = 16
START = "${channel} = tw_rt_copy(${dst}, ${src}, ${bytes}, ${rows}, ${dst_stride}, ${src_stride});"
WAIT = "tw_rt_wait(${channel});"


def copy_cycles(size_bytes: int, rows: int) -> float:
    """The cluster's copy engine: a start-up time, eight bytes a cycle, and a little for every further row."""
    return 45.0 + math.ceil(size_bytes / 8) + (8.0 * rows if rows > 1 else 0.0)


def _path(source: str, target: str) -> CopyPath:
    return CopyPath(
        source=source,
        target=target,
        start=START,
        wait=WAIT,
        max_bytes=MAX_COPY_BYTES,
        dimensions=2,
        channels=CHANNELS,
        cycles=copy_cycles,
    )


SIRACUSA = Platform(
    name="siracusa",
    summary="eight RISC-V cores with Xpulp around 256 KiB of L1, 2 MiB of L2",
    memories=(
        Memory(name="l2", size_bytes=0x1F0000, base=0x1C010000, bytes_per_cycle=8.0, latency_cycles=15.0),
        Memory(name="l1", size_bytes=256 << 10, base=0x10000000, bytes_per_cycle=32.0),
        Memory(name="weights", size_bytes=None, kind="const", bytes_per_cycle=8.0, latency_cycles=15.0),
    ),
    engines=(Engine(name="cluster", cores=CORES, operations_per_cycle=12.0, call_cycles=300.0),),
    copies=(_path("l2", "l1"), _path("l1", "l2"), _path("weights", "l1")),
    home="l2",
    near="l1",
    runtime_bytes={"l1": RUNTIME_BYTES},
    runners=("twin",),
)
