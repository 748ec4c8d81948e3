"""Knows which straight-line programs streams and repetition can do, two float32 in a register, and how.
Does not know what they compute, nor what programs do that have no such form.

Four registers of two elements go through one repetition, so that no instruction waits for the one before. An input is
read from a stream where it is used: once, or by the first instructions of all.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from tilewright_riscv.floats.lanes import Line, Loop, Program

TOGETHER = 4  # registers in a repetition
ELEMENTS = 2 * TOGETHER
SHORTEST = 32  # elements for which streams are set up
_MOST = 16  # instructions that are repeated
_INPUTS = 2  # streams that read; the third writes
_ONE = {"add": "TW_SN_VFADD", "sub": "TW_SN_VFSUB", "mul": "TW_SN_VFMUL", "max": "TW_SN_VFMAX", "min": "TW_SN_VFMIN"}
_TEMPORARY = ("ft3", "ft4", "ft5", "ft6", "ft7", "ft8", "ft9", "ft10", "ft11", "fs0", "fs1", "fs2", "fs3", "fs4", "fs5")


@dataclass(frozen=True, slots=True)
class Step:
    """One packed instruction; names are those of the program. It writes to the stream where `target` is ""."""

    macro: str
    target: str
    operands: tuple[str, ...]
    streams: tuple[str, ...]  # inputs among the operands that are read from streams


@dataclass(frozen=True, slots=True)
class Packed:
    """A repetition: `together` first steps, all of one register before the next register's, then each step on all."""

    steps: tuple[Step, ...]
    together: int


@cache
def packed(program: Program) -> Packed | None:
    """The repetition, or None where streams, registers or instructions do not suffice."""
    if len(program.inputs) > _INPUTS or any(line.operation not in (*_ONE, "fma") for line in program.parsed):
        return None
    reads = _reads(program)
    first = next((len(lines) for lines in reads.values() if len(lines) > 1), 1)
    if any(len(lines) > 1 and (lines != list(range(first)) or len(reads) > 1) for lines in reads.values()):
        return None
    steps = tuple(_steps(program, reads))
    return Packed(steps, first) if TOGETHER * len(steps) <= _MOST else None


def _reads(program: Program) -> dict[str, list[int]]:
    """Of every input the lines that read what the stream brings, one entry for each time."""
    result: dict[str, list[int]] = {name: [] for name in program.inputs}
    available = set(program.inputs)
    for at, line in enumerate(program.parsed):
        for name in line.operands:
            if name in available:
                result[name].append(at)
        available.discard(line.target)
    return result


def _steps(program: Program, reads: dict[str, list[int]]) -> Iterator[Step]:
    last = len(program.parsed) - 1
    for at, line in enumerate(program.parsed):
        streams = tuple(name for name, lines in reads.items() if at in lines)
        target = "" if at == last and program.result else line.target
        if line.operation != "fma":
            yield Step(_ONE[line.operation], target, line.operands, streams)
        elif target and line.operands[2] == line.target:
            yield Step("TW_SN_VFMAC", target, line.operands[:2], streams)
        else:
            yield from _in_two(line, target, streams)


def _in_two(line: Line, target: str, streams: tuple[str, ...]) -> Iterator[Step]:
    """A product and a sum, where the third operand must stay, or the result leaves by the stream."""
    left, right, third = line.operands
    product = line.target if third != line.target else left
    yield Step("TW_SN_VFMUL", product, (left, right), tuple(name for name in streams if name in (left, right)))
    yield Step("TW_SN_VFADD", target, (product, third), tuple(name for name in streams if name == third))


def instructions(program: Program, form: Packed) -> tuple[str, ...]:
    """C strings, in the order in which they are repeated."""
    variables = [name for name in program.variables if any(name == step.target for step in form.steps)]

    def place(name: str, register: int, step: Step) -> str:
        if name in step.streams:
            return f"ft{program.inputs.index(name)}"
        if name in program.sums:
            return f"%[{name}_{register}]"
        return _TEMPORARY[variables.index(name) * TOGETHER + register] if name in variables else f"%[{name}]"

    def text(step: Step, register: int) -> str:
        target = place(step.target, register, Step("", "", (), ())) if step.target else "ft2"
        return f"{step.macro}({', '.join((target, *(place(name, register, step) for name in step.operands)))})"

    head, rest = form.steps[: form.together], form.steps[form.together :]
    return (
        *(text(step, register) for register in range(TOGETHER) for step in head),
        *(text(step, register) for step in rest for register in range(TOGETHER)),
    )


