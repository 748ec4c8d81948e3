"""The Acme Lines: four cores around a scratchpad of 32 KiB. Its copy engine knows nothing but whole lines of 64 bytes.

A command moves lines of up to three dimensions: planes of rows of lines. What is no whole line moves with padding, and
tilewright cuts tiles so that every one of them begins with a line.
"""

from __future__ import annotations

from collections.abc import Iterable

from tilewright.api import ceil_div, hookimpl
from tilewright.api.platform import CopyPath, Engine, Memory, Platform

LINE_BYTES = 64
COMMAND_CYCLES = 40  # to write a command, and for it to be taken up


def copy_cycles(size_bytes: int, rows: int) -> float:
    """A command for all of it; two cycles more for each row, and four for a line."""
    return COMMAND_CYCLES + 2 * rows + 4 * ceil_div(size_bytes, LINE_BYTES)


def path(source: str, target: str) -> CopyPath:
    """Four commands under way, two of which move lines at the same time."""
    return CopyPath(
        source=source, target=target, align=LINE_BYTES, dimensions=3, channels=4, queues=2, cycles=copy_cycles
    )


ACME_LINES = Platform(
    name="acme-lines",
    summary="Acme Lines: four cores, 32 KiB of scratchpad, a copy engine that moves lines of 64 bytes",
    memories=(
        Memory(name="dram", size_bytes=4 << 20, align=LINE_BYTES, bytes_per_cycle=2.0, latency_cycles=60.0),
        Memory(name="pad", size_bytes=32 << 10, align=LINE_BYTES, bytes_per_cycle=16.0),
        Memory(name="rom", size_bytes=2 << 20, kind="const", align=LINE_BYTES, bytes_per_cycle=2.0),
    ),
    engines=(Engine(name="cores", cores=4, operations_per_cycle=8.0, call_cycles=120.0),),
    copies=(path("dram", "pad"), path("pad", "dram"), path("rom", "pad")),
    backing="dram",
    inner="pad",
    runtime_bytes={"pad": 1024},  # four stacks
    runners=("twin",),
)


@hookimpl
def tilewright_platforms() -> Iterable[Platform]:
    """The only one."""
    return (ACME_LINES,)
