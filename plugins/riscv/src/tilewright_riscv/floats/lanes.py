"""Knows how straight-line arithmetic on floats becomes a C function over runs of elements: four at a time in a loop of
instructions whose constants stay in registers, and the same as C for any other machine, or steps between elements.
Does not know what is computed, nor how a machine loops.

A line is `target = operation operand ...`; operands are inputs, constants, sums and earlier targets. Operations:

    add, sub, mul, div a b; max, min a limit (the limit where a is NaN); fma a b c = a b + c; less a b c = c - a b;
    abs a; sign a b: the magnitude of a, the sign of b; relu a: 0 where a is negative, for results of arithmetic;
    word a: a for `power`, some lines before it, since it is waited for; power a: the bits of a, 23 to the left, as a
    float; root a; guess a: 1 / a, at most 5.1 % off, from the bits of a
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache

from tilewright.api.kernel import CodeFragment

LANES = 4
_SLOW = ("div", "root")
_GUESS = "0x7ef311c7"  # less the bits of a: those of 1 / a, at most 5.1 % off
_REGISTERS = (*(f"ft{i}" for i in range(12)), *(f"fa{7 - i}" for i in range(8)), *(f"fs{11 - i}" for i in range(12)))
_WORDS = ("t3", "t4", "t5", "t6")
_CHANGES = {  # of words
    "power": '"slli {{0}}, {{0}}, 23\\n\\t"', "relu": "{macro}_MAX({{0}}, {{0}}, x0)",
    "guess": '"sub {{0}}, %[guess], {{0}}\\n\\t"',
}  # fmt: skip
_ONE = {
    "add": "fadd.s", "sub": "fsub.s", "mul": "fmul.s", "div": "fdiv.s", "max": "fmax.s", "min": "fmin.s",
    "fma": "fmadd.s", "less": "fnmsub.s", "abs": "fabs.s", "sign": "fsgnj.s", "root": "fsqrt.s",
}  # fmt: skip
_C = {
    "add": "{0} + {1}", "sub": "{0} - {1}", "mul": "{0} * {1}", "div": "{0} / {1}",
    "max": "{prefix}_f32_max({0}, {1})", "min": "{prefix}_f32_min({0}, {1})",
    "fma": "{prefix}_f32_fma({0}, {1}, {2})", "less": "{prefix}_f32_fma(-{0}, {1}, {2})",
    "abs": "{prefix}_f32_abs({0})", "sign": "{prefix}_f32_signed({0}, {1})", "relu": "{prefix}_f32_relu({0})",
    "word": "{0}", "power": "{prefix}_f32_from({prefix}_f32_bits({0}) << 23)", "root": "{prefix}_f32_root({0})",
    "guess": f"{{prefix}}_f32_from(UINT32_C({_GUESS}) - {{prefix}}_f32_bits({{0}}))",
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Loop:
    """C that does most of a run, where all of the C `conditions` hold; then `left` is how many elements remain."""

    conditions: tuple[str, ...]
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Dialect:
    """What the C of one machine is called: names begin with `prefix`, macros with the same in capitals.

    `..._FPU` is defined where its instructions may be executed, `..._APART` makes a function one that is called,
    `..._LOOP(count)` and `..._LOOP_END` stand around so many instructions that are executed [trips] times, once at
    least, and `..._MAX(rd, rs1, rs2)` is the larger of two signed words.
    """

    prefix: str
    owner: str  # the package
    fpu: CodeFragment  # these macros, and {prefix}_f32_relu
    constant: str = "{0}"  # how C brings a constant to a register
    streamed: Callable[[Program], Loop | None] = lambda program: None  # another loop, where a program has one
    stepping: bool = False  # whether loops of what is long have a form for elements that are no neighbours
    within: CodeFragment | None = None  # {prefix}_f32_within of count, x, step, and limits of magnitudes

    @property
    def macro(self) -> str:
        """What macros begin with."""
        return self.prefix.upper()

    def function(self, program: Program) -> str:
        """The C function's name."""
        return f"{self.prefix}_f32_{program.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One operation on every lane."""

    target: str
    operation: str
    operands: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Program:
    """A function over runs: `count`, each of `inputs` and its step, `y` and its step where it has a result, numbers.

    `constants` are C expressions over the numbers. `sums` go on from run to run: four of each, in an array.
    With `keeps_nan` the result is the first input where that is NaN. Where an element of `within` is larger than
    2^60, or one of the last of them smaller than 2^-60, `beyond` are the lines of the whole run. What is long is a
    function that is called, once in a program (`apart`); the others become part of their callers.
    """

    name: str
    comment: str
    lines: str
    inputs: tuple[str, ...] = ("x",)
    numbers: tuple[str, ...] = ()
    constants: Mapping[str, str] = field(default_factory=dict)
    sums: tuple[str, ...] = ()
    result: str = "y"
    keeps_nan: bool = False
    within: tuple[str, ...] = ()
    beyond: str = ""
    apart: bool = False

    @property
    def parsed(self) -> tuple[Line, ...]:
        """The lines, in order."""
        return _parsed(self.lines)

    @property
    def variables(self) -> tuple[str, ...]:
        """What each lane has of its own, sums excepted."""
        return _variables(self.lines, self.inputs, self.sums)

    @property
    def registers(self) -> tuple[str, ...]:
        """Those of them that are floats in registers."""
        words = [line.target for line in self.parsed if line.operation == "word"]
        return tuple(name for name in self.variables if name not in words)


