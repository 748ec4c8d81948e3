"""Words that generated C must not use as names: beside the keywords of the standard and the macros of a compiler."""

from __future__ import annotations

import re
import subprocess

import pytest

from tilewright.c_text.identifiers import safe_identifier
from tilewright.c_text.reserved_words import RESERVED
from tilewright.runners.toolchain import find_compiler

# C11, 6.4.1, without what begins with an underscore, as no identifier does
KEYWORDS = """auto break case char const continue default do double else enum extern float for goto if inline int long
register restrict return short signed sizeof static struct switch typedef union unsigned void volatile while"""
OBJECT_MACRO = re.compile(r"^#define (\w+)(?: |$)", re.MULTILINE)  # others need a parenthesis to be replaced


def macros(standard: str, *headers: str) -> set[str]:
    """The macros without parameters that a compiler knows after these headers."""
    text = "".join(f"#include <{header}.h>\n" for header in headers)
    command = [*find_compiler().command, f"-std={standard}", "-E", "-dM", "-x", "c", "-"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
    return set(OBJECT_MACRO.findall(done.stdout))


def test_words_are_looked_up_in_lower_case() -> None:
    assert all(re.fullmatch(r"[a-z][a-z0-9_]*", word) for word in RESERVED)


def test_keywords() -> None:
    assert set(KEYWORDS.split()) <= RESERVED


@pytest.mark.parametrize(("standard", "headers"), [
    ("c11", ["float", "limits", "math", "stdbool", "stddef", "stdint", "stdio", "stdlib", "string"]),
    ("gnu11", ["float", "math", "stddef", "stdint", "string"]),
], ids=["with main.c", "a network"])  # fmt: skip
def test_no_identifier_is_a_macro(standard: str, headers: list[str]) -> None:
    """A tensor may have any name; as a member of a struct, a macro's would become its value."""
    found = macros(standard, *headers)
    assert "INT8_MAX" in found and "NAN" in found
    assert sorted(name for name in found if safe_identifier(name) == name) == []
