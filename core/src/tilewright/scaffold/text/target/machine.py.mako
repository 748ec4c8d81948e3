"""What the machine is: its memories, ${"how bytes move between them, " if dma else ""}and what computes."""

% if dma:
from tilewright.api import ceil_div
from tilewright.api.platform import CopyPath, Engine, Memory, Platform


def copy_cycles(size_bytes, rows):
    """Thirty cycles for each row to begin, then eight bytes a cycle."""
    return rows * (30 + ceil_div(size_bytes, rows * 8))


def path(source, target):
    """What one transfer may be: rows with a stride, at most 64 KiB, four of them under way."""
    return CopyPath(
        source=source,
        target=target,
        max_bytes=1 << 16,
        dimensions=2,
        channels=4,
        cycles=copy_cycles,
    )


MACHINE = Platform(
    name="${name}",
    summary="${summary}",
    memories=(
        Memory(name="dram", size_bytes=4 << 20, bytes_per_cycle=2.0, latency_cycles=60.0),
        Memory(name="tcm", size_bytes=64 << 10, bytes_per_cycle=16.0),
        Memory(name="flash", size_bytes=4 << 20, kind="const", bytes_per_cycle=2.0, latency_cycles=60.0),
    ),
% else:
from tilewright.api.platform import Engine, Memory, Platform

MACHINE = Platform(
    name="${name}",
    summary="${summary}",
    memories=(
        Memory(name="ram", size_bytes=256 << 10, align=8),
        Memory(name="flash", size_bytes=4 << 20, kind="const"),
    ),
% endif
    engines=(
        Engine(name="core", operations_per_cycle=0.5, call_cycles=40.0),  # the first is what portable C runs on
% if engine:
        Engine(name="matrix", operations_per_cycle=64.0, call_cycles=80.0),
% endif
    ),
% if dma:
    copies=(path("dram", "tcm"), path("tcm", "dram"), path("flash", "tcm")),
    backing="dram",  # where values live
    inner="tcm",  # where kernels compute
    runtime_bytes={"tcm": 1024},  # the stack
% endif
    runners=(${runners}),  # the first is what `tilewright validate` takes
)
