"""Knows how the clock of a processor is written. Does not know what takes how many cycles."""

from __future__ import annotations

import re
from decimal import Decimal

from tilewright.errors import usage_error

UNITS = {"": 1, "HZ": 1, "KHZ": 1_000, "MHZ": 1_000_000, "GHZ": 1_000_000_000}
_CLOCK = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*")


def parse_clock(text: str) -> int:
    """Hertz: of `80MHz`, `1.2 GHz`, `32768Hz` or a plain number. TilewrightError TW1101 (exit 2) for anything else."""
    found = _CLOCK.fullmatch(text)
    hertz = Decimal(found[1]) * UNITS.get(found[2].upper(), 0) if found else Decimal(0)
    if hertz < 1:
        raise usage_error("TW1101", f"clock '{text}' cannot be read", fix=("write it as --clock 80MHz",))
    return int(hertz)


def clock_text(hertz: int) -> str:
    """`80 MHz`: in the largest unit that leaves 1 or more."""
    unit, one = next((name, size) for name, size in reversed(UNITS.items()) if hertz >= size)
    return f"{hertz / one:g} {unit[:-2].replace('K', 'k')}Hz"