@cache
def _parsed(lines: str) -> tuple[Line, ...]:
    parts = [line.split() for line in lines.split("\n") if line.strip()]
    return tuple(Line(target=words[0], operation=words[2], operands=tuple(words[3:])) for words in parts)


@cache
def _variables(lines: str, inputs: tuple[str, ...], sums: tuple[str, ...]) -> tuple[str, ...]:
    targets = (line.target for line in _parsed(lines))
    return tuple(name for name in dict.fromkeys((*inputs, *targets)) if name not in sums)


@cache
def function_text(program: Program, dialect: Dialect) -> str:
    """The C function."""
    streams = [f"const float *{name}_in, int32_t {name}_step" for name in program.inputs]
    streams += ["float *y_out, int32_t y_step"] if program.result else []
    parameters = ["int32_t count", *streams, *(f"float {name}" for name in program.numbers)]
    parameters += ["float *sums"] if program.sums else []
    kind = f"{dialect.macro}_APART" if program.apart else "TW_KERNEL"
    return "\n".join((
        f"/* {program.comment} */",
        *_wrapped(f"{kind} void {dialect.function(program)}({', '.join(parameters)})"),
        "{", *_body(program, dialect), "}",
    ))  # fmt: skip


def _wrapped(text: str) -> Iterator[str]:
    """Lines of at most 120 columns, cut after commas, or before `&&`."""
    indent = ""
    while len(indent + text) > 120:
        room = 120 - len(indent)
        cut = max(text.rfind(", ", 0, room) + 1, text.rfind(" && ", 0, room))
        yield indent + text[:cut]
        indent, text = " " * 8, text[cut + 1 :]
    yield indent + text


def _body(program: Program, dialect: Dialect) -> Iterator[str]:
    states = [f"{name}{lane}" for name in program.sums for lane in range(LANES)]
    for name, value in program.constants.items():
        yield f"    const float {name} = {dialect.constant.format(value)};"
    if program.beyond:  # where no loop of instructions is
        yield from (f"    (void){name};" for name in program.constants if name not in program.beyond.split())
    if states:
        yield from (f"    float {name} = sums[{at}];" for at, name in enumerate(states))
    yield "    int32_t left = count;"
    streamed = dialect.streamed(program)
    loop = streamed or Loop(conditions=(f"count >= {LANES}",), lines=tuple(_loop_text(program, dialect)))
    steps = [f"{name}_step" for name in (*program.inputs, *(["y"] if program.result else []))]
    checked = (*loop.conditions, *_checks(program, dialect))
    yield f"#ifdef {dialect.macro}_FPU"
    yield from _wrapped(f"    if ({' && '.join((*(f'{step} == 1' for step in steps), *checked))}) {{")
    yield from loop.lines
    if dialect.stepping and program.apart:
        yield from _wrapped(f"    }} else if ({' && '.join(checked)}) {{")
        yield from _loop_text(program, dialect, stepping=True)
    yield "    }" if streamed else "    } else"
    yield "#endif"
    yield from _c_loop(program, LANES, dialect)
    yield from _c_loop(program, 1, dialect)
    yield from (f"    sums[{at}] = {name};" for at, name in enumerate(states))


def _checks(program: Program, dialect: Dialect) -> Iterator[str]:
    """What is known of all elements before a loop that does not look at each."""
    if program.keeps_nan:
        first = program.inputs[0]
        yield f"!{dialect.prefix}_f32_any_nan(count, {first}_in, {first}_step)"
    for name in program.within:
        least = "0x1p-60f" if name == program.within[-1] else "0.0f"
        yield f"{dialect.prefix}_f32_within(count, {name}_in, {name}_step, {least}, 0x1p60f)"


def _streams(program: Program) -> tuple[str, ...]:
    return (*(f"{name}_in" for name in program.inputs), *(["y_out"] if program.result else []))


