"""Knows the target `cortex-m`, and `cortex-m4` and the like, which are the same with the core chosen.
Does not know how kernels use a core's units: it offers each as an engine (`cpu`, `dsp`, `mve`) that kernels name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from importlib.resources import files

from tilewright.api.platform import Engine, Memory, Option, Platform
from tilewright_cortexm.cores import CORES, KIB, Core, core_named
from tilewright_cortexm.instructions import instruction_costs

FAMILY = "cortex-m"
DEFAULT_CORE = "m4"
ALIGN = 16
CODE_BYTES = 32 * KIB  # of flash that constants leave alone
BOUNDLESS = 2**31


def _memories(core: Core) -> tuple[Memory, ...]:
    align = max(ALIGN, core.cache_line_bytes)
    return (
        Memory(name="ram", size_bytes=core.ram_bytes, align=align),
        Memory(name="flash", size_bytes=core.flash_bytes, kind="const", align=ALIGN),
    )


def _engines(core: Core) -> tuple[Engine, ...]:
    costs = instruction_costs(core.name)
    return tuple(
        Engine(name=name, operations_per_cycle=speed, instructions=costs)
        for name, speed in zip(core.engines, core.macs_per_cycle, strict=True)
    )


def _configured(platform: Platform, settings: Mapping[str, str]) -> Platform:
    core = core_named(settings["core"])
    strict = ("-mno-unaligned-access",) if settings["unaligned"] == "no" and core.unaligned else ()
    return replace(
        platform,
        memories=_memories(core),
        engines=_engines(core),
        compile_flags=(*core.flags, *strict),
        prelude=_prelude(core),
        constant_growth=_constant_growth,
        constant_growth_fix="--set speed_flash=none keeps constants small, --set speed_flash=all takes what is left",
    )


def _constant_growth(platform: Platform, constants_bytes: int) -> int:
    """What kernels may take for speed (`speed_flash`): all that is left of the flash that was given to the network, but
    for code; of flash of the size that the board or a typical chip has, nothing, because their scratch takes RAM, too.
    """
    flash, wanted = platform.of_kind("const")[0], platform.settings["speed_flash"]
    size_bytes = platform.hard_bytes(flash.name)
    usual = flash.machine_bytes or core_named(platform.settings["core"]).flash_bytes
    if wanted == "none" or (wanted == "auto" and size_bytes in (usual, None)):
        return 0
    return BOUNDLESS if size_bytes is None else max(0, size_bytes - constants_bytes - CODE_BYTES)


def _prelude(core: Core) -> str:
    """The C before all kernels: the core's rounding, and the cache's macro where there is a cache."""
    names = ("prelude.h", "cache.h") if core.cache_line_bytes else ("prelude.h",)
    return "\n".join((files("tilewright_cortexm") / name).read_text(encoding="ascii") for name in names)


def _target(name: str, summary: str, cores: tuple[Core, ...], default: Core) -> Platform:
    return Platform(
        name=name,
        family=FAMILY,
        summary=summary,
        memories=_memories(default),
        engines=_engines(default),
        runners=("qemu-cortex-m",),
        compile_flags=default.flags,
        options=(
            Option(name="core", help="the core", default=default.name, choices=tuple(core.name for core in cores)),
            Option(
                name="unaligned",
                help="whether unaligned words may be read; no also for chips that trap them",
                default="core",
                choices=("core", "no"),
            ),
            Option(
                name="speed_flash",
                help="whether faster kernels may take flash for larger constants, and RAM: all takes what is left of "
                "it but 32 KiB; auto does where --memory flash=BYTES says how much there is",
                default="auto",
                choices=("auto", "none", "all"),
            ),
        ),
        configure_with=_configured,
    )


TARGETS = (
    _target(FAMILY, "Arm Cortex-M; the core is a setting", CORES, core_named(DEFAULT_CORE)),
    *(_target(f"cortex-{core.name}", core.title, (core,), core) for core in CORES),
)
