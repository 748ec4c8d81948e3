"""Knows which package has a well-known target, allocator or tiler. Does not know what is installed."""

from __future__ import annotations

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
