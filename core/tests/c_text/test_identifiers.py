"""Hostile names become harmless ones."""

from __future__ import annotations

import re
import subprocess

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tilewright.c_text.identifiers import (
    MAX_COMMENT_WORD,
    MAX_IDENTIFIER,
    RESERVED,
    comment_text,
    prefix_from_file,
    prefix_problem,
    safe_identifier,
    unique_identifiers,
)
from tilewright.runners.toolchain import find_compiler

HOSTILE = (
    "",
    "int",
    "INT",
    "class",
    "printf",
    "tw_ram",
    "__reserved",
    "9lives",
    "a.b",
    "a_b",
    "A_B",
    'x"; system("rm -rf /"); //',
    "*/ int evil; /*",
    "line\nbreak",
    "back\\\nslash",
    "??/",
    "é\u202e\u200b",
    "x" * 100_000,
    "_",
    "naïve",
    "/model/conv1/Conv_output_0",
)
IDENTIFIER = re.compile(r"[A-Za-z](?:_?[A-Za-z0-9])*\Z")


@given(st.text(max_size=80) | st.sampled_from(HOSTILE))
@example("tw_")
@example("x" * 39 + "_y")
def test_every_text_becomes_a_safe_identifier(text: str) -> None:
    name = safe_identifier(text)
    assert IDENTIFIER.match(name)
    assert name.lower() not in RESERVED
    assert not name.lower().startswith("tw_")
    assert len(name) <= MAX_IDENTIFIER + 2


@pytest.mark.slow
@given(st.lists(st.text(max_size=6) | st.sampled_from(HOSTILE), max_size=30))
@example(["a", "a_2", "A", "a.", "a_2_2", "A_2"])
def test_identifiers_are_unique_whatever_their_case(texts: list[str]) -> None:
    names = unique_identifiers(texts, taken=("ram",))
    assert set(names) == set(texts)
    folded = [name.lower() for name in names.values()]
    assert len(set(folded)) == len(folded)
    assert "ram" not in folded
    assert all(IDENTIFIER.match(name) for name in names.values())


@pytest.mark.slow
@given(st.text(max_size=200) | st.sampled_from(HOSTILE))
@example("///*/")
@example("/" + "x" * 29 + "/" + "y" * 99)
def test_comments_cannot_be_left(text: str) -> None:
    clean = comment_text(text)
    assert clean.isascii()
    assert len(clean) <= MAX_COMMENT_WORD
    for poison in ("*/", "/*", "//", "\n", "\\", "??", '"'):
        assert poison not in clean


@given(st.text(max_size=60) | st.sampled_from(HOSTILE))
def test_a_prefix_from_any_file_name_is_one_the_user_could_choose(stem: str) -> None:
    prefix = prefix_from_file(stem)
    assert prefix_problem(prefix) is None, prefix
    assert prefix == prefix.lower()


@pytest.mark.parametrize("prefix", ["", "9", "a__b", "a-b", "_a", "a_", "main", "Exp", "tw_x", "tw", "x" * 41, "ä"])
def test_bad_prefixes_are_refused(prefix: str) -> None:
    assert prefix_problem(prefix)


def test_ordinary_names_stay_readable() -> None:
    assert prefix_from_file("kws_int8") == "kws_int8"
    assert safe_identifier("input_1") == "input_1"
    assert safe_identifier("serving_default/mfcc:0") == "serving_default_mfcc_0"
    assert comment_text("/model/conv1/Conv_output_0") == "/model/conv1/Conv_output_0"


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
