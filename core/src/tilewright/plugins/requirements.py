"""Knows what a line of a package's metadata asks of another package. Does not know which packages there are.

Most lines are a name and limits of plain numbers, which are compared here; reading the others is `packaging`'s, whose
import takes longer than reading the metadata of all plugins.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tilewright.ir.dataclass import dataclass

if TYPE_CHECKING:
    from packaging.specifiers import SpecifierSet

_LIMIT = r"(?:>=|<)\d+(?:\.\d+)*"
_SIMPLE = re.compile(rf"(?P<name>[A-Za-z0-9](?:[\w.-]*[A-Za-z0-9])?)(?P<limits>(?:{_LIMIT}(?:,{_LIMIT})*)?)", re.ASCII)
_NUMBERS = re.compile(r"\d+(?:\.\d+)*", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Limits of versions, comma-separated, as in the metadata but sorted; "" where any version will do."""

    limits: str

    def accepts(self, version: str) -> bool:
        """Whether it may be this version, pre-releases included."""
        if not self.limits:
            return True
        limits = self.limits.split(",")
        if not _NUMBERS.fullmatch(version) or not all(re.fullmatch(_LIMIT, limit) for limit in limits):
            return _specifiers(self.limits).contains(version, prereleases=True)
        there = _release(version)
        return all(
            there >= _release(limit[2:]) if limit.startswith(">=") else there < _release(limit[1:]) for limit in limits
        )

    def __str__(self) -> str:
        return self.limits


def asked_of(package: str, line: str) -> Asked | None:
    """What the requirement in `line` asks of `package`; None where it is about another one, or does not apply here.

    ValueError where `line` is no requirement.
    """
    if simple := _SIMPLE.fullmatch(line):
        limits = ",".join(sorted(filter(None, simple["limits"].split(","))))
        return Asked(limits=limits) if canonical_name(simple["name"]) == package else None
    from packaging.requirements import Requirement

    requirement = Requirement(line)  # whose error is a ValueError
    applies = requirement.marker is None or requirement.marker.evaluate({"extra": ""})
    same = canonical_name(requirement.name) == package
    return Asked(limits=str(requirement.specifier)) if same and applies else None


def canonical_name(name: str) -> str:
    """One spelling of a distribution's name: lower case, words joined by `-`."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _release(numbers: str) -> tuple[int, ...]:
    """Comparable: 1.2 is 1.2.0."""
    parts = [int(part) for part in numbers.split(".")]
    while parts and not parts[-1]:
        parts.pop()
    return tuple(parts)


def _specifiers(limits: str) -> SpecifierSet:
    from packaging.specifiers import SpecifierSet

    return SpecifierSet(limits)
