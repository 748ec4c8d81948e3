"""Knows what a board is: memories for a target, a clock, settings, and where these are known from.
Does not know any board, nor the files that describe them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from tilewright.errors import TilewrightError, typed, usage_error
from tilewright.ir.machines.flash_waits import FlashWaits
from tilewright.ir.machines.platform import Memory, Platform

PROJECT_TOOLS = ("arduino", "esp-idf", "pico-sdk", "platformio", "zephyr")  # for which a project can be written


@dataclass(frozen=True, slots=True, kw_only=True)
class Board:
    """Memories that replace a target's own, and what a compilation starts from. `target` "" is for any target.

    A board that is installed has a name; so has a part, which is a board of its own with nothing around the chip.
    """

    source: str  # the file or the name, for messages
    name: str = ""  # "": described in a file
    title: str = ""  # what people call it
    part: str = ""  # name of the chip on it; of a part its own
    core: str = ""  # what the maker calls the core
    sources: Mapping[str, str] = field(default_factory=dict)  # what is known -> file that it is from
    tools: Mapping[str, str] = field(default_factory=dict)  # tool -> what it calls the board
    sections: Mapping[str, Mapping[str, str]] = field(
        default_factory=dict
    )  # tool -> memory -> its linker section there
    target: str = ""
    clock_hz: int | None = None  # None: the file does not say
    flash_waits: FlashWaits | None = None  # of the chip's own flash, where that is known
    settings: Mapping[str, str] = field(default_factory=dict)
    memories: tuple[Memory, ...] = ()
    pins: tuple[tuple[str, str], ...] = ()  # pattern of tensors or layers -> memory; later ones overrule
    constant_copies: tuple[tuple[str, str], ...] = ()  # pattern of constants -> POOL[,when=init|use]

    def on(self, platform: Platform) -> Platform:
        """`platform` with these memories. TilewrightError TW1403 (exit 2) when they are not for it."""
        if self.target and not platform.runs(self.target):
            raise _not_for_target(
                self.source, platform.name, f"it is for target '{self.target}', not '{platform.name}'"
            )
        if not self.memories:
            return platform
        names = {memory.name for memory in self.memories}
        needed = sorted({end for path in platform.copies for end in (path.source, path.target)} - names)
        if needed:
            raise _not_for_target(
                self.source,
                platform.name,
                f"target '{platform.name}' copies from or to {', '.join(needed)}: not described",
            )
        engines = {engine.name for engine in platform.engines}
        for memory in self.memories:
            for engine in memory.access:
                if engine not in engines:
                    known = ", ".join(sorted(engines))
                    raise _not_for_target(
                        self.source,
                        platform.name,
                        f"memory '{memory.name}' names engine '{engine}'; '{platform.name}' has {known}",
                    )
        return replace(platform, memories=self.memories)


def _not_for_target(source: str, target: str, reason: str) -> TilewrightError:
    return usage_error(
        "TW1403",
        f"the board does not fit the target: {reason}",
        where=source,
        fix=(typed("tilewright", "targets", target, gives="shows what it has"),),
    )
