"""Knows the long text of every error code, and what exit codes mean. Does not know who raises them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from types import MappingProxyType

from tilewright.errors.diagnostics import Exit

EXITS: Mapping[Exit, str] = MappingProxyType(
    {
        Exit.OK: "done",
        Exit.INTERNAL: "a bug of tilewright: please report it",
        Exit.USAGE: "wrong command line, option or configuration; or a place that cannot be written",
        Exit.MODEL: "the model, or an imported state, is unreadable or invalid",
        Exit.UNSUPPORTED: "an operator, type or shape that is valid and not supported",
        Exit.DOES_NOT_FIT: "it does not fit into the memory",
        Exit.MISMATCH: "validation found a difference",
        Exit.TOOLCHAIN: "a compiler, simulator or board is missing or failed",
        Exit.PLUGIN: "a plugin is missing, broken, incompatible or blocked",
        Exit.GATE: "a budget or gate was exceeded",
        Exit.TIME_LIMIT: "the budget of work ended the search before there was a plan that fits",
        Exit.INTERRUPTED: "interrupted (Ctrl-C): nothing was written",
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Code:
    """An error code, its title, and what to do about it."""

    code: str
    title: str
    text: str


@cache
def catalogue() -> Mapping[str, Code]:
    """Every code of the core, from `codes.txt`: one line each, `CODE | title | text`."""
    lines = (files("tilewright.errors") / "codes.txt").read_text(encoding="utf-8").splitlines()
    found = {}
    for line in lines:
        if line.strip() and not line.startswith("#"):
            code, title, text = (part.strip() for part in line.split("|", 2))
            found[code] = Code(code=code, title=title, text=text)
    return MappingProxyType(dict(sorted(found.items())))
