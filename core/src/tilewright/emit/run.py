"""Knows how the run function calls the steps: one after the other, or in a loop where hooks surround every one alike.
Does not know what surrounds that in the file.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tilewright.emit.ctree import INDENT, WIDTH, print_body, print_call
from tilewright.ir.program import StepCode
from tilewright.ir.statements import Hook, Statement, StepCall


def print_run(body: tuple[Statement, ...], steps: Sequence[StepCode], count: str) -> Iterator[str]:
    """The lines of the run function's `body`. `count` is the macro that is the number of steps."""
    hooked = tuple(one for index in range(len(steps)) for one in _hooked(index))
    looped = len(steps) > 1 and body[: len(hooked)] == hooked
    if looped:
        yield from (f"{INDENT}{line}" for line in _loop(steps, count))
    yield from print_body(body[len(hooked) :] if looped else body, 1, steps)


def _hooked(index: int) -> tuple[Statement, ...]:
    return Hook(step=index, phase="begin"), StepCall(step=index), Hook(step=index, phase="end")


def _loop(steps: Sequence[StepCode], count: str) -> Iterator[str]:
    yield f"for (uint32_t step = 0; step < {count}; ++step) {{"
    yield from (f"{INDENT}{line}" for line in _hook("BEGIN"))
    yield f"{INDENT}switch (step) {{"
    for index, step in enumerate(steps):
        if step.body:
            yield from (f"{INDENT}{line}" for line in _case(index, print_call(step, WIDTH - 4 * len(INDENT))))
    yield f"{INDENT}default: break;{'' if all(step.body for step in steps) else ' /* another step computes it, too */'}"
    yield f"{INDENT}}}"
    yield from (f"{INDENT}{line}" for line in _hook("END"))
    yield "}"


def _hook(phase: str) -> tuple[str, ...]:
    return f"if (tw_on_step(ctx, step, TW_STEP_{phase}) != 0) {{", f"{INDENT}return TW_ERR_ABORTED;", "}"


def _case(index: int, call: Sequence[str]) -> tuple[str, ...]:
    line = f"case {index}: {call[0]} break;"
    if len(call) == 1 and len(line) <= WIDTH - 2 * len(INDENT):
        return (line,)
    return f"case {index}:", *(f"{INDENT}{one}" for one in call), f"{INDENT}break;"
