"""Knows the points of a sweep: a network, a target and flags, as a text that any process can work on, and which of the
target's memories the roles `fast`, `main` and `flash` are. Does not know what a point takes.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from tilewright.errors import usage_error
from tilewright.exploration.sweep.axes import TARGET, Axis
from tilewright.front_door.compile_keywords import options_of
from tilewright.ir.machines.platform import Platform

ROLES = ("fast", "main", "flash")


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One network with one value of every axis. `flags` are keywords of `tilewright.compile`."""

    model: Path
    target: str  # "" where a board brings it
    flags: Mapping[str, Any]
    values: Mapping[str, Any]  # axis -> its value here, for a table

    def as_text(self) -> str:
        """JSON, the same for two points that are one."""
        return json.dumps({"model": str(self.model), "target": self.target, "flags": self.flags}, sort_keys=True)


def points(models: Sequence[Path], axes: Sequence[Axis]) -> Iterator[Point]:
    """Every combination, the last axis fastest. TilewrightError (exit 2) for flags that cannot be read."""
    for model in models:
        for chosen in product(*(axis.values for axis in axes)):
            values = {axis.name: value for axis, value in zip(axes, chosen, strict=True)}
            flags = _flags(axes, chosen)
            target = str(flags.pop(TARGET, ""))
            options_of(flags)
            yield Point(model=model, target=target, flags=flags, values=values)


def typed_flags(target: str, flags: Mapping[str, Any]) -> str:
    """What to type for it behind the model's name."""
    words = ["--target", target] if target else []
    for keyword, value in flags.items():
        flag = "--" + keyword.replace("_", "-")
        if isinstance(value, bool):
            words.append(flag if value else "--no-external")
            continue
        items = [f"{key}={item}" for key, item in value.items()] if isinstance(value, Mapping) else None
        for item in items or (value if isinstance(value, list | tuple) else [value]):
            words += [flag, str(item)]
    return shlex.join(words)


def with_own_memories(flags: Mapping[str, Any], platform: Platform) -> dict[str, Any]:
    """The flags with the platform's own names instead of roles. TilewrightError TW1413 (exit 2) where two are limits of
    one memory, or the platform has none in that role.
    """
    limits = flags.get("memory", {})
    own = {memory.name for memory in platform.memories}
    if not any(role in limits and role not in own for role in ROLES):
        return dict(flags)
    named: dict[str, Any] = {}
    for name, limit in limits.items():
        memory = name if name in own or name not in ROLES else _memory_of(name, platform)
        if memory in named:
            raise usage_error(
                "TW1413",
                f"'{name}' is memory '{memory}' of {platform.name}, which has a limit already",
                fix=("give the memory one limit: on a machine with one RAM, fast and main are the same",),
            )
        named[memory] = limit
    return {**flags, "memory": named}


def _memory_of(role: str, platform: Platform) -> str:
    if role == "fast":
        return platform.inner or platform.backing_memory().name
    if role == "main":
        return platform.backing_memory().name
    constants = platform.of_kind("const")
    if not constants:
        raise usage_error(
            "TW1413",
            f"{platform.name} has no memory of constants alone, so no 'flash'",
            fix=("leave flash out, or limit main: constants are there",),
        )
    return constants[0].name


def _flags(axes: Sequence[Axis], chosen: Sequence[Any]) -> dict[str, Any]:
    flags: dict[str, Any] = {}
    for axis, value in zip(axes, chosen, strict=True):
        if axis.key:
            flags.setdefault(axis.keyword, {})[axis.key] = value
        else:
            flags[axis.keyword] = value
    return flags
