"""Knows how long a chip's flash makes its core wait: the highest clock for each number of wait states.
Does not know any chip, nor what waits cost a program.
"""

from __future__ import annotations

from dataclasses import dataclass

from tilewright.ir.rounding import ceil_div


@dataclass(frozen=True, slots=True, kw_only=True)
class FlashWaits:
    """`up_to_hz[n]` is the highest clock of the flash's bus at which `n` wait states are enough; it rises with `n`."""

    up_to_hz: tuple[int, ...]
    condition: str  # what that holds for: the range of the supply or of the core's voltage
    divider: int = 1  # clock of the core, in clocks of the bus
    width_bits: int | None = None  # that one read brings; None: not known

    def bus_hz(self, clock_hz: int) -> int:
        """Clock of the bus, at a clock of the core."""
        return ceil_div(clock_hz, self.divider)

    def at(self, clock_hz: int) -> int | None:
        """Wait states at a clock of the core, in clocks of the bus. None: it is higher than is allowed."""
        bus = self.bus_hz(clock_hz)
        return next((waits for waits, highest in enumerate(self.up_to_hz) if bus <= highest), None)
