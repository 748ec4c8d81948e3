"""Knows how the run function calls the steps: one after the other, or in a loop where hooks surround several alike.
Does not know what surrounds that in the file.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tilewright.c_text.layout import INDENT, WIDTH
from tilewright.emit.ctree import print_body, print_call
from tilewright.ir.programs.program import StepCode
from tilewright.ir.programs.statements import Hook, Statement, StepCall


def print_run(body: Sequence[Statement], steps: Sequence[StepCode], count: str) -> Iterator[str]:
    """The lines of the run function's `body`, or of a part of it. `count` is the macro that is the number of steps."""
    at = 0
    while at < len(body):
        first, last = _alike(body, at)
        if last - first < 2:
            yield from print_body(body[at : at + 1], 1, steps)
            at += 1
            continue
        stop = count if last == len(steps) else f"{last}u"
        yield from (f"{INDENT}{line}" for line in _loop(steps, first, last, stop))
        at += len(_hooked(first)) * (last - first)


def _alike(body: Sequence[Statement], at: int) -> tuple[int, int]:
    """The steps that hooks surround alike from a statement on: the first, and the one after the last."""
    statement = body[at]
    if not isinstance(statement, Hook):
        return 0, 0
    step, size = statement.step, len(_hooked(0))
    while tuple(body[at : at + size]) == _hooked(step):
        at, step = at + size, step + 1
    return statement.step, step


def _hooked(index: int) -> tuple[Statement, ...]:
    return Hook(step=index, phase="begin"), StepCall(step=index), Hook(step=index, phase="end")


def _loop(steps: Sequence[StepCode], first: int, last: int, stop: str) -> Iterator[str]:
    yield f"for (uint32_t step = {f'{first}u' if first else '0'}; step < {stop}; ++step) {{"
    yield from (f"{INDENT}{line}" for line in _hook("BEGIN"))
    computed = [index for index in range(first, last) if steps[index].body]
    if computed:
        yield f"{INDENT}switch (step) {{"
        for index in computed:
            call = print_call(steps[index], WIDTH - 4 * len(INDENT))
            yield from (f"{INDENT}{line}" for line in _case(index, call))
        others = "" if len(computed) == last - first else " /* another step computes it, too */"
        yield f"{INDENT}default: break;{others}"
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
