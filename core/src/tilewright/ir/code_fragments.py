"""Knows C at file scope as named sections: what each of them needs, and in which order a program has them, each once.
Does not know which kernel brings which section, nor where its text is kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import lru_cache

from tilewright.errors import TilewrightError, plugin_error, typed

# What C defines at the beginning of a line: functions, the names behind struct, union and enum, types, macros.
_DEFINITIONS = (
    re.compile(r"^(?!typedef\b|return\b|#)[A-Za-z_][\w \t*]*?\b(?P<name>\w+)\([^;{}]*\)\s*\{", re.MULTILINE),
    re.compile(r"^typedef [^;{}]*?\b(?P<name>\w+);", re.MULTILINE),
    re.compile(r"^\} (?P<name>\w+);", re.MULTILINE),
    re.compile(r"^# *define (?P<name>\w+)", re.MULTILINE),
)
_IF_NOBODY_HAS = re.compile(r"^# *ifndef (\w+)", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeFragment:
    """C at file scope that a program has once. Equal names must mean equal texts; "" is known by its text alone."""

    name: str  # of the file, or of the main thing that it defines
    text: str  # everything in it is static
    needs: tuple[CodeFragment, ...] = ()  # come before it
    includes: tuple[str, ...] = ()  # "<string.h>"
    owner: str = field(default="", compare=False)  # package or kernel that brings it

    @property
    def label(self) -> str:
        """What messages call it."""
        return f"{self.owner or 'somebody'}{f' ({self.name})' if self.name else ''}"


@dataclass(frozen=True, slots=True, kw_only=True)
class FragmentTemplate:
    """Mako for sections that depend on the use. Name and text see `Kernel.values(call)` and the names in `given`."""

    name: str
    text: str
    needs: tuple[CodeFragment | FragmentTemplate, ...] = ()  # templates among them see the same values
    includes: tuple[str, ...] = ()
    owner: str = ""
    given: tuple[tuple[str, object], ...] = ()

    def of(self, **given: object) -> FragmentTemplate:
        """The same for these names."""
        return replace(self, given=(*self.given, *given.items()))


def ordered(fragments: Iterable[CodeFragment]) -> tuple[CodeFragment, ...]:
    """Every section once, in the order of first use, what it needs before it.

    Raises TilewrightError TW8060 (exit 8) where two sections of one name differ, or two define the same C name.
    """
    sections: dict[str, CodeFragment] = {}
    for section in fragments:
        _visit(section, sections)
    definers: dict[str, CodeFragment] = {}
    for section in sections.values():
        for name in sorted(definitions(section.text)):
            other = definers.setdefault(name, section)
            if other is not section:
                raise _clash(f"C name '{name}'", other, section)
    return tuple(sections.values())


def _visit(section: CodeFragment, sections: dict[str, CodeFragment]) -> None:
    key = section.name or section.text
    known = sections.get(key)
    if known is not None:
        if known.text != section.text:
            raise _clash(f"section '{section.name}'", known, section)
        return
    for need in section.needs:
        _visit(need, sections)
    sections[key] = section


def _clash(what: str, first: CodeFragment, second: CodeFragment) -> TilewrightError:
    return plugin_error(
        "TW8060",
        f"two kernels of the program define {what}, each with another text",
        details=(f"defined by {first.label}", f"and by     {second.label}"),
        fix=(
            typed("tilewright", "plugins", "list", gives="shows the packages"),
            "names in C should begin with the package's own",
        ),
    )


@lru_cache(maxsize=4096)
def definitions(text: str) -> frozenset[str]:
    """The names that `text` defines at the beginning of a line: functions, types, macros.

    Prototypes define nothing, nor does a macro that is for the case that nobody has defined it (`#ifndef`).
    """
    defined = {match["name"] for pattern in _DEFINITIONS for match in pattern.finditer(text)}
    return frozenset(defined - set(_IF_NOBODY_HAS.findall(text)))
