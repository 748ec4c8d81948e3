"""The Acme Tile: four vector cores around a scratchpad of 32 KiB, and a copy engine that moves lines from and to DRAM.

It has no kernels: the portable C of tilewright computes everything, on tiles that tilewright cuts.
"""

from __future__ import annotations

from collections.abc import Iterable

from tilewright.api import ceil_div, hookimpl
from tilewright.api.platform import CopyPath, Engine, Memory, Platform

LINE_BYTES = 16  # what the copy engine moves at once
COMMAND_CYCLES = 30  # to write a command, and for it to be taken up


def copy_cycles(size_bytes: int, rows: int) -> float:
    """Every row is a command; two cycles a line."""
    return rows * (COMMAND_CYCLES + 2 * ceil_div(size_bytes, rows * LINE_BYTES))


def path(source: str, target: str) -> CopyPath:
    """Commands of at most 4,080 bytes, four of them under way."""
    return CopyPath(source=source, target=target, max_bytes=4080, channels=4, cycles=copy_cycles)


ACME_TILE = Platform(
    name="acme-tile",
    summary="Acme Tile: four vector cores, 32 KiB of scratchpad, 4 MiB of DRAM",
    memories=(
        Memory(name="dram", size_bytes=4 << 20, bytes_per_cycle=2.0, latency_cycles=60.0),
        Memory(name="pad", size_bytes=32 << 10, bytes_per_cycle=16.0),
        Memory(name="rom", size_bytes=2 << 20, kind="const", bytes_per_cycle=2.0, latency_cycles=60.0),
    ),
    engines=(Engine(name="vectors", cores=4, operations_per_cycle=16.0, call_cycles=120.0),),
    copies=(path("dram", "pad"), path("pad", "dram"), path("rom", "pad")),
    backing="dram",
    inner="pad",
    runtime_bytes={"pad": 1024},  # four stacks
    runners=("twin",),
)


@hookimpl
def tilewright_platforms() -> Iterable[Platform]:
    """The only one."""
    return (ACME_TILE,)
