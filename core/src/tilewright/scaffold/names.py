"""Knows which name a new package can have, and what it is called in Python, in C and in sentences.
Does not know what is in the package.
"""

from __future__ import annotations

import keyword
import re
import sys
from dataclasses import dataclass

from tilewright.errors import typed, usage_error
from tilewright.plugins.catalogue import discover
from tilewright.plugins.kinds import CORE, announced_names, kind_named

LONGEST = 24  # characters: lines of the templates keep to their length with any such name
_FORM = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")


@dataclass(frozen=True, slots=True, kw_only=True)
class PackageName:
    """`acme-one`: the distribution, and what it offers."""

    name: str

    @property
    def module(self) -> str:
        """As Python imports it, and as its names in C begin."""
        return self.name.replace("-", "_")

    @property
    def macro(self) -> str:
        """As its macros in C begin."""
        return self.module.upper()

    @property
    def title(self) -> str:
        """In a sentence."""
        return " ".join(word.capitalize() for word in self.name.split("-"))


def package_name(name: str, kind: str) -> PackageName:
    """The name of a package that offers one thing of this kind, called the same.

    TilewrightError (exit 2): TW8014 for what no package can be called, TW8015 for what is offered already.
    """
    if reason := _unfit(name):
        raise usage_error(
            "TW8014",
            f"a package cannot be called '{name}': {reason}",
            fix=(f"take a name such as {_similar(name)}",),
        )
    if name in announced_names(kind):
        owners = [package.name for package in discover().packages if _offers(package.offers, kind, name)]
        raise usage_error(
            "TW8015",
            f"there is a {kind_named(kind).label} '{name}' already, from {' and '.join(owners)}",
            fix=("take another name", typed("tilewright", "plugins", "list", gives="shows the names that are taken")),
        )
    return PackageName(name=name)


def _offers(offers: tuple[object, ...], kind: str, name: str) -> bool:
    return any((getattr(offer, "kind", ""), getattr(offer, "name", "")) == (kind, name) for offer in offers)


def _unfit(name: str) -> str:
    """Why not; "" where it can."""
    module = name.replace("-", "_")
    if not _FORM.fullmatch(name):
        return "it must be small letters and digits, words joined by '-', a letter first"
    if len(name) > LONGEST:
        return f"it has {len(name)} characters, at most {LONGEST} are good"
    if keyword.iskeyword(module) or keyword.issoftkeyword(module):
        return f"'{module}' is a word of Python"
    if module in sys.stdlib_module_names:
        return f"'{module}' is a module of Python"
    if module == CORE or module.startswith(f"{CORE}_"):
        return f"names that begin with '{CORE}' are those of its own packages"
    return ""


def _similar(name: str) -> str:
    """A name that can be taken."""
    words = [word for word in re.split(r"[^a-z0-9]+", name.lower()) if word and word != CORE]
    made = "-".join(words).lstrip("0123456789-")[:LONGEST].rstrip("-")
    return made if made and made != name and not _unfit(made) else f"acme-{made[: LONGEST - 5] or 'one'}".rstrip("-")
