"""Steps that are the same but for where their operands begin: one function, and the same results."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tilewright.emit import EmitOptions, Vector
from tilewright.ir.programs.expressions import Name, Number
from tilewright.ir.programs.program import Program
from tilewright.ir.programs.statements import Declare, PartCall
from tilewright.transform import shared_steps as shared
from tilewright.transform.shared_steps import shared_steps


@pytest.fixture
def program(toy: Any, monkeypatch: pytest.MonkeyPatch) -> Program:
    """Steps 0 and 2 are the same layer, and so are 1 and 3; any cost is allowed."""
    monkeypatch.setattr(shared, "MOST_COST", 1e6)
    return toy.program(toy.graph())  # type: ignore[no-any-return]


def test_the_same_layers_have_one_function(program: Program) -> None:
    made = shared_steps(program)
    workers = [[part.function for part in step.parts] for step in made.steps]
    assert workers == [["toy_0_toybias_shared"], ["toy_1_toyreverse_shared"], [], []]
    (call,) = made.steps[2].body
    assert isinstance(call, PartCall) and call.function == "toy_0_toybias_shared"
    assert str(call.arguments[-1]) == "&toy_2_toybias_at"
    assert "TOYREVERSE_1_OUT" in made.steps[2].declarations[-1] and "TOYBIAS_2_OUT" in made.steps[2].declarations[-1]
    assert [step.function for step in made.steps] == [step.function for step in program.steps]


def test_the_function_names_no_offset(program: Program) -> None:
    (worker,) = shared_steps(program).steps[0].parts
    pointers = [str(one.value) for one in worker.body if isinstance(one, Declare)]
    assert pointers == [
        "(const int8_t *)(ram + at->x_0)",
        "(const int8_t *)(flash + at->b_1)",
        "(int8_t *)(ram + at->y_2)",
    ]


def test_results_are_the_same(toy: Any, tmp_path: Path, program: Program) -> None:
    x = np.arange(10, dtype=np.int8)[None]
    options = EmitOptions(vectors=(Vector(inputs={"mfcc:0": x}, outputs={"scores": toy.expected(toy.graph(), x)}),))
    files = toy.write(toy.artifact(shared_steps(program), options), tmp_path / "toy")
    assert "TW_SHARED void toy_0_toybias_shared(" in (files / "toy.c").read_text()
    (files / "toy_selftest.c").rename(tmp_path / "main.c")
    subprocess.run([toy.build([files], tmp_path / "main.c")], check=True)


def test_another_number_is_another_step(program: Program) -> None:
    more = Declare(type="const int32_t", name="n", value=Number(1))
    other = replace(program.steps[2], body=(more, *program.steps[2].body))
    made = shared_steps(replace(program, steps=(*program.steps[:2], other, program.steps[3])))
    assert made.steps[0] == program.steps[0] and made.steps[2] == other
    assert made.steps[1] != program.steps[1]


def test_an_offset_that_comes_twice_is_another_step_than_two_offsets(program: Program) -> None:
    body = program.steps[2].body
    first = next(one for one in body if isinstance(one, Declare))
    again = replace(first, value=Name(program.offsets["/bias.B"]))
    other = replace(program.steps[2], body=(again, *body[1:]))
    assert shared_steps(replace(program, steps=(*program.steps[:2], other, program.steps[3]))).steps[2] == other


def test_a_step_that_would_take_longer_keeps_its_own_code(toy: Any) -> None:
    program = toy.program(toy.graph())
    assert shared_steps(program) == program, "ten elements take less than a call"
