"""Knows what a requirement in the metadata of a package asks of the core, and whether this version is what it asks for.
Does not know packages, nor what becomes of one whose requirement is not met.

Nearly all are plain, like `tilewright>=0.1,<0.2`, and read here; `packaging`, which reads every form, takes a tenth of
the import of onnx to be imported.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_LEAST, _BELOW = (rf"{sign}[0-9]+(?:\.[0-9]+)*" for sign in (">=", "<"))
_BOUNDS = rf"(?:{_LEAST}(?:,{_BELOW})?|{_BELOW}(?:,{_LEAST})?)?"
_PLAIN = re.compile(rf"([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)({_BOUNDS})")
_RELEASE = re.compile(r"[0-9]+(?:\.[0-9]+)*")


@dataclass(frozen=True, slots=True)
class Demand:
    """On one distribution: the requirement in its usual spelling, and whether a version meets it."""

    requirement: str
    met: bool


def normal_name(name: str) -> str:
    """The name of a distribution as indices compare it (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def demand_on(distribution: str, version: str, line: str) -> Demand | None:
    """What one line asks of a version of a distribution; None where it asks nothing of it.

    ValueError where the line cannot be read.
    """
    plain = _PLAIN.fullmatch(line)
    if plain is None or not _RELEASE.fullmatch(version):
        return _any_form(distribution, version, line)
    if normal_name(plain[1]) != distribution:
        return None
    bounds = sorted(plain[2].split(",")) if plain[2] else []
    return Demand(f"{distribution}{','.join(bounds)}", all(_meets(version, bound) for bound in bounds))


def _meets(version: str, bound: str) -> bool:
    least = bound.startswith(">=")
    return (_release(version) < _release(bound.lstrip("<>="))) is not least


def _release(text: str) -> tuple[int, ...]:
    """The numbers without zeros at the end, which make no difference."""
    numbers = [int(part) for part in text.split(".")]
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers)


def _any_form(distribution: str, version: str, line: str) -> Demand | None:
    from packaging.requirements import Requirement

    requirement = Requirement(line)  # InvalidRequirement is a ValueError
    applies = requirement.marker is None or requirement.marker.evaluate({"extra": ""})
    if normal_name(requirement.name) != distribution or not applies:
        return None
    return Demand(f"{distribution}{requirement.specifier}", requirement.specifier.contains(version, prereleases=True))
