"""Knows how Mako text becomes a Python program in a twentieth of Mako's time, if it is of what most texts consist of.
Does not know the rest of Mako (filters, inheritance, loops' counters): such texts are Mako's, and so are wrong ones.

What is known: `${expression}`, lines of `% if`, `% for` and their like, `## comments`, `<% statements %>`, `<%def>`,
`<%doc>`, `<%text>`, and a backslash that joins lines.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from inspect import cleandoc
from types import CodeType

from tilewright.ir.dataclass import dataclass

_STRING = r"'(?:\\.|[^'\\\n])*'|\"(?:\\.|[^\"\\\n])*\""
_PART = re.compile(
    r"^[ \t]*%(?!%)[ \t]*(?P<control>[^\n]*)(?:\n|\Z)"
    r"|^[ \t]*\#\#[^\n]*(?:\n|\Z)"
    r"|<%doc>.*?</%doc>"
    r"|<%text>(?P<literal>.*?)</%text>"
    r'|<%def name="(?P<head>\w+\([^"]*\))">|(?P<end></%def>)'
    r"|<%\s(?P<statements>.*?)%>"
    rf"|\$\{{(?P<expression>(?:[^{{}}'\"|]|{_STRING}|\{{(?:[^{{}}'\"]|{_STRING})*\}})*)(?P<plain>\|\s*n\s*)?\}}"
    r"|\\\n",
    re.MULTILINE | re.DOTALL,
)
_BEYOND = re.compile(r"\$\{|</?%|^[ \t]*%|\r", re.MULTILINE)  # in what is left: more than is known here
_CONTROL = re.compile(r"(?P<end>end)?(?P<word>[a-z]+)\b.*", re.DOTALL)
_INNER = frozenset({"else", "elif", "except", "finally"})
_MAKOS_NAMES = frozenset(
    {"UNDEFINED", "STOP_RENDERING", "caller", "capture", "context", "local", "loop", "parent", "self"}
)


class _BeyondError(Exception):
    """The text has what only Mako knows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Quick:
    """A text that was understood, as code that calls `_add` with its parts."""

    code: CodeType
    shown: Callable[[object], str]  # what `${}` makes of a value

    def render(self, **values: object) -> str:
        """The text with these names. NameError for one that is not there; otherwise whatever the text raises."""
        parts: list[str] = []
        exec(self.code, {**values, "_add": parts.append, "_shown": self.shown})
        return "".join(parts)


def quick(text: str, shown: Callable[[object], str] = str) -> Quick | None:
    """The text as a program; None where it has to be Mako's."""
    try:
        code = compile(_Source().of(text), "<template>", "exec", dont_inherit=True)
    except (_BeyondError, SyntaxError):
        return None
    return None if any(_MAKOS_NAMES.intersection(names) for names in _names(code)) else Quick(code=code, shown=shown)


def _names(code: CodeType) -> Iterator[tuple[str, ...]]:
    """Those that the code and the functions in it look up beyond themselves."""
    yield code.co_names
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _names(inner)


class _Source:
    """The program of one text, line by line. Functions come first: a text may call them before it defines them."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.functions: list[str] = []
        self.outer: list[str] | None = None  # the text's own lines, inside a function
        self.depth = 0

    def of(self, text: str) -> str:
        """SyntaxError, later, where blocks are not closed as they should be."""
        at = 0
        for part in _PART.finditer(text):
            self._literal(_known(text, at, part.start()))
            at = part.end()
            self._part(part)
        self._literal(_known(text, at, len(text)))
        if self.depth:
            raise _BeyondError
        return "\n".join((*self.functions, *self.lines))

    def _part(self, part: re.Match[str]) -> None:
        if (control := part["control"]) is not None:
            self._control(control.strip())
        elif (expression := part["expression"]) is not None:
            # in lines of their own, since an expression may span several, and end with a comment
            self._line(f"_add({'str' if part['plain'] else '_shown'}(\n{expression.strip()}\n))")
        elif (statements := part["statements"]) is not None:
            if '"""' in statements or "'''" in statements:
                raise _BeyondError  # their margins are not for us to change
            for line in cleandoc(statements).splitlines():
                self._line(line)
        elif part["head"] is not None or part["end"] is not None:
            self._function(part["head"])
        else:
            self._literal(part["literal"] or "")

    def _line(self, text: str) -> None:
        self.lines.append(" " * self.depth + text)

    def _literal(self, text: str) -> None:
        if text:
            self._line(f"_add({text!r})")

    def _control(self, line: str) -> None:
        found = _CONTROL.fullmatch(line)
        if found is None:
            raise _BeyondError
        if found["end"] or found["word"] in _INNER:
            self._line("pass")
            self.depth -= 1
        if not found["end"]:
            self._line(line)
            self.depth += 1

    def _function(self, head: str | None) -> None:
        """Begin a function, or end it. Calling it adds its text, and is worth none."""
        if (head is None) == (self.outer is None):
            raise _BeyondError
        if self.outer is None:
            if self.depth:
                raise _BeyondError
            self.outer, self.lines, self.depth = self.lines, [f"def {head}:"], 1
        else:
            self._line("return ''")
            if self.depth != 1:
                raise _BeyondError
            self.functions += self.lines
            self.lines, self.outer, self.depth = self.outer, None, 0


def _known(text: str, first: int, last: int) -> str:
    if _BEYOND.search(text, first, last):
        raise _BeyondError
    return text[first:last]
