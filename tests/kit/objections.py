"""Knows what a reviewer would object to in generated C. Does not know what the C computes."""

from __future__ import annotations

import re

OBJECTIONS = {
    "a cast of a cast": r"\([\w ]+\*\)\([\w ]+\*\)",
    "nothing is added": r" [+-] 0\b(?![.x]| \*)",
    "times nothing": r"(?<![\w.])0 \* | \* 0\b(?![.x])",
    "times one": r"(?<![\w.])1 \* (?!sizeof)| \* 1\b(?![.x])",
    "parentheses around a name": r"(?<=[-+*/,=] )\(\w+(\.\w+)*\)(?![\w({\[])",
    "an empty function": r"\)\n\{\n\}",
    "a comma before a full stop": r",\s*\.(?!\w)[^\n]*\*/",
    "an offset without a name": r"\b(ram|flash|l1|l2) \+ \d",
}


LONG_NAME = 60  # characters of a name of the model's, which stays whole however long it is


def objections(text: str) -> list[str]:
    """What is wrong in the part that is written for the program; kernels above it are files of their own."""
    own = text.partition("/* ---- steps ---- */")[2]
    found = [f"{what}: {match[0]!r}" for what, form in OBJECTIONS.items() for match in re.finditer(form, own)]
    lines = [line for line in own.split("\n") if len(line) > 120 and len(line.split()[-1]) < LONG_NAME]
    return [*found, *(f"a long line: {line}" for line in lines)]
