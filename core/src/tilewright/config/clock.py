"""Knows how the clock of a processor is written. Does not know what takes how many cycles."""

from __future__ import annotations

import re
from decimal import Decimal

from tilewright.errors import typed, usage_error

UNITS = {"": 1, "HZ": 1, "KHZ": 1_000, "MHZ": 1_000_000, "GHZ": 1_000_000_000}
_SLOWEST = 10_000  # hertz, of a number without a unit
_CLOCK = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*")


def parse_clock(text: str) -> int:
    """Hertz: of `80MHz`, `1.2 GHz`, `32768Hz` or a plain number. TilewrightError TW1101 (exit 2) for anything else, and
    for a plain number that nobody means: no processor is that slow.
    """
    match = _CLOCK.fullmatch(text)
    hertz = Decimal(match[1]) * UNITS.get(match[2].upper(), 0) if match else Decimal(0)
    if hertz < 1:
        raise usage_error("TW1101", f"clock '{text}' cannot be read", fix=("write it as --clock 80MHz",))
    if match and not match[2] and hertz < _SLOWEST:
        raise usage_error(
            "TW1101",
            f"clock '{text}' is {text.strip()} Hz: is {text.strip()} MHz meant?",
            fix=(
                typed("--clock", f"{text.strip()}MHz"),
                typed("--clock", f"{text.strip()}Hz", gives="if it is that slow"),
            ),
        )
    return int(hertz)


def clock_text(hertz: int) -> str:
    """`80 MHz`: in the largest unit that leaves 1 or more."""
    unit, size_hz = next((name, size) for name, size in reversed(UNITS.items()) if hertz >= size)
    return f"{hertz / size_hz:g} {unit[:-2].replace('K', 'k')}Hz"
