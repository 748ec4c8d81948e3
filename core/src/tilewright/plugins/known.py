"""Knows which package has a well-known target, allocator or tiler, and which target the chips of makers are.
Does not know what is installed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

PACKAGE_OF: Mapping[tuple[str, str], str] = MappingProxyType(
    {
        ("platform", "generic"): "tilewright-cortexm",
        ("platform", "cortex-m"): "tilewright-cortexm",
        ("platform", "cortex-m0plus"): "tilewright-cortexm",
        ("platform", "cortex-m3"): "tilewright-cortexm",
        ("platform", "cortex-m4"): "tilewright-cortexm",
        ("platform", "cortex-m7"): "tilewright-cortexm",
        ("platform", "cortex-m33"): "tilewright-cortexm",
        ("platform", "cortex-m55"): "tilewright-cortexm",
        ("platform", "siracusa"): "tilewright-siracusa",
        ("platform", "snitch"): "tilewright-snitch",
        ("runner", "gvsoc"): "tilewright-riscv",
        ("runner", "qemu-cortex-m"): "tilewright-cortexm",
        ("runner", "qemu-riscv32"): "tilewright-riscv",
        ("allocator", "minimalloc"): "tilewright-minimalloc",
        ("allocator", "minimalloc-external"): "tilewright-minimalloc",
        ("allocator", "minimalloc-python"): "tilewright-minimalloc",
        ("tiler", "cpsat"): "tilewright-cpsat",
    }
)


def known_names(kind: str) -> tuple[str, ...]:
    """The well-known names of one kind, in alphabetical order."""
    return tuple(sorted(name for (of_kind, name) in PACKAGE_OF if of_kind == kind))


_CORES: Mapping[str, tuple[str, ...]] = MappingProxyType(  # target -> beginnings of names, from the makers' data sheets
    {
        "cortex-m0plus": ("stm32f0", "stm32g0", "stm32c0", "stm32l0", "stm32u0", "nrf51", "rp2040", "samd21"),
        "cortex-m3": ("stm32f1", "stm32f2", "stm32l1", "sam3", "lpc17"),
        "cortex-m4": (
            *("stm32f3", "stm32f4", "stm32g4", "stm32l4", "stm32wb", "stm32wl", "nrf52"),
            *("samd51", "same51", "same54", "sam4", "apollo3", "max78000"),
        ),
        "cortex-m7": ("stm32f7", "stm32h7", "same70", "samv71", "imxrt10", "mimxrt10"),
        "cortex-m33": ("stm32h5", "stm32l5", "stm32u3", "stm32u5", "stm32wba", "nrf53", "nrf54", "nrf91", "rp2350"),
        "cortex-m55": ("stm32n6",),
    }
)


def target_of_chip(name: str) -> str | None:
    """The target of a chip, or of a board named after one, as `stm32f4`, `STM32F407VG` or `nucleo-f401re`."""
    plain = re.sub(r"[-_. ]", "", name).casefold().replace("nucleo", "stm32")
    result = {start: target for target, starts in _CORES.items() for start in starts if plain.startswith(start)}
    return result[max(result, key=len)] if result else None
