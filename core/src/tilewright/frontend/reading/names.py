"""Knows how names are made unique and how they are shown to people.
Does not know C: identifiers are the emitter's.

A name from a file is text that somebody else chose. In messages it is quoted, shortened, and everything that
a terminal could take for a command or that is invisible is written as an escape.
"""

from __future__ import annotations

from collections.abc import Iterable

_SHOWN = 64


def show(name: str) -> str:
    """`name` quoted for a message: at most about 70 characters, nothing invisible."""
    short = name if len(name) <= _SHOWN else f"{name[: _SHOWN - 20]}...{name[-17:]}"
    if short.isprintable() and not {"'", "\\"}.intersection(short):  # as most are; to nobody, mostly
        return f"'{short}'"
    return "'" + "".join(_visible(character) for character in short) + "'"


def show_all(names: Iterable[str], most: int = 4) -> str:
    """Some names and how many more there are."""
    listed = list(names)
    text = ", ".join(show(name) for name in listed[:most])
    return f"{text} and {len(listed) - most} more" if len(listed) > most else text


def _visible(character: str) -> str:
    if character in "'\\":
        return "\\" + character
    if character.isprintable():
        return character
    return character.encode("unicode_escape").decode("ascii")


class UniqueNames:
    """Hands out names, each once. Reserved names go only to those who claim them."""

    def __init__(self, reserved: Iterable[str] = ()) -> None:
        self._reserved = frozenset(reserved)
        self._taken: set[str] = set()
        self._next: dict[str, int] = {}

    def claim(self, name: str) -> str:
        """A reserved name, or, where it was claimed before, the name with a number."""
        if name in self._taken:
            return self.take(name)
        self._taken.add(name)
        return name

    def take(self, wanted: str) -> str:
        """`wanted`, or `wanted` with a number where it is taken or reserved."""
        name = wanted
        number = self._next.get(wanted, 1)
        while name in self._taken or name in self._reserved:
            name = f"{wanted}_{number}"
            number += 1
        self._next[wanted] = number
        self._taken.add(name)
        return name
