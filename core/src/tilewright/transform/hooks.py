"""Knows the pass `hooks`: the application's `on_step` before and after every step.
Does not know what the application does there; `-DTW_NO_HOOKS` removes the calls again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tilewright.ir.programs.program import CodePass
from tilewright.ir.programs.statements import Hook, Statement, StepCall


def _hooked(body: tuple[Statement, ...]) -> Iterator[Statement]:
    for statement in body:
        if isinstance(statement, StepCall):
            yield Hook(step=statement.step, phase="begin")
            yield statement
            yield Hook(step=statement.step, phase="end")
        else:
            yield statement


HOOKS = CodePass(
    name="hooks",
    summary="call the application's on_step before and after every step",
    apply=lambda program, context: replace(program, body=tuple(_hooked(program.body))),
    settings=(),
    default=True,
)
