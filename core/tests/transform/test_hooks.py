"""The application is called before and after every step, and nowhere else."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tilewright.ir.programs.program import CodePassContext
from tilewright.ir.programs.statements import Comment, Hook, StepCall
from tilewright.transform.hooks import HOOKS


def test_every_step_has_a_hook_before_and_behind_it(toy: Any) -> None:
    program = toy.program(toy.float_graph())
    beside = Comment(lines=("beside",))
    body = HOOKS.apply(replace(program, body=(beside, *program.body)), CodePassContext(settings={})).body
    assert body == (
        beside,
        Hook(step=0, phase="begin"), StepCall(step=0), Hook(step=0, phase="end"),
        Hook(step=1, phase="begin"), StepCall(step=1), Hook(step=1, phase="end"),
    )  # fmt: skip
    assert HOOKS.default
