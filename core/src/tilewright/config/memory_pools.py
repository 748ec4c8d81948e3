"""Knows pools that a user names one by one, `--pool dtcm:96K`.
Does not know any target. The order in which pools are named is the order of preference.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Literal, cast

from tilewright.errors import TilewrightError, typed, usage_error
from tilewright.ir.machines.platform import Memory, Platform

Access = Literal["rw", "ro", "none"]
UNITS = {"": 1, "B": 1} | {
    f"{unit}{rest}": 1 << power for unit, power in (("K", 10), ("M", 20), ("G", 30)) for rest in ("", "B", "IB")
}
FORM = "--pool NAME:SIZE[,ro][,soft][,section=.NAME][,base=0x...][,align=N][,ENGINE=rw|ro|none]"
SECTION = re.compile(r"[A-Za-z0-9_.$]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolSpec:
    """A pool as it was asked for. None and "" take what the target's memory of that name has."""

    name: str
    size_bytes: int | None = None
    kind: Literal["ram", "const", ""] = ""
    soft: bool = False
    section: str = ""
    base: int | None = None
    align: int | None = None
    access: Mapping[str, Access] = field(default_factory=dict)  # by engine

    def on(self, platform: Platform) -> Memory:
        """The memory that it makes of the target's. TilewrightError TW1103 (exit 2) for engines there are none of."""
        known = {memory.name: memory for memory in platform.memories}
        memory = known.get(self.name, Memory(name=self.name, size_bytes=None, kind=self.kind or "ram"))
        return replace(
            memory,
            kind=self.kind or memory.kind,
            size_bytes=memory.size_bytes if self.size_bytes is None else self.size_bytes,
            soft=self.soft or memory.soft,
            section=self.section or memory.section,
            base=memory.base if self.base is None else self.base,
            align=self.align or memory.align,
            access={**memory.access, **self._access(platform)},
        )

    def _access(self, platform: Platform) -> Mapping[str, Access]:
        engines = [engine.name for engine in platform.engines]
        for name in self.access:
            if name not in engines:
                raise usage_error(
                    "TW1103",
                    f"pool '{self.name}' names engine '{name}'; target '{platform.name}' has {', '.join(engines)}",
                    fix=(f"write it as {FORM}",),
                )
        return self.access


def with_pools(platform: Platform, pools: Sequence[PoolSpec]) -> Platform:
    """`platform` with these pools instead of its memories of the same kind.

    Raises TilewrightError TW1103 (exit 2) for engines that are not there, TW1115 where a pool is named twice or the
    target's copies need a memory that would be gone.
    """
    if not pools:
        return platform
    names = [pool.name for pool in pools]
    repeated = [name for name in names if names.count(name) > 1]
    if repeated:
        raise _wrong(platform, f"pool '{repeated[0]}' is given twice")
    chosen = [pool.on(platform) for pool in pools]
    kinds = {memory.kind for memory in chosen}
    kept = [memory for memory in platform.memories if memory.kind not in kinds and memory.name not in names]
    memories = (*chosen, *kept) if "ram" in kinds else (*kept, *chosen)
    if not any(memory.kind == "ram" for memory in memories):
        raise _wrong(platform, "no pool is left that can be written")
    fault = overlap(memories) or _misaligned(memories)
    if fault:
        raise _wrong(platform, fault)
    names_left = {memory.name for memory in memories}
    missing = sorted({end for path in platform.copies for end in (path.source, path.target)} - names_left)
    if missing:
        raise _wrong(
            platform,
            f"target '{platform.name}' copies from or to {', '.join(missing)}: --pool {missing[0]} keeps it as it is",
        )
    return replace(platform, memories=memories)


def _misaligned(memories: Iterable[Memory]) -> str:
    for memory in memories:
        if memory.base is not None and memory.base % memory.align:
            return f"the base of '{memory.name}', {memory.base:#x}, is not aligned to {memory.align} bytes"
    return ""


def parse_pool(text: str) -> PoolSpec:
    """`dtcm:96K,section=.dtcm`. TilewrightError TW1101 (exit 2) for anything that cannot be read."""
    head, *rest = text.split(",")
    name, _, size = head.partition(":")
    if not (name.isascii() and name.isidentifier()):
        raise _unreadable(text, f"'{name}' is no name that C can use")
    spec = PoolSpec(name=name, size_bytes=parse_bytes(size) if size else None)
    for item in rest:
        spec = _with_item(spec, item, text)
    return spec


def parse_bytes(text: str) -> int:
    """65536, 64K, 64KiB, 1M: bytes. TilewrightError TW1101 (exit 2) for anything else."""
    match = re.fullmatch(r"(\d+)\s*([A-Za-z]*)", text.strip())
    if not match or match[2].upper() not in UNITS:
        raise usage_error("TW1101", f"'{text}' is no size in bytes", fix=("write 65536, 64K or 1M",))
    return int(match[1]) * UNITS[match[2].upper()]


def overlap(memories: Iterable[Memory]) -> str:
    """Which two memories of known address share bytes; "" where none do."""
    ranges = sorted(
        (memory.base, memory.base + memory.size_bytes, memory.name)
        for memory in memories
        if memory.base is not None and memory.size_bytes is not None
    )
    for (_, end, first), (start, _, second) in pairwise(ranges):
        if start < end:
            return f"'{first}' and '{second}' overlap from {start:#x}"
    return ""


def _with_item(spec: PoolSpec, item: str, text: str) -> PoolSpec:
    key, equals, value = item.strip().partition("=")
    if not equals:
        if key == "soft":
            return replace(spec, soft=True)
        if key in ("ro", "rw"):
            return replace(spec, kind="const" if key == "ro" else "ram")
        raise _unreadable(text, f"'{key}' says nothing about a pool")
    if key == "section" and SECTION.fullmatch(value):
        return replace(spec, section=value)
    if key == "base":
        return replace(spec, base=_number(value, text))
    if key == "align":
        align = _number(value, text)
        if align < 4 or align & (align - 1):  # the alignment of a word
            raise _unreadable(text, "align is a power of two, 4 or more")
        return replace(spec, align=align)
    if value in ("rw", "ro", "none"):
        return replace(spec, access={**spec.access, key: cast(Access, value)})
    raise _unreadable(text, f"'{item}' says nothing about a pool")


def _number(value: str, text: str) -> int:
    try:
        return int(value, 0)
    except ValueError:
        raise _unreadable(text, f"'{value}' is no number") from None


def _unreadable(text: str, reason: str) -> TilewrightError:
    return usage_error("TW1101", f"pool '{text}' cannot be read: {reason}", fix=(f"write it as {FORM}",))


def _wrong(platform: Platform, reason: str) -> TilewrightError:
    step = typed("tilewright", "targets", platform.name, gives="shows what it has")
    return usage_error("TW1115", f"the pools cannot be used: {reason}", fix=(step,))
