"""Knows what `tilewright quantize` is told of room: `--within`, `--drop`, and the target; and what networks take there.
Does not know which network is wanted.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tilewright.errors import TilewrightError, typed, usage_error

if TYPE_CHECKING:
    from tilewright.config.options import Options
    from tilewright.quantize.bits import Bits
    from tilewright.quantize.search import Room, Taken

_FORM = "write it as --within ram=20K,flash=64K,ms=10: one, two or all of them"
_UNITS = ("ram", "flash", "ms")


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a network is to run, and what it may take and lose there. `drop`: a share; None where nothing is said."""

    target: str
    keywords: dict[str, Any]  # of `tilewright.estimate`
    room: Room
    drop: float | None = None
    memory: str = ""  # where values live, if tiles are not copied to another one

    @property
    def io_type(self) -> str:
        """The integers that inputs and outputs are handed over as; "" where they are not."""
        return str(self.keywords.get("io_type", ""))

    def check_flags(self) -> tuple[str, ...]:
        """What `tilewright check` is given for the same plan."""
        board = str(self.keywords.get("board", ""))
        where: tuple[str, ...] = ("--board", board) if board else ("--target", self.target)
        where += ("--io-type", self.io_type) if self.io_type else ()
        return where if not self.memory or self.room.ram is None else (*where, *typed_limit(self.memory, self.room.ram))


@dataclass(slots=True)
class Plans:
    """What networks take, each planned once."""

    place: Place
    file_of: Callable[[Bits], Path]
    known: dict[Bits, Taken] = field(default_factory=dict)

    def taken(self, bits: Bits) -> Taken:
        """By the network with these bits. Where it takes too much RAM it is planned again for what there is: kernels
        that need less scratch are slower.
        """
        if bits not in self.known:
            free = self._planned(bits, {})
            room = self.place.room
            if not free.reason and self.place.memory and room.ram is not None and free.ram > room.ram:
                less = self._planned(bits, {"memory": {self.place.memory: room.ram}})
                free = free if less.reason else less
            self.known[bits] = free
        return self.known[bits]

    def _planned(self, bits: Bits, more: dict[str, Any]) -> Taken:
        from tilewright.exploration.estimate import estimate
        from tilewright.quantize.search import Taken

        result = estimate(self.file_of(bits), self.place.target, **self.place.keywords, **more)
        return Taken(
            ram=result.ram_bytes, flash=result.flash_bytes, ms=result.milliseconds or 0.0, reason=result.reason
        )


def typed_limit(memory: str, size_bytes: int) -> tuple[str, ...]:
    """The limit of a memory, as a flag."""
    return "--memory", f"{memory}={size_bytes}"


def place_of(within: str, drop: str, **planned: str) -> Place | None:
    """What the flags say, `planned` where and how; None where they say nothing of room. TilewrightError (exit 2):
    TW1418 where something that belongs to them is missing, TW1419 where they cannot be read.
    """
    from tilewright.front_door.compile_keywords import options_of

    if not within and not drop:
        return None
    target = planned.pop("target")
    keywords: dict[str, Any] = {word: value for word, value in planned.items() if value}
    options = options_of(keywords)
    name = target or (options.board.target if options.board else "")
    if not name:
        raise _untold("nothing says where the network is to run", typed("--target", "cortex-m4", gives="or --board"))
    room = _room(within)
    if room.ms is not None and not options.clock_hz:
        raise _untold(f"'{within}' asks for milliseconds, and no clock is known", typed("--clock", "80MHz"))
    share = _share(drop) if drop else None
    return Place(target=name, keywords=keywords, room=room, drop=share, memory=_memory(name, options))


def _memory(target: str, options: Options) -> str:
    """Where values live, if kernels compute there, too. TilewrightError TW8001 (exit 8) for an unknown target."""
    from tilewright.plugins.loading import load_named

    platform = load_named(("platform", target)).platforms[target]
    if platform.inner:
        return ""
    names = [memory.name for memory in options.board.memories if memory.kind == "ram"] if options.board else []
    return names[0] if names else platform.backing_memory().name


def demand_place(activations: str, weights: str) -> TilewrightError:
    """What to say where bits of each layer are asked for, and nothing that they are to fit."""
    flags = (("--activations", activations), ("--weights", weights))
    mixed = " ".join(f"{flag} mixed" for flag, word in flags if word == "mixed")
    return _untold(
        f"{mixed} chooses bits for each layer, and nothing says what they are for",
        typed("--target", "cortex-m4", "--within", "ram=20K,flash=64K", gives="the best that fits"),
        typed("--target", "cortex-m4", "--drop", "1%", gives="the smallest that loses no more"),
    )


def _untold(reason: str, *fix: str) -> TilewrightError:
    return usage_error("TW1418", reason, fix=fix)


def _room(text: str) -> Room:
    from tilewright.config.memory_pools import parse_bytes
    from tilewright.quantize.search import Room

    result: dict[str, Any] = {}
    for part in text.split(",") if text else ():
        name, equals, amount = (word.strip() for word in part.partition("="))
        if name not in _UNITS or not equals or name in result:
            raise usage_error("TW1419", f"--within '{text}' cannot be read: '{part}'", fix=(_FORM,))
        try:
            result[name] = float(amount) if name == "ms" else parse_bytes(amount)
        except (ValueError, TilewrightError):
            raise usage_error("TW1419", f"--within '{text}' cannot be read: '{part}'", fix=(_FORM,)) from None
    if not 0 < result.get("ms", 1) < float("inf"):
        raise usage_error("TW1419", f"--within '{text}' cannot be read: 'ms={result['ms']}'", fix=(_FORM,))
    return Room(**result)


def _share(text: str) -> float:
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*%\s*", text)
    if not match or float(match[1]) > 100:
        raise usage_error("TW1419", f"--drop '{text}' cannot be read", fix=(typed("--drop", "1%"),))
    return float(match[1]) / 100
