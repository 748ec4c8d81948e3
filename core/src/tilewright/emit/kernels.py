"""Knows what a program has at file scope before its steps: what kernels rely on, then their sections, each once.
Does not know which file that becomes part of.

Sections are text: authors write them within the width, but names, types and lists of parameters that go into a
template make lines longer. Such a line is broken here, at a space between two parts of its code. Comments, texts and
macros stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from tilewright.c_text.layout import INDENT, WIDTH
from tilewright.ir.code_fragments import CodeFragment, ordered
from tilewright.ir.programs.program import Program
from tilewright.operators.c_code.c_source import c_fragment

_WHOLE = re.compile(r"""^\s*(?:\*\s[^(]|#).*|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|/\*.*?(?:\*/|$)|//.*""")
_OPERATORS = ("&& ", "|| ", "+ ", "- ", "* (", "? ", ": ", "| ", "== ")  # begin the next line


def kernel_fragments(program: Program) -> tuple[CodeFragment, ...]:
    """The sections in their order; none where no kernel of the program has any."""
    if not program.sources:
        return ()
    platform = program.allocated.tiled.scheduled.bound.platform
    own = CodeFragment(name="", text=platform.prelude.strip("\n"), owner=platform.name)
    sections = ordered((c_fragment("prelude.h"), *([own] if own.text else []), *program.sources))
    return tuple(replace(section, text=fitted(section.text)) for section in sections)


def fitted(text: str) -> str:
    """The same C in lines of at most 120 characters. One stays longer where there is nothing to break."""
    lines = text.split("\n")
    return text if max(map(len, lines)) <= WIDTH else "\n".join(_fitted(lines[::-1]))


def _fitted(waiting: list[str]) -> Iterator[str]:
    """`waiting` are the lines, the first one last."""
    macro = continued = False
    while waiting:
        line = waiting.pop()
        macro = macro or line.lstrip().startswith("#")
        place = None if macro or len(line) <= WIDTH else _place(line)
        if place is not None:
            waiting.append(_rest(line, place, waiting, continued=continued))
            line = line[:place].rstrip()
        yield line
        macro = macro and line.endswith("\\")
        continued = place is not None or line.endswith(",")


def _place(line: str) -> int | None:
    """The space at which to break: the last one in the fewest brackets, an assignment only where others are deep."""
    code = _WHOLE.sub(lambda whole: "." * len(whole[0]), line)
    depth, start = 0, len(line) - len(line.lstrip()) + len(INDENT)
    places = []
    for at, character in enumerate(code[: WIDTH + 1]):
        depth += (character in "([{") - (character in ")]}")
        if character == " " and at > start and (code[at - 1] in ",;=" or code.startswith(_OPERATORS, at + 1)):
            places.append((-depth - 2 * (code[at - 1] == "="), at))
    return max(places)[1] if places else None


def _rest(line: str, place: int, waiting: list[str], *, continued: bool) -> str:
    """The next line: what is left, and what of it stands in the line behind already. `continued`: `line` goes on from
    the one before it, so that what is left stands below it.
    """
    indent = len(line) - len(line.lstrip())
    deeper = 0 if continued and indent else len(INDENT) if indent else 2 * len(INDENT)
    left = f"{' ' * (indent + deeper)}{line[place + 1 :].lstrip()}"
    if left.endswith(",") and waiting and re.match(r" +[^\s#/*]", waiting[-1]):
        left = f"{left} {waiting.pop().lstrip()}"
    return left
