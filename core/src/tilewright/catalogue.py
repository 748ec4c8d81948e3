"""Knows the long text of every error code. Does not know who raises them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from types import MappingProxyType


@dataclass(frozen=True, slots=True, kw_only=True)
class Code:
    """An error code, its title, and what to do about it."""

    code: str
    title: str
    text: str


@cache
def catalogue() -> Mapping[str, Code]:
    """Every code of the core, from `codes.txt`: one line each, `CODE | title | text`."""
    lines = (files("tilewright") / "codes.txt").read_text(encoding="utf-8").splitlines()
    found = {}
    for line in lines:
        if line.strip() and not line.startswith("#"):
            code, title, text = (part.strip() for part in line.split("|", 2))
            found[code] = Code(code=code, title=title, text=text)
    return MappingProxyType(dict(sorted(found.items())))
