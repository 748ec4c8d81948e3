"""The comment above a step's function: nodes, kernel, and where every operand is."""

from __future__ import annotations

from typing import Any

from tilewright.ir.layout import row_major
from tilewright.lower.comments import MOST, type_text


def test_a_step_has_its_nodes_its_kernel_and_its_operands(toy: Any) -> None:
    comment = toy.program(toy.graph()).steps[1].comment
    assert comment == (
        "Step 1 of 4: ToyReverse",
        "  nodes    /turn",
        "  kernel   acme.toy_reverse",
        "  X        i8[1,10]  ram [20, 30)  biased",
        "  Y        i8[1,10]  ram [8, 18)   turned",
        "  scratch  u8[8]     ram [0, 8)",
    )


def test_names_of_a_model_cannot_end_a_comment(toy: Any) -> None:
    first = toy.program(toy.graph()).steps[0].comment
    assert first[1:3] == ("  nodes    /bias/Add", "           /bias/_/evil")
    assert not any("*/" in line for line in first)


def test_the_callers_memory_is_named_by_its_parameter(toy: Any) -> None:
    lines = toy.program(toy.graph(), io="user").steps[0].comment
    assert any("mfcc_0 [0, 10)" in line for line in lines)


def test_long_names_have_a_line_of_their_own(toy: Any) -> None:
    name = "x" * 100
    lines = toy.program(toy.graph(names=(name, "y"))).steps[0].comment
    assert f"           {name}" in lines
    assert all(len(line) <= MOST for line in lines)


def test_a_line_is_as_long_as_it_may_be(toy: Any) -> None:
    """Names begin at the same column, of which the indentation does not count."""
    before = next(line for line in toy.program(toy.graph()).steps[0].comment if "biased" in line).index("biased") - 2
    for letters, apart in ((MOST - before, False), (MOST - before + 1, True)):
        lines = toy.program(toy.graph(names=("x" * letters, "y"))).steps[0].comment
        assert (f"           {'x' * letters}" in lines) is apart
    assert MOST + len(" * ") < 120, "inside a comment of C"


def test_axes_are_named_where_they_are_not_in_order() -> None:
    assert type_text("i8", (1, 8, 25, 5), row_major(4)) == "i8[1,8,25,5]"
    assert type_text("i8", (1, 8, 25, 5), (0, 2, 3, 1)) == "i8[1,8,25,5] axes (0,2,3,1)"
    assert type_text("i8", (1, 8, 1, 1), (0, 2, 3, 1)) == "i8[1,8,1,1]", "the same bytes"
