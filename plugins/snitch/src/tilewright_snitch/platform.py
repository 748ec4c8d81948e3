"""Knows the target `snitch`: memories, the cluster, the copy paths between them, and the settings.
Does not know kernels, nor how anything is executed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from tilewright.api.graph import Site
from tilewright.api.kernel import TileShape
from tilewright.api.platform import CopyPath, Engine, Memory, Option, Platform
from tilewright_riscv.stacks import Stacks
from tilewright_snitch.code import kept_code_cycles, step_code_cycles
from tilewright_snitch.kernel_stacks import KERNEL_BYTES
from tilewright_snitch.machine import (
    CALL_CYCLES,
    CHANNELS,
    CODE_BYTES,
    CONSTANT_BYTES,
    CORES,
    FAR_CALL_CYCLES,
    FAR_PLAIN_SLOWDOWN,
    FAR_READ_CYCLES,
    FAR_SLOWDOWN,
    KEPT_STEPS,
    L3_BASE,
    L3_BYTES,
    MAX_COPY_BYTES,
    PLAIN_MACS_PER_CYCLE,
    SMALL_TCDM_BYTES,
    STACK_BYTES,
    TCDM_BASE,
    TCDM_BYTES,
    fetch_cycles,
    store_cycles,
)
from tilewright_snitch.parts import part_cycles
from tilewright_snitch.portable import portable_cycles

FLAGS = ("-march=rv32imafd", "-mabi=ilp32d", "-mno-relax")
ENGINE = "cluster"
STACKS = Stacks(
    outer="l3",
    each_bytes=STACK_BYTES,
    small_bytes=SMALL_TCDM_BYTES,
    call_cycles=CALL_CYCLES,
    outer_call_cycles=FAR_CALL_CYCLES,
    outer_slowdown=FAR_SLOWDOWN,
    outer_read_cycles=FAR_READ_CYCLES,
    kernel_bytes=KERNEL_BYTES,
)


def _path(source: str, target: str, cycles: Callable[[int, int], float]) -> CopyPath:
    return CopyPath(
        source=source,
        target=target,
        max_bytes=MAX_COPY_BYTES,
        dimensions=2,
        channels=CHANNELS,
        cycles=cycles,
    )


def _memories() -> tuple[Memory, ...]:
    """Values and constants share the main memory with the code."""
    room = L3_BYTES - CODE_BYTES
    l3 = Memory(
        name="l3",
        size_bytes=room - CONSTANT_BYTES,
        machine_bytes=room,
        base=L3_BASE,
        bytes_per_cycle=4.0,
        latency_cycles=100.0,
    )
    tcdm = Memory(name="tcdm", size_bytes=TCDM_BYTES, machine_bytes=TCDM_BYTES, base=TCDM_BASE, bytes_per_cycle=64.0)
    weights = replace(l3, name="weights", kind="const", size_bytes=CONSTANT_BYTES, base=None)
    return (l3, tcdm, weights)


def _prelude(isa: str) -> str:
    return (
        "#ifndef TW_SNITCH /* whether kernels may use streams and what goes with them; -DTW_SNITCH=0 elsewhere */\n"
        f"#  define TW_SNITCH {int(isa == 'streams')}\n"
        "#endif\n"
    )


def _settled(platform: Platform) -> Platform:
    """With what stacks take, of portable kernels too."""
    settled = STACKS.settled(platform)
    if STACKS.memory(platform) == platform.inner:
        engines = tuple(replace(engine, portable_cycles=part_cycles) for engine in settled.engines)
        return replace(settled, engines=engines, portable_cycles=portable_cycles)
    engines = tuple(replace(engine, portable_cycles=_far_part_cycles) for engine in settled.engines)
    return replace(settled, engines=engines, portable_cycles=_far_portable_cycles)


def _far_portable_cycles(site: Site) -> float | None:
    """`portable_cycles` with stacks in the main memory, before what that is for every kernel."""
    result = portable_cycles(site)
    return None if result is None else result * FAR_PLAIN_SLOWDOWN / FAR_SLOWDOWN


def _far_part_cycles(op: str, tile: TileShape) -> float | None:
    """`part_cycles`, the same."""
    result = part_cycles(op, tile)
    return None if result is None else result * FAR_PLAIN_SLOWDOWN / FAR_SLOWDOWN


def _configured(platform: Platform, settings: Mapping[str, str]) -> Platform:
    cores = int(settings["cores"])
    STACKS.demand(platform)
    engine = Engine(
        name=ENGINE,
        cores=cores,
        operations_per_cycle=PLAIN_MACS_PER_CYCLE * cores,
        code_cycles=step_code_cycles,
        kept_code_cycles=kept_code_cycles,
        kept_steps=KEPT_STEPS,
        portable_cycles=part_cycles,
        code_waits=2,
        dma_core=True,
    )
    return _settled(replace(platform, engines=(engine,), prelude=_prelude(settings["isa"])))


_OPTIONS = (
    Option(name="cores", help="cores of the cluster that compute", default=str(CORES), choices=("1", "2", "4", "8")),
    Option(
        name="isa",
        help="streams: kernels use stream registers, hardware repetition and packed floats",
        default="streams",
        choices=("streams", "portable"),
    ),
    *STACKS.options("tcdm"),
)

SNITCH = _configured(
    Platform(
        name="snitch",
        summary="eight RISC-V cores with stream registers around 128 KiB of TCDM, one more that moves data",
        memories=_memories(),
        copies=(
            _path("l3", "tcdm", fetch_cycles),
            _path("tcdm", "l3", store_cycles),
            _path("weights", "tcdm", fetch_cycles),
        ),
        backing="l3",
        inner="tcdm",
        buffer_align=8,
        runners=("twin", "qemu-riscv32", "gvsoc"),
        compile_flags=FLAGS,
        portable_cycles=portable_cycles,
        options=_OPTIONS,
        configure_with=_configured,
        settle=_settled,
        rivals=STACKS.rivals,
        settle_kernels=STACKS.for_kernels,
    ),
    {option.name: option.default for option in _OPTIONS},
)
