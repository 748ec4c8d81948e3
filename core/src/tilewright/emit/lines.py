"""Knows what templates have printed that may not fit into one line: heads of functions, calls, assignments, arrays.
Does not know which of them a file has. Lines but the first are indented; the template indents that one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tilewright.c_text.layout import INDENT, WIDTH, laid_out, prototype
from tilewright.ir.programs.expressions import Expression, FunctionCall, Verbatim


def head(kind: str, name: str, parameters: Sequence[str], after: str = "") -> str:
    """A function's head, or with `;` its declaration."""
    return "\n".join(prototype(kind, name, parameters, after))


def call(depth: int, function: str, arguments: Sequence[str]) -> str:
    """A statement."""
    return _indented(depth, "", FunctionCall(function, tuple(map(Verbatim, arguments))))


def assigned(depth: int, target: str, value: Expression) -> str:
    """A statement."""
    return _indented(depth, f"{target} = ", value)


def array(before: str, name: str, size: str, after: str) -> str:
    """The declaration of an array: what it is, its name and its size in one line, or each in one."""
    if len(f"{before} {name}[{size}]{after}") <= WIDTH:
        return f"{before} {name}[{size}]{after}"
    if len(f"{name}[{size}]{after}") <= WIDTH:
        return f"{before}\n{name}[{size}]{after}"
    return f"{before}\n{name}\n{INDENT}[{size}]{after}"


def asserted(condition: str, message: str) -> str:
    """A static assertion: the message in a line of its own where it does not fit behind the condition, and what the
    condition compares with where that does not fit either.
    """
    line = f'_Static_assert({condition}, "{message}");'
    if len(line) > WIDTH:
        line = f'_Static_assert({condition},\n{INDENT * 2}"{message}");'
    return line if len(condition) < WIDTH - len("_Static_assert(") else line.replace(" == ", f"\n{INDENT * 2}== ", 1)


def broken(depth: int, *texts: str) -> str:
    """Texts in one line where that has room for them, else each in its own."""
    line = " ".join(texts)
    return line if len(INDENT) * depth + len(line) <= WIDTH else f"\n{INDENT * (depth + 1)}".join(texts)


def macro(name: str, value: str) -> str:
    """A definition inside of an `#ifndef`."""
    line = f"#  define {name} {value}"
    return line if len(line) <= WIDTH else f"#  define {name} \\\n{INDENT * 2}{value}"


def _indented(depth: int, before: str, expression: Expression) -> str:
    lines = laid_out(before, expression, ";", WIDTH - depth * len(INDENT))
    return f"\n{INDENT * depth}".join(lines)


FOR_TEMPLATES: Mapping[str, object] = {
    "head": head,
    "call": call,
    "assigned": assigned,
    "array": array,
    "asserted": asserted,
    "broken": broken,
    "macro": macro,
}
