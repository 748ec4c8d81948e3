"""Knows how C is laid out in lines of at most 120 characters, where a name put into a template has made one longer.
Does not know what the text means: names, texts and macros stay whole, and only white space changes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

WIDTH = 120
_INDENT = 4
_LEAST = 40  # characters of a comment that stand before a break: a long name behind a short word stays where it is
_TOKEN = re.compile(r"""(?P<text>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|//.*)|(?P<comment>/\*.*?(?:\*/|$))|.""")
_OPERATORS = ("&& ", "|| ", "+ ", "- ", "* (", "? ", ": ", "| ", "== ")  # begin the next line


def fitted(text: str) -> str:
    """The same program. A line stays longer where there is nothing to break: a long name, a text, a macro."""
    lines = text.split("\n")
    return text if max(map(len, lines)) <= WIDTH else "\n".join(_fitted(lines[::-1]))


def _fitted(waiting: list[str]) -> Iterator[str]:
    """`waiting` are the lines, the first one last."""
    macro = comment = continued = False
    while waiting:
        line = waiting.pop()
        macro = macro or line.lstrip().startswith("#")
        kinds = [] if macro or len(line) <= WIDTH else _kinds(line, comment)
        place = _place(line, kinds) if kinds else None
        if place is not None:
            waiting.append(_rest(line, place, kinds, waiting, continued=continued))
            line = line[:place].rstrip()
        yield line
        macro = macro and line.endswith("\\")
        comment = _goes_on(line, comment)
        continued = place is not None or line.endswith(",")


def _kinds(line: str, comment: bool) -> list[str]:
    """What each character is of: "code", "text" or "comment". `comment`: the line begins inside of one."""
    inside = 0
    if comment:
        inside = line.index("*/") + 2 if "*/" in line else len(line)
    kinds = ["comment"] * inside
    for token in _TOKEN.finditer(line, inside):
        kinds += [token.lastgroup or "code"] * len(token[0])
    return kinds


def _goes_on(line: str, comment: bool) -> bool:
    """Whether a comment is open behind the line."""
    if ("*/" if comment else "/*") not in line:
        return comment
    tokens = list(_TOKEN.finditer(line, line.index("*/") + 2 if comment else 0))
    return bool(tokens) and tokens[-1].lastgroup == "comment" and not tokens[-1][0].endswith("*/")


def _place(line: str, kinds: list[str]) -> int | None:
    """The space at which to break: the last of a comment that is too long, else the one in the fewest brackets, an
    assignment only where all others are deep."""
    depth, start = 0, len(line) - len(line.lstrip()) + _INDENT
    code, words = [], []
    for at, character in enumerate(line[: WIDTH + 1]):
        if kinds[at] == "code":
            depth += (character in "([{") - (character in ")]}")
            if character == " " and at > start and (line[at - 1] in ",;=" or line.startswith(_OPERATORS, at + 1)):
                code.append((-depth - 2 * (line[at - 1] == "="), at))
        elif kinds[at] == "comment" and character == " " and at > _LEAST and line[at + 1 :].strip() != "*/":
            words.append(at)
    if kinds[WIDTH] == "comment" or not code:
        return words[-1] if words else None
    return max(code)[1]


def _rest(line: str, place: int, kinds: list[str], waiting: list[str], *, continued: bool) -> str:
    """The next line: what is left, and what of it stands in the line behind already. `continued`: `line` goes on from
    the one before it, so that what is left stands below it."""
    left, indent = line[place + 1 :].lstrip(), len(line) - len(line.lstrip())
    if kinds[place] == "comment":
        opening = line.rfind("/*", 0, place)
        left = f"{' ' * opening} * {left}" if opening >= 0 else f"{line[:indent]}* {left}"
        more = re.match(r" *\* (?=\w)", waiting[-1]) if waiting and "*/" not in left else None
        return f"{left} {waiting.pop()[more.end() :]}" if more else left
    deeper = 0 if continued and indent else _INDENT if indent else 2 * _INDENT
    left = f"{' ' * (indent + deeper)}{left}"
    if left.endswith(",") and waiting and re.match(r" +[^\s#/*]", waiting[-1]):
        left = f"{left} {waiting.pop().lstrip()}"
    return left
