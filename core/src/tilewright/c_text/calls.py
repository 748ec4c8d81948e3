"""Knows how the call of a function that a kernel's author wrote in C becomes an expression, once, when it comes in.
Does not know what is called, nor how expressions are printed. What is no plain call stays the author's text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tilewright.ir.programs.expressions import Expression, FunctionCall, Name, Number, Reference, Struct, Verbatim

# Words of C that name something: not in comments, strings, numbers, nor after a `.` or `->`.
_WORDS = re.compile(r"""/\*.*?\*/|"(?:\\.|[^"\\])*"|\d[\w.]*|(?:\.|->)\s*[A-Za-z_]\w*|([A-Za-z_]\w*)""", re.DOTALL)
_CALL = re.compile(r"(\w+)\((.*)\)", re.DOTALL)
_STRUCT = re.compile(r"(?:\((\w[\w *]*)\))?\{(.*)\}", re.DOTALL)
_MEMBER = re.compile(r"\.(\w+) = (.*)", re.DOTALL)
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)")
_OPENING, _CLOSING = "([{", ")]}"


def words(text: str) -> frozenset[str]:
    """The identifiers in C."""
    return frozenset(word for word in _WORDS.findall(text) if word)


def read_statement(text: str) -> FunctionCall | None:
    """`function(arguments);` as an expression; None for all else."""
    body = text.strip()
    if not body.endswith(";") or any(mark in body for mark in ('"', "'", "/*", "//", "#")):
        return None
    return _call(body[:-1].strip())


def _call(text: str) -> FunctionCall | None:
    match = _CALL.fullmatch(text)
    if match is None or match[1][0].isdigit() or not _is_closed(match[2]):
        return None
    return FunctionCall(match[1], tuple(map(_argument, _listed(match[2]))))


def _argument(text: str) -> Expression:
    if _NUMBER.fullmatch(text):
        return Number(int(text))
    if text.isidentifier():
        return Name(text)
    if text.startswith("&") and isinstance(inner := _argument(text[1:]), (Name, Struct)):
        return Reference(inner)
    return _struct(text) or _call(text) or Verbatim(" ".join(text.split()), words(text))


def _struct(text: str) -> Struct | None:
    match = _STRUCT.fullmatch(text)
    if match is None or not _is_closed(match[2]):
        return None
    fields = tuple(_listed(match[2]))
    members = [_MEMBER.fullmatch(member) for member in fields]
    if all(members) and members:
        named = [member for member in members if member]
        return Struct(
            match[1] or "", tuple(_argument(member[2]) for member in named), tuple(member[1] for member in named)
        )
    return None if any(members) else Struct(match[1] or "", tuple(map(_argument, fields)))


def _is_closed(text: str) -> bool:
    """Whether every bracket in it is closed in it, so that what stands around it is one pair."""
    depth = 0
    for character in text:
        depth += (character in _OPENING) - (character in _CLOSING)
        if depth < 0 or character == ";":
            return False
    return depth == 0


def _listed(text: str) -> Iterator[str]:
    """What stands between the commas that are in no brackets; a comma at the end ends nothing."""
    depth, start = 0, 0
    for at, character in enumerate(text):
        depth += (character in _OPENING) - (character in _CLOSING)
        if character == "," and not depth:
            yield text[start:at].strip()
            start = at + 1
    if text[start:].strip():
        yield text[start:].strip()
