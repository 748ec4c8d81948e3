"""What a program has before its steps: the prelude of all, that of its target, and the sections of its kernels, in
lines of at most 120 characters; only white space has changed."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tilewright.c_text.layout import WIDTH
from tilewright.emit.kernels import fitted, kernel_fragments
from tilewright.ir.code_fragments import CodeFragment
from tilewright.ir.programs.program import Program
from tilewright.operators.c_code.c_source import c_fragment

LOW, HIGH = CodeFragment(name="low", text="int low;"), CodeFragment(name="high", text="int high;")
SOURCES = (replace(HIGH, needs=(LOW,)), LOW)


def program(toy: Any, prelude: str, sources: tuple[CodeFragment, ...]) -> Program:
    made: Program = toy.program(toy.graph())
    plan, scheduled = made.allocated, made.allocated.tiled.scheduled
    bound = replace(scheduled.bound, platform=replace(scheduled.bound.platform, prelude=prelude))
    tiled = replace(plan.tiled, scheduled=replace(scheduled, bound=bound))
    return replace(made, allocated=replace(plan, tiled=tiled), sources=sources)


@pytest.mark.parametrize(("prelude", "own"), [("", []), ("\n#define FAST 1\n", ["#define FAST 1"]), ("\n\n", [])])
def test_each_once_what_it_needs_before_it(prelude: str, own: list[str], toy: Any) -> None:
    found = kernel_fragments(program(toy, prelude, SOURCES))
    assert [section.text for section in found] == [c_fragment("prelude.h").text, *own, "int low;", "int high;"]


def test_no_kernel_needs_anything(toy: Any) -> None:
    assert kernel_fragments(program(toy, "#define FAST 1", ())) == ()


NAME = "tw_" + "x" * 70
SHORT = NAME[:60]
SIGNATURE = f"""TW_KERNEL void {SHORT}(const tw_conv p, const uint8_t *x, const uint32_t *w,
        uint8_t *y, uint32_t *scratch)
{{
}}"""


def test_what_fits_stays_as_it_is() -> None:
    text = "int32_t  a ;\n" + "x" * WIDTH + "\n"
    assert fitted(text) == text


def test_parameters_are_filled_into_the_lines_behind() -> None:
    assert fitted(SIGNATURE).split("\n") == [
        f"TW_KERNEL void {SHORT}(const tw_conv p, const uint8_t *x,",
        "        const uint32_t *w, uint8_t *y, uint32_t *scratch)",
        "{",
        "}",
    ]


def test_what_goes_on_for_several_lines_stays_in_one_column() -> None:
    parameters = ", ".join(f"const int32_t *parameter_{number}" for number in range(12))
    lines = fitted(f"void f({parameters})\n{{").split("\n")
    assert len(lines) == 5 and all(re.match(r" {8}const", line) for line in lines[1:-1])
    inside = fitted(f"    f(a,\n        {parameters});").split("\n")
    assert all(re.match(r" {8}const", line) for line in inside[1:])


def test_an_assignment_is_kept_with_its_value() -> None:
    lines = fitted(f"    y[0] = (int8_t)f((a[0] - zero) * (b[0] - zero), word, {SHORT}, {SHORT[:20]}, above);").split(
        "\n"
    )
    assert lines[0].startswith("    y[0] = (int8_t)f(") and lines[0].endswith(",")


def test_a_statement_is_broken_where_the_fewest_brackets_are_open() -> None:
    line = f"    const int32_t sum = first({NAME}, one, other) + second(one, other, {'y' * 20}, 1, 2);"
    assert (
        fitted(line)
        == f"    const int32_t sum = first({NAME}, one, other)\n        + second(one, other, {'y' * 20}, 1, 2);"
    )


@pytest.mark.parametrize(
    "line",
    [
        f"#define F(a, b) call({NAME}, a, b) + call({NAME}, b, a)",
        f'    print("{"a, b " * 30}");',
        f"    call({NAME}{NAME});",
        f" *   nodes    {NAME}/{NAME}",
        f"    x = 1; // a remark, which may not be broken: {'word ' * 20}",
    ],
    ids=["a macro", "a text", "a name", "a name in a comment", "a remark"],
)
def test_what_may_not_be_broken_stays_longer(line: str) -> None:
    assert len(line) > WIDTH
    inside = f"/*\n{line}\n */" if line.startswith(" *") else line
    assert fitted(inside) == inside or max(map(len, fitted(inside).split("\n"))) > WIDTH
    assert fitted(inside).replace("\n        ", " ") == inside


def test_a_macro_of_several_lines_stays() -> None:
    text = f"#define F(a) \\\n    call({NAME}, a, b) + call({NAME}, b, a); \\\n    more({NAME}, {NAME}, c)\nint x;"
    assert fitted(text) == text


def test_comments_and_texts_are_whole() -> None:
    behind = f"    call({NAME}, first, second); /* {'word, ' * 12}*/"
    assert fitted(behind) == f"    call({NAME}, first, second);\n        /* {'word, ' * 12}*/"
    for comment in (f"    /* {'word, ' * 30}*/", f" * {'word, ' * 30}"):
        assert fitted(comment) == comment


PIECES = st.sampled_from(
    ["a", "call(", ")", "{", "}", ", ", "; ", " = ", " + ", " - ", '"t, x \\" + "', "'\\''", "/* c, d + e */", SHORT,
     "\n", "\n    ", "\n#define X "]
)  # fmt: skip


@given(st.lists(PIECES, max_size=60))
def test_only_white_space_changes(pieces: list[str]) -> None:
    text = "".join(pieces)
    found = fitted(text)
    assert re.sub(r"\s+", "", found) == re.sub(r"\s+", "", text)
    for quoted in re.findall(r'"t, x \\" \+ "', text):
        assert found.count(quoted) == text.count(quoted)
    assert fitted(found) == found
