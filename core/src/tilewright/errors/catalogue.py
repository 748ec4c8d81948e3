"""Knows the long text of every error code, and what exit codes mean. Does not know who raises them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from textwrap import dedent
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
    """An error code, its title, what to do about it, and where that is to write a file, the lines of one."""

    code: str
    title: str
    text: str
    example: tuple[str, ...] = ()


@cache
def catalogue() -> Mapping[str, Code]:
    """Every code of the core, from `codes.txt`: one line each, `CODE | title | text`, and below it, indented, an
    example.
    """
    text = (files("tilewright.errors") / "codes.txt").read_text(encoding="utf-8")
    codes = [_code(entry) for entry in re.split(r"\n(?=\S)", text.rstrip())]
    return MappingProxyType({code.code: code for code in sorted(codes, key=lambda code: code.code)})


def _code(entry: str) -> Code:
    head, *example = entry.splitlines()
    code, title, text = (part.strip() for part in head.split("|", 2))
    return Code(code=code, title=title, text=text, example=tuple(dedent("\n".join(example)).splitlines()))
