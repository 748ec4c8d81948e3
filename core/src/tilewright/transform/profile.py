"""Knows the pass `profile`: cycles of copying in, computing, copying out and waiting, for each tile and each step.
Does not know any clock: the application defines TW_CLOCK() and TW_CYCLES(...), which are nothing otherwise.

The counters are local variables of a step's function: 36 bytes of stack, and no byte of any pool. In a program for a
team the DMA core reports copies, core 0 the rest; tiles are those of the outermost hop.
"""

from __future__ import annotations

from dataclasses import replace
from importlib.resources import files

from tilewright.ir.code_fragments import CodeFragment
from tilewright.ir.programs.expressions import FunctionCall
from tilewright.ir.programs.program import CodePass, CodePassContext, Program, StepCode
from tilewright.ir.programs.statements import (
    Barrier,
    CopyWait,
    Declare,
    For,
    If,
    KernelCall,
    KernelWait,
    Mark,
    PartCall,
    Raw,
    Statement,
    Switch,
    statements_in,
)

_OF_ROLE = {
    "fetch": "TW_COPY_IN",
    "compute": "TW_COMPUTE",
    "pipeline": "TW_COMPUTE",
    "rows": "TW_COMPUTE",
    "store": "TW_COPY_OUT",
}
_TEAM = "((i) == TW_COPY_IN || (i) == TW_COPY_OUT ? tw_rt_is_dma_core() : tw_rt_core() == 0u)"


def _apply(program: Program, context: CodePassContext) -> Program:
    text = (files("tilewright.transform") / "profile.c").read_text(encoding="utf-8").strip("\n")
    text = text.replace("REPORTS(i)", _TEAM.replace("(i)", "i") if program.team else "1")
    steps = tuple(_profiled(step, number) for number, step in enumerate(program.steps))
    return replace(program, steps=steps, sources=(CodeFragment(name="tilewright/profile", text=text), *program.sources))


def _profiled(step: StepCode, number: int) -> StepCode:
    if not step.body:
        return step
    body = _timed(step.body, number)
    tiled = any(isinstance(statement, For) and not _goes_through(statement) for statement in step.body)
    tiles = () if tiled else (_call("tw_tile_end", f"{number}u", "0u"),)
    return replace(
        step,
        body=(
            Declare(type="tw_profile", name="profile", value=FunctionCall("tw_profile_begin")),
            *body,
            *tiles,
            _call("tw_step_end", f"{number}u"),
        ),
    )


def _timed(body: tuple[Statement, ...], number: int) -> tuple[Statement, ...]:
    """`body` with a reading of the clock wherever one activity ends."""
    timed: list[Statement] = []
    for position, statement in enumerate(body):
        if isinstance(statement, If):
            timed.append(replace(statement, body=_timed(statement.body, number)))
            continue
        if isinstance(statement, For) and not _goes_through(statement):
            end = _call("tw_tile_end", f"{number}u", f"(uint32_t){statement.variable}")
            timed.append(replace(statement, body=(*_timed(statement.body, number), end)))
            continue
        timed.append(statement)
        activity = _activity(statement)
        following = next((_activity(inner) for inner in body[position + 1 :] if not isinstance(inner, Mark)), "")
        if activity and activity != following:
            timed.append(_call("tw_spent", activity))
    return tuple(timed)


def _goes_through(loop: For) -> bool:
    """Whether a loop goes through an order of calls, and not through tiles."""
    return any(isinstance(statement, Switch) for statement in statements_in(loop.body))


def _activity(statement: Statement) -> str:
    match statement:
        case PartCall(role=role):
            return _OF_ROLE.get(role, "")
        case CopyWait(outgoing=outgoing):
            return "TW_COPY_OUT" if outgoing else "TW_COPY_IN"
        case KernelCall() | KernelWait():
            return "TW_COMPUTE"
        case For() if _goes_through(statement):
            return "TW_COMPUTE"
        case Barrier():
            return "TW_WAIT"
        case _:
            return ""


def _call(function: str, *arguments: str) -> Raw:
    return Raw(text=f"{function}({', '.join(('&profile', *arguments))});")


PROFILE = CodePass(
    name="profile",
    summary="count cycles of copies, computation and waiting for each tile and step (TW_CLOCK and TW_CYCLES)",
    apply=_apply,
    settings=(),
    after=("print-tensors",),
)
