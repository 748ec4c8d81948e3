"""Knows where the stacks of a cluster's cores are or may be, how large, and what of the scratchpad that takes.
Does not know any machine.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from tilewright.api import align_up, usage_error
from tilewright.api.platform import Option, Platform

LEAST_BYTES = 128
PROGRAM_BYTES = 160  # of a core before a step begins: the program, its call, and what no core may touch


@dataclass(frozen=True, slots=True, kw_only=True)
class Stacks:
    """The settings `stack` and `stacks` of a target, and what follows from them."""

    outer: str  # memory where stacks are when the scratchpad is small
    each_bytes: int  # by default
    small_bytes: int  # in a scratchpad with less, stacks may cost more than they save
    call_cycles: float  # of a kernel's call on one tile
    outer_call_cycles: float  # more than that, with far stacks
    outer_slowdown: float  # of kernels, with far stacks
    outer_read_cycles: float = 0.0  # of a read of a far stack, for kernels that say how many they do; 0: the slowdown
    kernel_bytes: Mapping[str, int] = field(default_factory=dict)  # of a step that runs this kernel, as gcc compiles it
    farther_bytes: int = 0  # that such a step takes more where copies reach a memory beyond `outer`

    def options(self, near: str) -> tuple[Option, ...]:
        """For `Platform.options`."""
        small = (
            f"{near}; where it has less than {self.small_bytes >> 10} KiB, that or {self.outer}, by what the plans take"
        )
        return (
            Option(
                name="stack",
                help=f"bytes of each core's stack; auto: what the kernels need, {self.each_bytes} where nobody knows",
                default="auto",
            ),
            Option(
                name="stacks",
                help=f"where stacks are; auto: {small}",
                default="auto",
                choices=("auto", near, self.outer),
            ),
        )

    def demand(self, platform: Platform) -> None:
        """TilewrightError TW1102 (exit 2) for a stack that cannot be."""
        wanted = platform.settings.get("stack", "auto")
        size = int(wanted) if wanted.isdecimal() else 0
        if wanted != "auto" and (size < LEAST_BYTES or size % 16):
            raise usage_error(
                "TW1102",
                f"setting 'stack' of target '{platform.name}' cannot be '{wanted}'",
                details=(f"it is the bytes of each core's stack: a multiple of 16, {LEAST_BYTES} or more",),
                fix=(f"--set stack={self.each_bytes}",),
            )

    def one_bytes(self, platform: Platform) -> int:
        """Of one core."""
        wanted = platform.settings.get("stack", "auto")
        return self.each_bytes if wanted == "auto" else int(wanted)

    def team(self, platform: Platform) -> int:
        """How many there are."""
        return platform.engines[0].cores + platform.engines[0].dma_core

    def all_bytes(self, platform: Platform) -> int:
        """Of all cores."""
        return self.team(platform) * self.one_bytes(platform)

    def memory(self, platform: Platform) -> str:
        """Where they are: in the scratchpad, unless that is small and nobody asked for it, or compared plans."""
        wanted = platform.settings.get("stacks", "auto")
        if wanted != "auto":
            return wanted
        is_set = platform.settings.get("stack", "auto") != "auto"
        return platform.inner if is_set or not self._small(platform) else self.outer

    def rivals(self, platform: Platform) -> tuple[Mapping[str, str], ...]:
        """For `Platform.rivals`: both places in a small scratchpad, where nobody asked for one."""
        if platform.settings.get("stacks", "auto") != "auto" or not self._small(platform):
            return ()
        room = self.all_bytes(platform) < (platform.memory(platform.inner).size_bytes or 0)
        return tuple({"stacks": memory} for memory in ((platform.inner,) if room else ()) + (self.outer,))

    def _small(self, platform: Platform) -> bool:
        return (platform.memory(platform.inner).size_bytes or 0) < self.small_bytes

    def settled(self, platform: Platform) -> Platform:
        """With what stacks take: bytes of the scratchpad, as the runtime's part of it, or time."""
        near, far = platform.inner, self.memory(platform) != platform.inner
        engine = replace(
            platform.engines[0],
            call_cycles=self.call_cycles + (self.outer_call_cycles if far else 0.0),
            slowdown=self.outer_slowdown if far else 1.0,
            stack_cycles=self.outer_read_cycles if far else 0.0,
        )
        started = self.outer_call_cycles if far else 0.0  # cores start the jobs of other engines, and finish them
        beside = (replace(each, call_cycles=started) for each in platform.engines[1:])
        taken = 0 if far else self.all_bytes(platform)
        return replace(platform, engines=(engine, *beside), runtime_bytes={near: taken})

    def for_kernels(self, platform: Platform, kernels: frozenset[str]) -> Platform:
        """For `Platform.settle_kernels`: stacks in the scratchpad are as large as what runs needs, where that is known
        of all of it and nobody chose a size; also after others, when kernels were exchanged.
        """
        wanted, before = platform.settings.get("stack", "auto"), platform.bound_kernels
        own = before is not None and wanted == self._needed(platform, before)
        if (wanted != "auto" and not own) or self.memory(platform) != platform.inner:
            return platform
        needed = self._needed(platform, kernels)
        settings = {**platform.settings, "stack": needed}
        return platform if needed == wanted else self.settled(replace(platform, settings=settings))

    def _farther(self, platform: Platform) -> bool:
        """Whether values are in a memory beyond those in which stacks may be."""
        return platform.backing != self.outer

    def _needed(self, platform: Platform, kernels: frozenset[str]) -> str:
        """Of the setting `stack`: what suffices for these kernels, or "auto" where that is not known of all."""
        if not kernels <= set(self.kernel_bytes):
            return "auto"
        most = max((self.kernel_bytes[name] for name in kernels), default=0)
        most += self.farther_bytes if self._farther(platform) else 0
        return str(min(align_up(PROGRAM_BYTES + most, 16), self.each_bytes))

    def macros(self, platform: Platform) -> tuple[str, ...]:
        """What the runtime's files are told: cores that compute, stacks, bytes of each; where copies to a memory beyond
        `outer` take more stack, whether there are any.
        """
        farther = (f"-DTW_FARTHER={int(self._farther(platform))}",) if self.farther_bytes else ()
        return (
            f"-DTW_CORES={platform.engines[0].cores}",
            f"-DTW_TEAM={self.team(platform)}",
            f"-DTW_STACK_BYTES={self.one_bytes(platform)}",
            *farther,
        )

    def inner_section(self, platform: Platform, base: int) -> str:
        """The linker's section of stacks at the end of the scratchpad, which is at `base`; "" where they are far."""
        if self.memory(platform) != platform.inner:
            return ""
        size = platform.memory(platform.inner).size_bytes or 0
        start = base + size - platform.runtime_bytes[platform.inner]
        return self._section(platform, f"{start:#x} (NOLOAD) :", platform.inner)

    def outer_section(self, platform: Platform) -> str:
        """The linker's section of stacks in the far memory; "" where they are near."""
        if self.memory(platform) == platform.inner:
            return ""
        return self._section(platform, "(NOLOAD) : ALIGN(16)", self.outer)

    def _section(self, platform: Platform, place: str, memory: str) -> str:
        contents = f"{{ tw_stacks = .; . += {self.all_bytes(platform):#x}; }}"
        return f".stacks {place} {contents} > {memory.upper()} :NONE"
