"""Knows what instructions of each class take on each core, in cycles: documented latencies, and waits for flash.
Does not know how instructions are counted, nor what any kernel executes.

Sources: Arm's technical reference manuals of M0+, M3 and M4 (instruction timings), M55's software optimisation guide.
Arm publishes no timings of M33 (M4's are taken), and none of M7 that a static model could use: that issues two at a
time, and 0.68 cycles each is the ratio of the published CoreMark figures of M7 and M4.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from tilewright.api.platform import FlashWaits

LINE_BITS = 128  # of the lines of code that are counted


@dataclass(frozen=True, slots=True, kw_only=True)
class Latencies:
    """Cycles of an instruction by its class (absent: `other`), and of what comes to it: `taken`, `paired` and so on, as
    counter.c names them. `wait_states` are what `flash_bits` of code out of flash take beyond their instructions, of
    the flash that `of_flash` says; `cached`: a core whose code is in tightly coupled memory, and waits for none.
    """

    classes: Mapping[str, float] = field(default_factory=dict)
    extras: Mapping[str, float] = field(default_factory=dict)
    other: float = 1.0
    wait_states: int = 0
    flash_bits: int = LINE_BITS
    of_flash: str = "a typical chip with that core; --board names another"
    cached: bool = False

    def cycles(self, counts: Mapping[str, int]) -> float:
        """Of what a run has counted."""
        prefix = "instructions."
        total = 0.0
        for name, count in counts.items():
            if name.startswith(prefix):
                total += count * self.classes.get(name.removeprefix(prefix), self.other)
            else:
                total += count * self.extras.get(name, 0.0)
        return total + self.line_cycles * counts.get("fetches", 0)

    @property
    def line_cycles(self) -> int:
        """Cycles that a line of code waits for: a narrow flash is read several times, and waits each time."""
        return self.wait_states * max(1, LINE_BITS // self.flash_bits)

    def with_flash(self, flash: FlashWaits | None, clock_hz: int | None) -> Latencies:
        """The same with the flash of a board at a clock; with a typical one where either is not known."""
        waits = flash.at(clock_hz) if flash is not None and clock_hz is not None else None
        if self.cached or flash is None or clock_hz is None or waits is None:
            return self
        known = "" if flash.width_bits else ", width of a read not known"
        of = f"the board at {clock_hz / 1e6:g} MHz{known}"
        bits = flash.width_bits or LINE_BITS
        return replace(self, wait_states=waits * flash.divider, flash_bits=bits, of_flash=of)

    @property
    def text(self) -> str:
        """What these cycles are those of."""
        if self.cached:
            return "documented latencies; code and data in tightly coupled memory"
        waits = f"{self.wait_states} wait state{'' if self.wait_states == 1 else 's'}"
        return f"documented latencies; {waits} for {self.flash_bits} bits of code from flash ({self.of_flash})"


_M4 = Latencies(
    classes={
        "load": 2, "load_multiple": 2, "store_multiple": 2, "divide": 7, "float_divide": 14, "float_load": 2,
        "float_store": 2,
    },
    extras={"taken": 2, "paired": -1, "words": 1},
    wait_states=5,
)  # fmt: skip

LATENCIES: Mapping[str, Latencies] = {
    "m0plus": Latencies(
        classes={"load": 2, "store": 2, "load_multiple": 2, "store_multiple": 2}, extras={"taken": 1, "words": 1}
    ),
    "m3": Latencies(
        classes={"load": 2, "load_multiple": 2, "store_multiple": 2, "divide": 7, "long_multiply": 4},
        extras={"taken": 2, "paired": -1, "words": 1},
        wait_states=2,
    ),
    "m4": _M4,
    "m33": _M4,
    "m7": Latencies(
        classes={"divide": 7, "float_divide": 14}, extras={"taken": 0.5, "words": 0.5}, other=0.68, cached=True
    ),
    "m55": Latencies(
        classes={
            "loop": 0, "divide": 8, "float_divide": 14, "vector": 2, "vector_multiply": 2, "vector_load": 2,
            "vector_store": 2,
        },
        extras={"taken": 1, "words": 0.5, "overlapped": -1},
        cached=True,
    ),
}  # fmt: skip
