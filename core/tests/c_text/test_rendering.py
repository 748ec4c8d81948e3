"""A kernel's templates as C: what is undefined is an error, and which names are in it is known."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from tilewright.c_text.rendering import render_call, render_source, render_wait, rendered
from tilewright.errors import TilewrightError
from tilewright.ir.code_fragments import CodeFragment, FragmentTemplate
from tilewright.ir.machines.kernel import Kernel
from tilewright.ir.programs.expressions import FunctionCall, Name, Number, Struct
from tilewright.ir.programs.statements import Foreign

KERNEL = Kernel(name="k", op="Op", values=lambda call: {"count": 7}, call="run(${count}, ${X});", wait="")
CALL: Any = SimpleNamespace(operands={"X": "my_x"}, extents={"i": "n"}, bases=())


def test_values_operands_and_loops_are_filled_in() -> None:
    assert str(render_call(KERNEL, CALL)) == "run(7, my_x)"
    assert str(render_call(replace(KERNEL, call="run(${loops['i']});"), CALL)) == "run(n)"


def test_what_is_not_defined_is_an_error() -> None:
    with pytest.raises(TilewrightError, match="`call` has a name that it is not given: 'nothing' is not") as caught:
        render_call(replace(KERNEL, call="run(${nothing});"), CALL)
    assert (caught.value.code, caught.value.details) == (
        "TW8062",
        ("it is given: X, added, bases, count, loops, times",),
    )


@pytest.mark.parametrize("source", ["int ${nothing};", (FragmentTemplate(name="${nothing}", text="int a;"),)])
def test_nor_may_a_source_have_another_name(source: Any) -> None:
    with pytest.raises(TilewrightError, match=r"TW8062.*`source` has a name that it is not given"):
        render_source(replace(KERNEL, source=source), CALL)


def test_values_are_names() -> None:
    with pytest.raises(TilewrightError, match="kernel 'k': values must return a mapping from names, found str 'seven'"):
        render_call(replace(KERNEL, values=lambda call: "seven"), CALL)


def test_only_asynchronous_kernels_are_waited_for() -> None:
    assert render_wait(KERNEL, CALL) is None
    assert str(render_wait(replace(KERNEL, wait="finish(${X});"), CALL)) == "finish(my_x)"


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("a = b[i] + f(2);", {"a", "b", "i", "f"}),
        ("p->member.other = (int8_t)q;", {"p", "int8_t", "q"}),
        ('/* not this */ log("nor \\" this", x);', {"log", "x"}),
        ("v = 0x1Fu + 1e5f;", {"v"}),
        ("{.rows = n, . columns = m}", {"n", "m"}),
    ],
)
def test_names_in_text_are_those_of_variables_and_functions(text: str, names: set[str]) -> None:
    assert rendered(text, {}).names == names


def test_source_is_one_section_or_those_that_it_names() -> None:
    assert render_source(KERNEL, CALL) == ()
    (only,) = render_source(replace(KERNEL, source="\nint seven = ${count};\n"), CALL)
    assert (only.name, only.text, only.owner) == ("", "int seven = 7;", "k")
    assert render_source(replace(KERNEL, source="% if count > 9:\nmany\n% endif"), CALL) == ()


def test_sections_are_rendered_with_what_they_need_and_what_they_are_given() -> None:
    plain = CodeFragment(name="plain", text="int plain;", owner="k")
    inner = FragmentTemplate(name="inner_${size}", text="int inner[${count}];", given=(("size", 4),), owner="k")
    outer = FragmentTemplate(
        name="outer", text="int outer[${size}];", given=(("size", 9),), needs=(inner, plain), owner="k"
    )
    (found,) = render_source(replace(KERNEL, source=(outer,)), CALL)
    assert (found.name, found.text) == ("outer", "int outer[9];")
    assert [(one.name, one.text) for one in found.needs] == [("inner_4", "int inner[7];"), ("plain", "int plain;")]
    chosen = replace(KERNEL, source=lambda values: (plain,) if values["count"] == 7 else ())
    assert render_source(chosen, CALL) == (plain,)


def test_one_call_is_an_expression_and_loops_around_calls_keep_their_depth() -> None:
    call = render_call(KERNEL, CALL)
    assert call == FunctionCall("run", (Number(7), Name("my_x")))
    loop = render_call(replace(KERNEL, call="for (;;) {\n    run(${count},\n        ${X});\n}"), CALL)
    assert isinstance(loop, Foreign) and loop.names == {"for", "run", "my_x"}
    assert loop.lines == ((0, "for (;;) {"), (1, call), (0, "}"))


def test_a_call_inside_of_a_loop_is_an_expression_whatever_its_lines_end_with() -> None:
    text = "for (;;)\nrun((shape){\n        .count = ${count},\n    }, ${X});"
    loop = render_call(replace(KERNEL, call=text), CALL)
    struct = Struct("shape", (Number(7),), ("count",))
    assert isinstance(loop, Foreign)
    assert loop.lines == ((0, "for (;;) {"), (1, FunctionCall("run", (struct, Name("my_x")))), (0, "}"))


def test_loops_around_one_statement_have_braces() -> None:
    text = "for (a)\nfor (b)\n*(${X}) = run(${count});"
    assert str(render_call(replace(KERNEL, call=text), CALL)) == (
        "for (a) {\n    for (b) {\n        *(my_x) = run(7);\n    }\n}"
    )
    for two in ("for (a)\nrun(1);\nrun(2);", "for (a)\nif (b) { run(1); }"):
        assert str(render_call(replace(KERNEL, call=two), CALL)) == two