def _c_loop(program: Program, lanes: int, dialect: Dialect) -> Iterator[str]:
    """`lanes` elements at a time, while there are as many: all are read before any is written."""
    yield f"    for (; left >= {lanes}; left -= {lanes}) {{"
    for name in program.inputs:
        for lane in range(lanes):
            yield f"        float {name}{lane} = {name}_in[{lane} * {name}_step];"
    first = program.inputs[0]
    if program.keeps_nan:
        yield from (f"        const float given{lane} = {first}{lane};" for lane in range(lanes))
    lines = _parsed(program.beyond) if program.beyond else program.parsed
    targets = [
        name for name in dict.fromkeys(line.target for line in lines) if name not in (*program.inputs, *program.sums)
    ]
    if targets:
        yield from (f"        float {name}{lane};" for name in targets for lane in range(lanes))
    for line in lines:
        for lane in range(lanes):
            operands = [f"{name}{lane}" if _is_lane(program, name) else name for name in line.operands]
            yield f"        {line.target}{lane} = {_C[line.operation].format(*operands, prefix=dialect.prefix)};"
    for lane in range(lanes) if program.result else ():
        value = f"{program.result}{lane}"
        kept = f"(given{lane} != given{lane}) ? given{lane} : {value}" if program.keeps_nan else value
        yield f"        y_out[{lane} * y_step] = {kept};"
    for stream in _streams(program):
        yield f"        {stream} += {lanes} * {stream.split('_')[0]}_step;"
    yield "    }"


def _is_lane(program: Program, name: str) -> bool:
    return name in program.variables or name in program.sums


def _loop_text(program: Program, dialect: Dialect, *, stepping: bool = False) -> Iterator[str]:
    body = list(_instructions(program, dialect.macro, stepping=stepping))
    sums = [f"{name}{lane}" for name in program.sums for lane in range(LANES)]
    outputs = [f'[{name}] "+&f"({name})' for name in sums]
    outputs += [f'[{name}] "+&r"({name})' for name in ("trips", *_streams(program))]
    used = {word for line in program.parsed for word in line.operands}
    fixed = [name for name in (*program.constants, *program.numbers) if name in used]
    inputs = [f'[{name}] "f"({name})' for name in fixed]
    steps = [f'[{name}_by] "r"(4 * {name.split("_")[0]}_step)' for name in _streams(program)] if stepping else []
    guess = [f'[guess] "r"(UINT32_C({_GUESS}))'] if any(line.operation == "guess" for line in program.parsed) else []
    inputs += [*steps, *guess]
    clobbers = [*_REGISTERS[: LANES * len(program.registers)]]
    clobbers += _WORDS if any(line.operation in ("word", "relu", "guess") for line in program.parsed) else []
    yield f"        int32_t trips = count / {LANES};"
    yield "        __asm__ volatile("
    yield f"            {dialect.macro}_LOOP({len(body)})"
    yield from (f"            {line}" for line in body)
    yield f"            {dialect.macro}_LOOP_END"
    yield from _wrapped(f"            : {', '.join(outputs)}")
    yield from _wrapped(f"            : {', '.join(inputs)}".rstrip())
    yield from _wrapped('            : "memory", ' + ", ".join(f'"{name}"' for name in clobbers) + ");")
    yield f"        left = count % {LANES};"


def _instructions(program: Program, macro: str, *, stepping: bool = False) -> Iterator[str]:
    """Each operation on all lanes, then the next: no result is used just after it was computed. Elements are
    neighbours, or pointers move by what a register says.
    """

    def place(name: str, lane: int) -> str:
        if name in program.sums:
            return f"%[{name}{lane}]"
        if name in program.registers:
            return _REGISTERS[program.registers.index(name) * LANES + lane]
        return _WORDS[lane] if name in program.variables else f"%[{name}]"

    def plain(text: str) -> str:
        return f'"{text}\\n\\t"'

    def moved(text: str, stream: str, lane: int) -> Iterator[str]:
        yield plain(text.format(0 if stepping else 4 * lane, stream))
        if stepping:
            yield plain(f"add %[{stream}], %[{stream}], %[{stream}_by]")

    for name in program.inputs:
        for lane in range(LANES):
            yield from moved(f"flw {place(name, lane)}, {{}}(%[{{}}])", f"{name}_in", lane)
    for line in program.parsed:
        operands = [[place(name, lane) for name in (line.target, *line.operands)] for lane in range(LANES)]
        if line.operation in ("word", "relu", "guess"):
            yield from (plain(f"fmv.x.w {word}, {parts[1]}") for word, parts in zip(_WORDS, operands, strict=True))
        if line.operation in _CHANGES:
            change = _CHANGES[line.operation].format(macro=macro)
            yield from (change.format(word) for word in _WORDS)
            yield from (plain(f"fmv.w.x {parts[0]}, {word}") for word, parts in zip(_WORDS, operands, strict=True))
        elif line.operation != "word":
            yield from (plain(f"{_ONE[line.operation]} {', '.join(parts)}") for parts in operands)
    for lane in range(LANES) if program.result else ():
        yield from moved(f"fsw {place(program.result, lane)}, {{}}(%[{{}}])", "y_out", lane)
    if not stepping:
        yield from (plain(f"addi %[{stream}], %[{stream}], {4 * LANES}") for stream in _streams(program))


def loop_instructions(program: Program) -> int:
    """Of one trip of the loop, which is for four elements, without what counts and branches."""
    return len(list(_instructions(program, "")))


def divisions(program: Program) -> int:
    """Quotients and roots for one element: nothing else may be computed meanwhile."""
    return sum(line.operation in _SLOW for line in program.parsed)
