"""Knows how a file of a family says how long flash waits: tables `[[wait_states]]`, each for some of its parts.
Does not know which parts there are.
"""

from __future__ import annotations

from itertools import pairwise

from tilewright.config.clock import parse_clock
from tilewright.config.toml_table import TomlTable
from tilewright.errors import TilewrightError
from tilewright.ir.machines.flash_waits import FlashWaits

WIDTHS = (32, 64, 128, 256)
KEYS = ("parts", "up_to", "condition", "divider", "width_bits", "sources")


def flash_waits_of(table: TomlTable) -> FlashWaits:
    """What one table says. TilewrightError TW1402 (exit 2) for a wrong entry."""
    table.only(KEYS)
    condition = table.text("condition", "")
    if not condition:
        raise table.wrong("key 'condition'", "the voltages that this holds for are needed")
    divider = table.values.get("divider", 1)
    if isinstance(divider, bool) or not isinstance(divider, int) or divider < 1:
        raise table.wrong("key 'divider'", "a whole number, 1 or more, is needed")
    return FlashWaits(up_to_hz=_up_to(table), condition=condition, divider=divider, width_bits=_width_bits(table))


def _width_bits(table: TomlTable) -> int | None:
    width = table.values.get("width_bits")
    if isinstance(width, bool) or width not in (None, *WIDTHS):
        raise table.wrong("key 'width_bits'", f"the bits of one read are needed: {', '.join(map(str, WIDTHS))}")
    return width


def _up_to(table: TomlTable) -> tuple[int, ...]:
    try:
        clocks = tuple(parse_clock(value) for value in table.list_of_texts("up_to"))
    except TilewrightError:
        clocks = ()
    if not clocks or any(higher <= lower for lower, higher in pairwise(clocks)):
        raise table.wrong("key 'up_to'", 'the highest clock of 0, 1, ... wait states is needed: ["30MHz", "60MHz"]')
    return clocks