@cache
def streamed(program: Program) -> Loop | None:
    """C that does most of a run, where its operands are in TCDM and at multiples of eight bytes."""
    form = packed(program)
    if form is None:
        return None
    near = [f"tw_sn_near({name}_in)" for name in program.inputs] + (["tw_sn_near(y_out)"] if program.result else [])
    return Loop(conditions=(f"count >= {SHORTEST}", *near), lines=tuple(_lines(program, form)))


def _lines(program: Program, form: Packed) -> Iterator[str]:
    used = {name for step in form.steps for name in step.operands}
    fixed = [name for name in (*program.constants, *program.numbers) if name in used]
    order = _orders(program)
    sums = [f"{name}_{register}" for name in program.sums for register in range(TOGETHER)]
    yield f"        const uint32_t trips = (uint32_t)count / {ELEMENTS}u, again = trips - 1u;"
    for name in fixed:
        yield f"        const double {name}_twice = tw_sn_pair({name});"
    for name in program.sums:
        for register in range(TOGETHER):
            start = f"tw_sn_pair({name}{register})" if name in order else "0"
            yield f"        double {name}_{register} = {start};"
    yield from _set_up(program, form)
    yield "        tw_sn_on();"
    body = instructions(program, form)
    yield "        __asm__ volatile("
    yield f'            TW_SN_REPEAT("%[again]", {len(body)})'
    yield from (f"            {line}" for line in body)
    yield from (f"            {line}" for line in _together(program, order))
    changed = [f'[{name}] "+&f"({name})' for name in sums]
    operands = ['[again] "r"(again)', *(f'[{name}] "f"({name}_twice)' for name in fixed)]
    clobbered = [f'"{name}"' for name in _clobbered(program, form)]
    yield f"            : {', '.join(changed)}"
    yield f"            : {', '.join(operands)}"
    yield f'            : {", ".join(clobbered)}, "memory");'
    if program.result:
        yield "        tw_sn_written();"
    yield "        tw_sn_off();"
    for name in program.sums:
        how = order.get(name)
        chosen = f"tw_sn_f32_{how}({name}0, tw_sn_f32_{how}_half({name}_0))"
        yield f"        {name}0 = {chosen if how else f'{name}0 + tw_sn_halves({name}_0)'};"
    for stream in (*(f"{name}_in" for name in program.inputs), *(["y_out"] if program.result else [])):
        yield f"        {stream} += {ELEMENTS} * trips;"
    yield f"        left = count % {ELEMENTS};"


def _set_up(program: Program, form: Packed) -> Iterator[str]:
    yield "        tw_sn_settle();"
    for stream, name in enumerate(program.inputs):
        yield f"        TW_SN_RUN({stream}, {form.together - 1}, {TOGETHER}u * trips - 1u);"
        yield f"        TW_SN_SET({stream}, 24, {name}_in);"
    if program.result:
        yield f"        TW_SN_RUN(2, 0, {TOGETHER}u * trips - 1u);"
        yield "        TW_SN_SET(2, 28, y_out);"


def _orders(program: Program) -> dict[str, str]:
    """Sums that are no sums, but the largest or smallest element: "max" or "min"."""
    ordered = (line for line in program.parsed if line.operation in ("max", "min"))
    return {line.target: line.operation for line in ordered if line.target in program.sums}


def _together(program: Program, order: dict[str, str]) -> Iterator[str]:
    """Four registers of a sum become the first."""
    for left, right in ((0, 1), (2, 3), (0, 2)):
        for name in program.sums:
            macro = _ONE[order.get(name, "add")]
            yield f"{macro}(%[{name}_{left}], %[{name}_{left}], %[{name}_{right}])"


def _clobbered(program: Program, form: Packed) -> tuple[str, ...]:
    variables = {step.target for step in form.steps if step.target and step.target not in program.sums}
    return ("ft0", "ft1", "ft2", *_TEMPORARY[: TOGETHER * len(variables)])


def body_cycles(program: Program, form: Packed, limit_cycles: int) -> int:
    """Of a repetition; a minimum or maximum takes `limit_cycles`."""
    slow = sum(step.macro in ("TW_SN_VFMAX", "TW_SN_VFMIN") for step in form.steps)
    return TOGETHER * max(len(form.steps) + (limit_cycles - 1) * slow, len(program.inputs))
