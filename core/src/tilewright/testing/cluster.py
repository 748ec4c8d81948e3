"""Knows a made-up cluster with a small scratchpad, for tests of tiling: eight cores, one copy engine; and how to
compile for a platform that no installed package offers. Does not know any real machine.
"""

from __future__ import annotations

from dataclasses import replace

from tilewright.config.options import Options
from tilewright.ir.machines.kernel import Kernel
from tilewright.ir.machines.platform import CopyPath, Engine, Memory, Platform
from tilewright.ir.rounding import ceil_div
from tilewright.plugins import Registry, discover, load_named
from tilewright.plugins.registry import as_stored

SCRATCHPAD_BYTES = 64 << 10
RUNTIME_BYTES = 256  # what the made-up runtime takes of the scratchpad
CORES = 8
CALL_CYCLES = 300
MAX_COPY_BYTES = (1 << 17) - 1  # of one transfer
START = "${channel} = tw_rt_copy(${dst}, ${src}, ${bytes}, ${rows}, ${dst_stride}, ${src_stride});"
WAIT = "tw_rt_wait(${channel});"


def copy_cycles(size_bytes: int, rows: int) -> float:
    """A start-up time, eight bytes a cycle, and a little for every further row of a strided transfer."""
    return 45.0 + ceil_div(size_bytes, 8) + (8.0 * rows if rows > 1 else 0.0)


def copy_path(source: str, target: str) -> CopyPath:
    """Rows with a stride, sixteen transfers in flight, through `tw_rt`."""
    return CopyPath(
        source=source,
        target=target,
        start=START,
        wait=WAIT,
        max_bytes=MAX_COPY_BYTES,
        dimensions=2,
        channels=16,
        cycles=copy_cycles,
    )


CLUSTER = Platform(
    name="cluster-test",
    summary="made up: eight cores around a scratchpad, for tests",
    memories=(
        Memory(name="l2", size_bytes=None, bytes_per_cycle=8.0, latency_cycles=15.0),
        Memory(name="l1", size_bytes=SCRATCHPAD_BYTES, bytes_per_cycle=32.0),
        Memory(name="flash", size_bytes=None, kind="const", bytes_per_cycle=1.0, latency_cycles=100.0),
    ),
    engines=(Engine(name="cluster", cores=CORES, operations_per_cycle=12.0, call_cycles=CALL_CYCLES),),
    copies=(copy_path("l2", "l1"), copy_path("l1", "l2"), copy_path("flash", "l1")),
    backing="l2",
    inner="l1",
    runtime_bytes={"l1": RUNTIME_BYTES},
    runners=("twin",),
)


def offering(registry: Registry, *kernels: Kernel) -> Registry:
    """The same with kernels more, those of values in forms of their own as a package's are, with their operators."""
    offered = dict(registry.kernels)
    operators = dict(registry.operators)
    for kernel in kernels:
        offered[kernel.name] = kernel
        if kernel.stores:
            offered[kernel.name], operator = as_stored(kernel, operators[kernel.op])
            operators.setdefault(operator.name, operator)
    return replace(registry, kernels=offered, operators=operators)


def cluster(scratchpad_bytes: int = SCRATCHPAD_BYTES) -> Platform:
    """The same cluster with a scratchpad of another size."""
    memories = tuple(
        replace(memory, size_bytes=scratchpad_bytes) if memory.name == CLUSTER.inner else memory
        for memory in CLUSTER.memories
    )
    return replace(CLUSTER, memories=memories)


def registry_for(platform: Platform, *, allocator: str = "auto", tiler: str = "auto") -> Registry:
    """What a compilation for `platform` may use: it, the packs for every target, the allocator and tiler named, and the
    exporters that nobody has to name.

    TilewrightError (exit 8) as of a compilation, where one of them is broken or not installed.
    """
    catalogue = discover()
    packs = [(offer.kind, offer.name) for _, offer in catalogue.packs("")]
    exporters = [("exporter", name) for name in Options().emit]
    registry = load_named(("allocator", allocator), ("tiler", tiler), *exporters, *packs, catalogue=catalogue)
    return replace(registry, platforms={platform.name: platform})
