"""What templates have printed that may not fit into one line."""

from __future__ import annotations

from tilewright.emit.lines import array, asserted, assigned, broken, call, head, macro
from tilewright.ir.programs.expressions import Name

LONG = "x" * 50


def test_what_fits_is_one_line() -> None:
    assert head("void", "f", ["int a"], ";") == "void f(int a);"
    assert call(1, "f", ["a", "b + 1"]) == "f(a, b + 1);"
    assert assigned(1, "a", Name("b")) == "a = b;"
    assert array("static int", "a", "4", ";") == "static int a[4];"
    assert asserted("A == B", "they differ") == '_Static_assert(A == B, "they differ");'
    assert macro("A", "1") == "#  define A 1"


def test_further_lines_are_indented_as_deep_as_the_template_is() -> None:
    first, *others = call(2, "f", [LONG, LONG, LONG]).split("\n")
    assert first == f"f({LONG}, {LONG}," and others == [f"          {LONG});"]


def test_long_names_have_lines_of_their_own() -> None:
    for text in (
        array(LONG, LONG, LONG, ";"),
        array(LONG, LONG * 2, LONG, ";"),
        macro(LONG, LONG * 2),
        asserted(LONG, LONG),
    ):
        assert "\n" in text and all(len(line) <= 120 for line in text.split("\n"))


def test_a_condition_is_broken_before_what_it_compares_with() -> None:
    lines = asserted(f"{LONG}{LONG} == {LONG}", "they differ").split("\n")
    assert lines == [f"_Static_assert({LONG}{LONG}", f"        == {LONG},", '        "they differ");']


def test_texts_are_in_one_line_or_each_in_its_own() -> None:
    assert broken(1, "return a", "? b : c;") == "return a ? b : c;"
    assert broken(1, LONG, LONG, LONG) == f"{LONG}\n        {LONG}\n        {LONG}"
