"""Knows how values of files about boards are read, and how a wrong one is refused: with file, place, key and reason.
Does not know which keys there are.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tilewright.errors import TilewrightError, typed, usage_error

UNITS = {"": 1, "K": 1 << 10, "KIB": 1 << 10, "M": 1 << 20, "MIB": 1 << 20}
BOARD_FORM = typed("tilewright", "explain", "TW1402", gives="lists every key, with an example")


@dataclass(frozen=True, slots=True)
class TomlTable:
    """One table of a file about boards, and where it is."""

    source: str
    place: str  # "" for the whole file, of which tables are named without more
    values: Mapping[str, Any]

    def wrong(self, key: str, reason: str) -> TilewrightError:
        where = f"{self.source}, {self.place or 'at the top,'} {key}"
        return usage_error("TW1402", f"the board file is wrong: {reason}", where=where, fix=(BOARD_FORM,))

    def inner(self, place: str, values: Mapping[str, Any]) -> TomlTable:
        """A table inside this one."""
        return TomlTable(self.source, f"{self.place} {place}".lstrip(), values)

    def only(self, known: tuple[str, ...]) -> None:
        for key in self.values:
            if key not in known:
                raise self.wrong(f"key '{key}'", f"there is no such key; there are {', '.join(known)}")

    def text(self, key: str, default: str, choices: tuple[str, ...] = ()) -> str:
        value = self.values.get(key, default)
        if not isinstance(value, str):
            raise self.wrong(f"key '{key}'", "a text is needed")
        if choices and value not in choices:
            raise self.wrong(f"key '{key}'", f"'{value}' is not one of {', '.join(choices)}")
        return value

    def number(self, key: str, default: float, *, least: float = 0.0) -> float:
        value = self.values.get(key, default)
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not least <= value < float("inf"):
            raise self.wrong(f"key '{key}'", f"a number, {least:g} or more, is needed")
        return float(value)

    def flag(self, key: str) -> bool:
        value = self.values.get(key, False)
        if not isinstance(value, bool):
            raise self.wrong(f"key '{key}'", "true or false is needed")
        return value

    def texts(self, key: str) -> tuple[tuple[str, str], ...]:
        """A table of names and texts, in the file's order."""
        values = self.values.get(key, {})
        if not isinstance(values, dict) or not all(isinstance(value, str) for value in values.values()):
            raise self.wrong(f"key '{key}'", "a table of patterns and memories is needed")
        return tuple(values.items())

    def list_of_texts(self, key: str) -> tuple[str, ...]:
        """At least one text."""
        values = self.values.get(key, [])
        if not isinstance(values, list) or not values or not all(isinstance(value, str) for value in values):
            raise self.wrong(f"key '{key}'", "a list of texts is needed")
        return tuple(values)

    def size(self, key: str) -> int | None:
        """65536, "64K" or "1M"; None where there is no such key."""
        value = self.values.get(key)
        if value is None:
            return None
        if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
            return value
        match = re.fullmatch(r"(\d+)\s*([A-Za-z]*)", value.strip()) if isinstance(value, str) else None
        if not match or match[2].upper() not in UNITS:
            raise self.wrong(f"key '{key}'", 'a size is needed: 65536, "64K" or "1M"')
        return int(match[1]) * UNITS[match[2].upper()]


def toml_values(content: bytes, source: str) -> Mapping[str, Any]:
    """What the TOML of a file about boards says. TilewrightError TW1401 (exit 2) where it is none."""
    import tomllib

    try:
        return tomllib.loads(content.decode("utf-8"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise usage_error("TW1401", f"the board file is no TOML: {error}", where=source, fix=(BOARD_FORM,)) from None
