"""The comment above a step's function: nodes, kernel, and where every operand is."""

from __future__ import annotations

from typing import Any

import pytest

from tilewright.ir.tensors.layout import row_major
from tilewright.lower.steps.step_comments import MOST, type_text


def test_a_step_has_its_nodes_its_kernel_and_its_operands(toy: Any) -> None:
    comment = toy.program(toy.graph()).steps[1].comment
    assert comment == (
        "Step 1 of 4: ToyReverse",
        "  nodes    turn",
        "  kernel   acme.toy_reverse",
        "  X        i8[1,10]  ram [20, 30)  biased",
        "  Y        i8[1,10]  ram [8, 18)   turned",
        "  scratch  u8[8]     ram [0, 8)",
    )


def test_names_of_a_model_cannot_end_a_comment(toy: Any) -> None:
    program = toy.program(toy.graph())
    assert program.steps[0].comment[1] == "  nodes    Add (+1)"
    assert [one.names for one in program.names if one.of.startswith("step 0,")] == [("/bias/_/evil",)]
    assert not any("*/" in line for one in program.names for line in (one.of, *one.names))


def test_the_callers_memory_is_named_by_its_parameter(toy: Any) -> None:
    lines = toy.program(toy.graph(), io="user").steps[0].comment
    assert any("mfcc_0 [0, 10)" in line for line in lines)


@pytest.mark.parametrize("letters", range(50, 130))
def test_no_line_is_longer_than_it_may_be(toy: Any, letters: int) -> None:
    """What does not fit goes on below what the line is about."""
    lines = toy.program(toy.graph(names=("x y " * (letters // 4), "y"))).steps[0].comment
    assert all(len(line) <= MOST for line in lines) and any("x y" in line or "x_y" in line for line in lines)
    assert MOST + len(" * ") < 120, "inside a comment of C"


def test_axes_are_named_where_they_are_not_in_order() -> None:
    assert type_text("i8", (1, 8, 25, 5), row_major(4)) == "i8[1,8,25,5]"
    assert type_text("i8", (1, 8, 25, 5), (0, 2, 3, 1)) == "i8[1,8,25,5] axes (0,2,3,1)"
    assert type_text("i8", (1, 8, 1, 1), (0, 2, 3, 1)) == "i8[1,8,1,1]", "the same bytes"
