"""Knows how the tree of a step or of the run function is printed: indentation, line breaks, parentheses.
Does not know what surrounds it in the file.

The run function calls steps one after the other, or in a loop where hooks surround several of them alike.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from inspect import cleandoc

from tilewright.c_text.layout import INDENT, WIDTH, laid_out, prototype
from tilewright.ir.programs.expressions import Expression, FunctionCall, Number
from tilewright.ir.programs.program import Part, StepCode
from tilewright.ir.programs.statements import (
    Barrier,
    Code,
    Coded,
    Comment,
    Dead,
    Declare,
    For,
    Foreign,
    Hook,
    If,
    Live,
    Mark,
    PartCall,
    Raw,
    Statement,
    StepCall,
    Switch,
    While,
)

NEVER_INLINED = ("shared", "rows")  # roles of parts: many kernels in one function leave each too few registers


def print_step(step: StepCode) -> str:
    """The step's comment, what its function needs, and the function, without a newline at the end.

    A step that is computed in another one's function has none of its own.
    """
    if not step.body:
        return "\n".join(print_comment(step.comment))
    if not step.parts and not step.declarations:
        return "\n".join((*print_comment(step.comment), *_function("TW_STEP void", step.function, step)))
    texts = ["\n".join(print_comment(step.comment)), *step.declarations]
    for part in step.parts:
        storage = "TW_SHARED" if part.role in NEVER_INLINED else "static"
        head = _function(f"{storage} {declarator(part.type, '').strip()}", part.function, part, part.result)
        texts.append("\n".join((*print_comment(part.comment), *head)))
    return "\n\n".join((*texts, "\n".join(_function("TW_STEP void", step.function, step))))


def _function(head: str, name: str, code: StepCode | Part, result: Expression | None = None) -> list[str]:
    parameters = (declarator(parameter.type, parameter.name) for parameter in code.parameters)
    lines = [*prototype(head, name, parameters), "{", *print_body(code.body, 1, ())]
    returned = laid_out("return ", result, ";", WIDTH - len(INDENT)) if result else []
    return [*lines, *(f"{INDENT}{line}" for line in returned), "}"]


def print_call(step: StepCode, width: int = WIDTH) -> list[str]:
    """The call of a step's function."""
    return laid_out(
        "",
        FunctionCall(step.function, tuple(parameter.given or parameter.variable for parameter in step.parameters)),
        ";",
        width,
    )


def print_comment(lines: Sequence[str]) -> list[str]:
    """A block comment; `lines` are safe already."""
    if len(lines) == 1:
        return [f"/* {lines[0]} */"]
    return [f"/* {lines[0]}", *(f" * {line}" for line in lines[1:]), " */"]


def print_body(body: Sequence[Statement], depth: int, steps: Sequence[StepCode]) -> Iterator[str]:
    """The lines of `body`. `steps` is what a StepCall's number refers to."""
    yield from _indented(body, depth, steps, WIDTH)


def _indented(body: Sequence[Statement], depth: int, steps: Sequence[StepCode], width: int) -> Iterator[str]:
    for statement in body:
        for line in _print(statement, steps, width - len(INDENT) * depth):
            yield f"{INDENT * depth}{line}" if line else ""


def print_code(code: Code, width: int) -> list[str]:
    """An expression as a statement, or what an author wrote."""
    if not isinstance(code, Foreign):
        return laid_out("", code, ";", width)
    if not code.lines:
        return cleandoc(code.text).split("\n")
    lines_of_code: list[str] = []
    for depth, content in code.lines:
        available = width - len(INDENT) * depth
        lines = [content] if isinstance(content, str) else laid_out("", content, ";", available)
        lines_of_code.extend(f"{INDENT * depth}{line}".rstrip() for line in lines)
    return lines_of_code


def _print(statement: Statement, steps: Sequence[StepCode], width: int) -> list[str]:
    if isinstance(statement, Coded):
        return print_code(statement.code, width)
    match statement:
        case Comment(lines=lines):
            return print_comment(lines)
        case Raw(text=text):
            return cleandoc(text).split("\n")
        case PartCall(function=function, arguments=arguments):
            return laid_out("", FunctionCall(function, arguments), ";", width)
        case Barrier():
            return ["tw_rt_barrier();"]
        case Mark():
            return []
        case Declare(type=kind, name=name, value=value, count=count):
            return laid_out(f"{declarator(kind, name)}{f'[{count}]' if count else ''} = ", value, ";", width)
        case For(variable=variable, start=start, stop=stop, step=step, body=body):
            advance = f"++{variable}" if step == Number(1) else f"{variable} += {step}"
            head = f"for (int32_t {variable} = {start}; {variable} < "
            return [*laid_out(head, stop, f"; {advance}) {{", width), *_indented(body, 1, steps, width), "}"]
        case While(condition=condition, body=body):
            return [*laid_out("while (", condition, ") {", width), *_indented(body, 1, steps, width), "}"]
        case If(condition=condition, body=body, otherwise=otherwise):
            inner, other = list(_indented(body, 1, steps, width)), list(_indented(otherwise, 1, steps, width))
            closing = ["} else {", *other, "}"] if other else ["}"]
            return [*laid_out("if (", condition, ") {", width), *inner, *closing] if inner or other else []
        case Switch(value=value, bodies=bodies):
            return [f"switch ({value}) {{", *_cases(bodies, steps, width), "}"]
        case Live(pointer=pointer, size_bytes=size, tile=tile):
            return [f"{'tw_rt_live' if tile else 'TW_LIVE'}({pointer}, {size}u);"]
        case Dead(pointer=pointer, size_bytes=size, tile=tile):
            return [f"{'tw_rt_dead' if tile else 'TW_DEAD'}({pointer}, {size}u);"]
        case StepCall(step=index):
            return print_call(steps[index], width) if steps[index].body else []
        case Hook(step=number, phase=phase):
            hook = f"tw_on_step(ctx, {number}u, TW_STEP_{phase.upper()})"
            return [f"if ({hook} != 0) {{", f"{INDENT}return TW_ERR_ABORTED;", "}"]


def _cases(bodies: Sequence[Sequence[Statement]], steps: Sequence[StepCode], width: int) -> Iterator[str]:
    for number, body in enumerate(bodies):
        yield f"case {number}:" if number + 1 < len(bodies) else "default:"
        yield from _indented(body, 1, steps, width)
        yield f"{INDENT}break;"


def declarator(kind: str, name: str) -> str:
    """`kind name`, the `*` of a pointer beside its name."""
    return f"{kind}{name}" if kind.endswith("*") else f"{kind} {name}"


def print_run(body: Sequence[Statement], steps: Sequence[StepCode], count: str) -> Iterator[str]:
    """The lines of the run function's `body`, or of a part of it. `count` is the macro that is the number of steps."""
    at = 0
    while at < len(body):
        first, last = _loop_range(body, at)
        if last - first < 2:
            yield from print_body(body[at : at + 1], 1, steps)
            at += 1
            continue
        stop = count if last == len(steps) else f"{last}u"
        yield from (f"{INDENT}{line}" for line in _loop(steps, first, last, stop))
        at += len(_hooked(first)) * (last - first)


def _loop_range(body: Sequence[Statement], at: int) -> tuple[int, int]:
    """The steps from a statement on that are each between their two hooks: the first, and the one after the last."""
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
    return f"case {index}:", *(f"{INDENT}{written}" for written in call), f"{INDENT}break;"
