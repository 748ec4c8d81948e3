"""Knows the target `siracusa`: memories, the cluster, the copy paths between them, and the settings.
Does not know kernels, nor how anything is executed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Literal

from tilewright.api import usage_error
from tilewright.api.graph import Site
from tilewright.api.platform import CopyPath, Engine, Memory, Option, Platform
from tilewright_riscv.stacks import Stacks
from tilewright_siracusa.kernel_stacks import FARTHER_BYTES, KERNEL_BYTES
from tilewright_siracusa.machine import (
    CALL_CYCLES,
    CHANNELS,
    CODE_BYTES,
    CONSTANT_BYTES,
    COPY_START_CYCLES,
    CORES,
    EVERY_TILE,
    FAR_CALL_CYCLES,
    FAR_SLOWDOWN,
    L1_BASE,
    L1_BYTES,
    L2_BASE,
    L2_BYTES,
    L3_BASE,
    L3_BYTES,
    MAX_COPY_BYTES,
    MAX_EXTERNAL_BYTES,
    MRAM_BASE,
    MRAM_BYTES,
    NEUREKA_MACS_PER_CYCLE,
    NEUREKA_STEP_CYCLES,
    PLAIN_MACS_PER_CYCLE,
    ROOMY_L1_BYTES,
    SMALL_L1_BYTES,
    SRAM_BASE,
    SRAM_BYTES,
    STACK_BYTES,
    STEP_CYCLES,
    WEIGHT_WORD_BYTES,
    WITHOUT_XPULP_SLOWDOWN,
    cluster_load_cycles,
    cluster_store_cycles,
    external_load_cycles,
    external_store_cycles,
)
from tilewright_siracusa.portable import portable_cycles

FLAGS = ("-march=rv32imfc", "-mabi=ilp32f", "-mno-relax")
ENGINE, NEUREKA = "cluster", "neureka"
WEIGHT_MEMORIES = ("mram", "sram")  # of which the setting names one
STACKS = Stacks(
    outer="l2",
    each_bytes=STACK_BYTES,
    small_bytes=SMALL_L1_BYTES,
    call_cycles=CALL_CYCLES,
    outer_call_cycles=FAR_CALL_CYCLES,
    outer_slowdown=FAR_SLOWDOWN,
    kernel_bytes=KERNEL_BYTES,
    farther_bytes=FARTHER_BYTES,
)
UNREACHABLE: Mapping[str, Literal["rw", "ro", "none"]] = {ENGINE: "none"}


def _cluster_path(source: str, target: str) -> CopyPath:
    return CopyPath(
        source=source,
        target=target,
        max_bytes=MAX_COPY_BYTES,
        dimensions=2,
        channels=CHANNELS,
        cycles=cluster_store_cycles if target == "l2" else cluster_load_cycles,
    )


def _external_path(source: str, target: str) -> CopyPath:
    return CopyPath(
        source=source,
        target=target,
        max_bytes=MAX_EXTERNAL_BYTES,
        dimensions=2,
        channels=CHANNELS,
        cycles=external_store_cycles if target == "l3" else external_load_cycles,
    )


def _memories(home: str, weights: str) -> tuple[Memory, ...]:
    """L2 holds the code, the constants where they are wanted there, and what is left of it is for values or tiles."""
    l1 = Memory(name="l1", size_bytes=L1_BYTES, machine_bytes=L1_BYTES, base=L1_BASE, bytes_per_cycle=32.0)
    constants = CONSTANT_BYTES if weights == "l2" else 0
    room = L2_BYTES - CODE_BYTES - constants
    most = L2_BYTES - CODE_BYTES  # to be shared
    l2 = Memory(name="l2", size_bytes=room, machine_bytes=most, base=L2_BASE, bytes_per_cycle=8.0, latency_cycles=15.0)
    near = Memory(
        name="weights", size_bytes=constants, machine_bytes=most, kind="const", bytes_per_cycle=8.0, latency_cycles=15.0
    )
    half = L3_BYTES // 2
    far = replace(
        near, size_bytes=half, machine_bytes=half, base=L3_BASE + half, bytes_per_cycle=1.0, latency_cycles=100.0
    )
    const = near if weights == "l2" else replace(far, access=UNREACHABLE)
    if home == "l2":
        return (l2, l1, const)
    l3 = Memory(
        name="l3",
        size_bytes=L3_BYTES if weights == "l2" else half,
        machine_bytes=L3_BYTES if weights == "l2" else half,
        base=L3_BASE,
        access=UNREACHABLE,
        bytes_per_cycle=1.0,
        latency_cycles=100.0,
    )
    return (l3, l2, l1, const)


def _with_weight_memory(memories: tuple[Memory, ...], chosen: str) -> tuple[Memory, ...]:
    """And what N-EUREKA reads weights from without a copy: `mram`, filled as the program is loaded, or `sram`, filled
    by NETWORK_init from where constants are, at the same multiples of a word.
    """
    word = WEIGHT_WORD_BYTES
    if chosen == "mram":
        size = MRAM_BYTES
        mram = Memory(name=chosen, size_bytes=size, machine_bytes=size, base=MRAM_BASE, kind="const", align=word)
        return (*memories, replace(mram, bytes_per_cycle=float(word)))
    if chosen == "sram":
        size = SRAM_BYTES
        sram = Memory(name=chosen, size_bytes=size, machine_bytes=size, base=SRAM_BASE, align=word)
        aligned = (replace(memory, align=word) if memory.kind == "const" else memory for memory in memories)
        return (*aligned, replace(sram, bytes_per_cycle=float(word)))
    return memories


def _copies(home: str, weights: str) -> tuple[CopyPath, ...]:
    external = (_external_path("l3", "l2"), _external_path("l2", "l3")) if home == "l3" else ()
    constants = _cluster_path("weights", "l1") if weights == "l2" else _external_path("weights", "l2")
    return (*external, _cluster_path("l2", "l1"), _cluster_path("l1", "l2"), constants)


def _beside(engine: str, cores: int) -> tuple[Engine, ...]:
    """The convolution engine, where it is to be used."""
    if engine == "cores":
        return ()
    return (
        Engine(
            name=NEUREKA,
            operations_per_cycle=NEUREKA_MACS_PER_CYCLE,
            step_cycles=NEUREKA_STEP_CYCLES,
            queue=2,
            finishing_cores=cores,
            preferred=engine == "neureka",
        ),
    )


def _rivals(platform: Platform) -> tuple[Mapping[str, str], ...]:
    """Places of stacks with one for a core that moves or without, each with what is left open of the engine: with
    `engine=auto` plans with it and without, since its sums take room, too.
    """
    open_engine = tuple(_open_engine(platform.settings))
    rivals = tuple({**engine, **place} for place in _stack_places(platform) for engine in open_engine)
    return rivals if len(rivals) > 1 else ()


def _open_engine(settings: Mapping[str, str]) -> Iterator[Mapping[str, str]]:
    """The engine where it is used, with weights in each memory where that is open, and plans without it."""
    engine, weights = settings["engine"], settings["weight_memory"]
    named = {"engine": "mixed"} if engine == "auto" else {}
    if weights == "auto" and engine != "cores":
        yield from ({**named, "weight_memory": memory} for memory in ("mram", "l1"))
    else:
        yield named
    if engine == "auto":
        yield {"engine": "cores"}


def _stack_places(platform: Platform) -> Iterator[Mapping[str, str]]:
    """Places of stacks; those in a scratchpad with a core that moves data, where its stack fits, and without."""
    for place in STACKS.rivals(platform) or ({},):
        near = place.get("stacks", STACKS.memory(platform)) == platform.inner
        if near and platform.settings["dma_core"] == "auto" and not _roomy(platform):
            if STACKS.all_bytes(_with_dma_core(platform, own=True)) < (platform.memory("l1").size_bytes or 0):
                yield {**place, "dma_core": "own"}
            yield {**place, "dma_core": "first"}
        else:
            yield place


def _roomy(platform: Platform) -> bool:
    """Whether one more stack takes no room that tiles could use."""
    return (platform.memory("l1").size_bytes or 0) >= ROOMY_L1_BYTES


def _with_dma_core(platform: Platform, *, own: bool) -> Platform:
    return replace(platform, engines=(replace(platform.engines[0], dma_core=own), *platform.engines[1:]))


def _prelude(isa: str) -> str:
    return (
        "#ifndef TW_XPULP /* whether kernels may use the cores' own instructions; -DTW_XPULP=0 for other machines */\n"
        f"#  define TW_XPULP {int(isa == 'xpulp')}\n"
        "#endif\n"
    )


def _settled(platform: Platform) -> Platform:
    """With the core that moves data, with what stacks take, and what kernels lose without their instructions; portable
    C loses nothing. Where both are planned, the one with fewer stacks says what does not fit.
    """
    choice, far = platform.settings.get("dma_core", "auto"), STACKS.memory(platform) != platform.inner
    own = choice == "own" or (choice == "auto" and (far or _roomy(platform)))
    settled = STACKS.settled(_with_dma_core(platform, own=own))
    if platform.settings.get("isa") != "portable":
        return replace(settled, portable_cycles=portable_cycles)
    cluster = settled.engines[0]
    slower = replace(cluster, slowdown=cluster.slowdown * WITHOUT_XPULP_SLOWDOWN)
    return replace(settled, engines=(slower, *settled.engines[1:]), portable_cycles=_without_xpulp)


def _for_kernels(platform: Platform, kernels: frozenset[str]) -> Platform:
    return _settled(STACKS.for_kernels(platform, kernels))


def _constant_growth(platform: Platform, constants_bytes: int) -> int:
    """Weights of 4 bits stay so where cores compute them, whatever bytes would save; an engine has bytes only."""
    return 0 if platform.settings["engine"] == "cores" else constants_bytes


def _without_xpulp(site: Site) -> float | None:
    """`portable_cycles`, before what kernels without their instructions take."""
    result = portable_cycles(site)
    return None if result is None else result / WITHOUT_XPULP_SLOWDOWN


def _configured(platform: Platform, settings: Mapping[str, str]) -> Platform:
    home, cores = settings["home"], int(settings["cores"])
    STACKS.demand(platform)
    lost = WITHOUT_XPULP_SLOWDOWN if settings["isa"] == "portable" else 1.0  # of kernels, not of what is counted here
    weights = home if settings["weights"] == "home" else settings["weights"]
    if (home, weights) == ("l2", "l3"):
        raise usage_error(
            "TW1102",
            "setting 'weights' of target 'siracusa' cannot be 'l3' where values live in l2",
            details=("nothing copies from l3 on the way from l2 to l1",),
            fix=("--set home=l3", "--set weights=l2"),
        )
    configured = replace(
        platform,
        memories=_with_weight_memory(
            _memories(home, weights), "l1" if settings["engine"] == "cores" else settings["weight_memory"]
        ),
        copies=_copies(home, weights),
        engines=(
            Engine(
                name=ENGINE,
                cores=cores,
                operations_per_cycle=PLAIN_MACS_PER_CYCLE * cores * lost,
                step_cycles=STEP_CYCLES,
                copy_start_cycles=COPY_START_CYCLES,
                code_waits=EVERY_TILE,
            ),
            *_beside(settings["engine"], cores),
        ),
        backing=home,
        inner="l1",
        prelude=_prelude(settings["isa"]),
        roomier=({"home": "l3"},) if home == "l2" else ({"weights": "l3"},) if weights == "l2" else (),
    )
    return _settled(configured)


_OPTIONS = (
    Option(
        name="home",
        help="where values live: l2, or l3, the external RAM, cut twice on the way to l1",
        default="l2",
        choices=("l2", "l3"),
    ),
    Option(name="weights", help="where constants are", default="home", choices=("home", "l2", "l3")),
    Option(name="cores", help="cores of the cluster that compute", default=str(CORES), choices=("1", "2", "4", "8")),
    Option(
        name="dma_core",
        help="who starts copies: own, one more core of the cluster, which computes nothing; first, the first core, "
        f"which computes too; auto: own, and with less than {ROOMY_L1_BYTES >> 10} KiB of l1 the faster of both plans",
        default="auto",
        choices=("auto", "own", "first"),
    ),
    Option(
        name="engine",
        help="who computes layers of products: the cores; neureka, the engine beside them, first; mixed: for "
        "each layer the faster of both, by estimates; auto: mixed or cores, whichever plan is faster",
        default="cores",
        choices=("cores", "neureka", "mixed", "auto"),
    ),
    Option(
        name="weight_memory",
        help="where N-EUREKA has weights: l1, copied there as tiles are; mram, the part of its own memory that keeps "
        "them, filled as the program is loaded; sram, the other part, filled by NETWORK_init from where constants are; "
        "auto: l1 or mram, whichever plan is faster",
        default="l1",
        choices=("l1", "mram", "sram", "auto"),
    ),
    Option(
        name="isa",
        help="xpulp: kernels use hardware loops, post-increment loads and dot products",
        default="xpulp",
        choices=("xpulp", "portable"),
    ),
    *STACKS.options("l1"),
)

SIRACUSA = _configured(
    Platform(
        name="siracusa",
        summary="eight RISC-V cores with Xpulp around 256 KiB of L1, 2 MiB of L2, external RAM",
        memories=_memories("l2", "l2"),
        runners=("twin", "qemu-riscv32", "gvsoc"),
        compile_flags=FLAGS,
        options=_OPTIONS,
        configure_with=_configured,
        settle=_settled,
        portable_cycles=portable_cycles,
        constant_growth=_constant_growth,
        rivals=_rivals,
        settle_kernels=_for_kernels,
    ),
    {option.name: option.default for option in _OPTIONS},
)
