"""Steps that are the same but for where their operands begin: one function, and the same results."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tilewright.emit import EmitOptions, Vector
from tilewright.ir.machines.kernel import Sharing
from tilewright.ir.programs.expressions import FunctionCall, Name, Number
from tilewright.ir.programs.program import Part, Program
from tilewright.ir.programs.statements import Declare, KernelCall, PartCall
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
    assert str(call.arguments[-1]) == "&toy_2_toybias_layer"
    assert "TOYREVERSE_1_OUT" in made.steps[2].declarations[-1] and "TOYBIAS_2_OUT" in made.steps[2].declarations[-1]
    assert [step.function for step in made.steps] == [step.function for step in program.steps]


def test_the_function_names_only_what_all_steps_have(program: Program) -> None:
    (worker,) = shared_steps(program).steps[0].parts
    pointers = [str(one.value) for one in worker.body if isinstance(one, Declare)]
    assert pointers == [
        "(const int8_t *)(ram + layer->x)",
        "(const int8_t *)(flash + TOYBIAS_0_B)",
        "(int8_t *)(ram + layer->y)",
    ]


def test_results_are_the_same(toy: Any, tmp_path: Path, program: Program) -> None:
    x = np.arange(10, dtype=np.int8)[None]
    options = EmitOptions(vectors=(Vector(inputs={"mfcc:0": x}, outputs={"scores": toy.expected(toy.graph(), x)}),))
    files = toy.write(toy.artifact(shared_steps(program), options), tmp_path / "toy")
    assert "TW_SHARED void toy_0_toybias_shared(" in (files / "toy.c").read_text()
    (files / "toy_selftest.c").rename(tmp_path / "main.c")
    subprocess.run([toy.build([files], tmp_path / "main.c")], check=True)


def test_another_statement_is_another_step(program: Program) -> None:
    more = Declare(type="const int32_t", name="n", value=Number(1))
    other = replace(program.steps[2], body=(more, *program.steps[2].body))
    made = shared_steps(replace(program, steps=(*program.steps[:2], other, program.steps[3])))
    assert made.steps[0] == program.steps[0] and made.steps[2] == other
    assert made.steps[1] != program.steps[1]


def test_numbers_that_differ_are_members_and_others_stay(program: Program) -> None:
    steps = list(program.steps)
    for at, size in ((0, 6), (2, 8)):
        numbers = (
            Declare(type="const int32_t", name=name, value=Number(n)) for name, n in (("size", size), ("two", 2))
        )
        steps[at] = replace(steps[at], body=(*numbers, *steps[at].body))
    made = shared_steps(replace(program, steps=tuple(steps)))
    (worker,) = made.steps[0].parts
    assert [str(one.value) for one in worker.body if isinstance(one, Declare)][:2] == ["layer->size", "2"]
    assert [".size = 6" in made.steps[0].declarations[-1], ".size = 8" in made.steps[2].declarations[-1]] == [
        True,
        True,
    ]
    assert "int32_t size;" in made.steps[0].declarations[0] and "two" not in made.steps[0].declarations[0]


def test_a_kernel_shares_its_numbers_only_where_it_says_so(program: Program) -> None:
    assert len({one.function for one in _with_another_count(program, None).steps}) == 4
    assert not _with_another_count(program, None).steps[0].parts
    (worker,) = _with_another_count(program, Sharing()).steps[0].parts
    (call,) = (one for one in worker.body if isinstance(one, KernelCall))
    assert "layer->number" in str(call.code)
    assert not _with_another_count(program, Sharing(slowdown=1e7)).steps[0].parts, "that is too slow"


def _with_another_count(program: Program, sharing: Sharing | None) -> Program:
    """Shared, with step 2 calling its kernel with another number than step 0, which is the same layer."""
    bound = program.allocated.tiled.scheduled.bound
    bindings = {
        name: replace(binding, kernel=replace(binding.kernel, sharing=sharing))
        for name, binding in bound.bindings.items()
    }
    scheduled = replace(program.allocated.tiled.scheduled, bound=replace(bound, bindings=bindings))
    allocated = replace(program.allocated, tiled=replace(program.allocated.tiled, scheduled=scheduled))
    steps = list(program.steps)
    for at in (0, 2):
        code = FunctionCall("toy_kernel", (Name("x"), Number(10 + at)))
        body = (replace(one, code=code) if isinstance(one, KernelCall) else one for one in steps[at].body)
        steps[at] = replace(steps[at], body=tuple(body))
    return shared_steps(replace(program, allocated=allocated, steps=tuple(steps)))


def test_an_offset_where_there_is_a_sum_is_another_step(program: Program) -> None:
    body = program.steps[2].body
    first = next(one for one in body if isinstance(one, Declare))
    other = replace(program.steps[2], body=(replace(first, value=Name(program.offsets["/bias.B"])), *body[1:]))
    made = shared_steps(replace(program, steps=(*program.steps[:2], other, program.steps[3])))
    assert made.steps[2] == other, "an offset alone is no sum"


def test_parts_hand_the_structure_on(program: Program) -> None:
    """Also where they are called in an expression."""
    steps = list(program.steps)
    for at, size in ((0, 6), (2, 8)):
        name = f"{steps[at].function}_size"
        part = Part(
            role="box", function=name, comment=("Its size.",), parameters=(), body=(), type="int32_t",
            result=Number(size),
        )  # fmt: skip
        size_of = Declare(type="const int32_t", name="size", value=FunctionCall(name) + 1)
        steps[at] = replace(steps[at], parts=(part,), body=(size_of, *steps[at].body))
    part, worker = shared_steps(replace(program, steps=tuple(steps))).steps[0].parts
    assert [one.name for one in part.parameters] == ["layer"] and str(part.result) == "layer->box"
    first = worker.body[0]
    assert isinstance(first, Declare) and str(first.value) == f"{part.function}(layer) + 1"


def test_a_step_that_would_take_longer_keeps_its_own_code(toy: Any) -> None:
    program = toy.program(toy.graph())
    assert shared_steps(program) == program, "ten elements take less than a call"
